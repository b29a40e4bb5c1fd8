// What this device tells of itself: engine, board, household.

const LOOK_MS = 4000; // while the page is seen; the engine's state changes more slowly
const LOOK_AROUND_EVERY = 4; // looks, for what is on the network

const GOOD = { ready: "good", failed: "bad", degraded: "bad" };

function row(list, name, value, kind = "") {
  if (value === null || value === undefined || value === "") return;
  list.append(make("dt", {}, name), make("dd", { className: kind }, String(value)));
}

/** Said aloud by screen readers, so only when it changes. */
function showState(text, kind, reason = "") {
  const state = at("state");
  if (state.textContent !== text) state.textContent = text;
  state.className = `pill ${kind}`;
  state.title = reason;
}

const capital = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

function showStatus(status) {
  showState(capital(status.state), GOOD[status.state] || "warn", status.reason);
  const offline = status.offline || {};
  at("offline").hidden = !offline.offline;
  at("offline").title = offline.reason || "";
  showEngine(status);
  showBoard(status, offline);
}

function showEngine({ state, reason, model, engine, reuse, turns }) {
  const list = make("dl", { id: "engine" });
  row(list, "State", state, state === "ready" ? "" : GOOD[state] || "warn");
  row(list, "Why", reason);
  row(list, "Model", model);
  row(list, "Reused", reuse === null ? "" : `${say.share(reuse)} of what it read`);
  row(list, "Waiting", engine.queued || "");
  row(list, "Restarts", engine.restarts || "", "warn");
  row(list, "Background waits", engine.deferred, "warn");
  row(list, "Turns", `${turns.finished} answered${turns.failed ? `, ${turns.failed} failed` : ""}`);
  at("engine").replaceWith(list);
}

function showBoard({ memory, heat, uptime_s: uptime }, offline) {
  const list = make("dl", { id: "board" });
  const ours = memory.daemon + (memory.engine || 0);
  row(list, "Memory", `${say.bytes(ours)} used here`);
  list.append(memoryBar(ours, memory));
  row(list, "Free", `${say.bytes(memory.available)} of ${say.bytes(memory.total)}`, memory.available < memory.total / 20 ? "bad" : "");
  if (heat) {
    const celsius = heat.celsius === null ? "no sensor" : `${Math.round(heat.celsius)} °C`;
    row(list, "Processor", celsius, heat.throttled ? "bad" : "");
    if (heat.throttled) row(list, "", "throttled by the firmware", "bad");
    if (heat.undervoltage) row(list, "Power", "the voltage is too low", "bad");
  }
  row(list, "Tools online", offline.offline ? `no: ${offline.reason}` : "yes");
  row(list, "Up for", uptime < 7200 ? `${Math.round(uptime / 60)} min` : `${Math.round(uptime / 3600)} h`);
  at("board").replaceWith(list);
}

/** What Muleteer takes, what others take, what is left. */
function memoryBar(ours, { available, total }) {
  const bar = make("div", { className: "bar", "aria-hidden": "true" });
  for (const [kind, bytes] of [["decoded", ours], ["reused", Math.max(0, total - available - ours)]]) {
    const part = make("i", { className: kind });
    part.style.width = `${(100 * bytes) / total}%`;
    bar.append(part);
  }
  return bar;
}

function showHousehold(seat, devices) {
  at("seat").textContent = capital(seat.reason);
  const peers = new Map((seat.peers || []).map((peer) => [peer.id, peer]));
  const items = [];
  if (seat.device) items.push([seat.device.name || seat.device.id, seat.drives ? "this one, drives" : "this one"]);
  for (const peer of peers.values()) {
    const drives = seat.driver && seat.driver.id === peer.id ? ", drives" : "";
    items.push([peer.name || peer.id, `${peer.connected ? "connected" : "away"}${drives}`]);
  }
  for (const device of devices) {
    if (!peers.has(device.id) && device.id !== seat.device?.id) items.push([device.name || device.id, "on the network"]);
  }
  at("devices").replaceChildren(
    ...items.map(([name, what]) => make("li", {}, make("span", {}, name), make("small", {}, what))),
  );
}

/** Look now and then, as long as somebody looks at the page. `lost` is told when the token counts no more. */
function watchDevice(lost) {
  let looks = 0, timer = 0, stopped = false, household = true;
  async function look() {
    clearTimeout(timer);
    if (stopped || document.hidden) return;
    try {
      showStatus(await askJson("/v1/status"));
      if (household && looks++ % LOOK_AROUND_EVERY === 0) await lookAround();
    } catch (error) {
      if (error.status === 401) { stop(); lost(error.message); return; }
      showState("Not reached", "bad", error.message);
    }
    if (!stopped) timer = setTimeout(look, LOOK_MS);
  }
  async function lookAround() {
    try {
      showHousehold(await askJson("/v1/seat"), (await askJson("/v1/devices")).devices);
    } catch (error) {
      if (error.status !== 409) throw error;
      household = false; // this device takes no part, and says why
      at("seat").textContent = error.message;
    }
  }
  function stop() {
    stopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  }
  document.addEventListener("visibilitychange", look);
  look();
  return stop;
}
