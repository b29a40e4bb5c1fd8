// The page: who is asking, the conversation, and what the keys do.

const MOST_HISTORY = 20; // messages sent again where the device keeps none; it trims to what fits
const MOST_EXAMPLES = 4;
const LOOKED_UP = "(I looked that up with a tool.)"; // as the device's own memory tells it: what was true then

const chat = { session: "", said: [], kept: null, current: null, abort: null, stopWatching: null };

function scrollDown(always = false) {
  const log = at("log");
  if (always || log.scrollHeight - log.scrollTop - log.clientHeight < 120) log.scrollTop = log.scrollHeight;
}

function busy(now) {
  at("send").hidden = now;
  at("stop").hidden = !now;
  at("log").setAttribute("aria-busy", String(now));
}

async function sendMessage(message) {
  at("welcome").hidden = true;
  at("fresh").hidden = false;
  const shown = new Shown(message, goOn);
  at("log").append(shown.element);
  scrollDown(true);
  const body = { message, session: chat.session };
  if (chat.kept === false) body.history = chat.said.slice(-MOST_HISTORY);
  await play(shown, "/v1/turns", body);
  if (shown.outcome !== "turn.finished") return;
  chat.said.push({ role: "user", content: message }, { role: "assistant", content: shown.calls ? LOOKED_UP : shown.text });
  chat.kept ??= await isKept();
}

/** Whether the device remembers this conversation; where it does not, the page tells it again. */
async function isKept() {
  try {
    return (await askJson(`/v1/sessions/${chat.session}`)).messages.length > 0;
  } catch {
    return null;
  }
}

async function goOn(shown, yes) {
  await play(shown, `/v1/turns/${encodeURIComponent(shown.id)}/confirm`, { confirm: yes, session: chat.session });
}

/** A turn's events onto the page, until it ends. */
async function play(shown, path, body) {
  chat.current = shown;
  chat.abort = new AbortController();
  shown.outcome = null;
  busy(true);
  try {
    const reply = await ask(path, { method: "POST", body, accept: "text/event-stream", signal: chat.abort.signal });
    for await (const [name, fields] of eventsOf(reply)) {
      shown.take(name, fields);
      scrollDown();
    }
    if (!shown.outcome) shown.fail(BROKEN_OFF);
  } catch (error) {
    if (error.status === 401) enter(error.message);
    shown.fail(error.name === "AbortError" ? "Stopped." : error.message);
  }
  chat.current = chat.abort = null;
  busy(false);
  scrollDown();
  speak(shown);
  if (shown.outcome !== "confirm" && !at("inside").hidden) at("message").focus();
}

/** For those who listen: the whole answer at once, since pieces of words cannot be followed. */
function speak(shown) {
  const wrong = shown.element.querySelector(".wrong");
  const question = shown.element.querySelector(".question p");
  at("spoken").textContent = shown.text || (wrong || question)?.textContent || "";
}

async function stopTurn() {
  const { current, abort } = chat;
  if (!current) return;
  try {
    if (!current.id) throw new Error("it has no name yet");
    await ask(`/v1/turns/${encodeURIComponent(current.id)}/cancel`, { method: "POST" });
  } catch {
    abort?.abort(); // who goes away ends a turn as well
  }
}

async function showExamples() {
  const { skills } = await askJson("/v1/skills");
  const all = skills.flatMap((skill) => (skill.state === "enabled" ? skill.examples.slice(0, 1) : []));
  const use = (text) => () => { at("message").value = text; at("message").focus(); };
  at("examples").replaceChildren(
    ...all.slice(0, MOST_EXAMPLES).map((text) => make("li", {}, make("button", { type: "button", onclick: use(text) }, text))),
  );
}

function freshChat() {
  stopTurn();
  for (const turn of at("log").querySelectorAll(".turn")) turn.remove();
  Object.assign(chat, { session: `page-${crypto.getRandomValues(new Uint32Array(2)).join("-")}`, said: [], kept: null });
  at("welcome").hidden = false;
  at("fresh").hidden = true;
  at("message").focus();
}

// Who is asking.

function enter(why = "") {
  chat.stopWatching?.();
  for (const id of ["inside", "toggle", "fresh"]) at(id).hidden = true;
  at("door").hidden = false;
  at("wrong").textContent = why;
  showState("Locked", "");
  at("code").focus();
}

async function pairOrTrust() {
  const { value: code } = at("code"), { value: name } = at("name");
  let secret = at("secret").value.trim();
  if (!secret) {
    if (!code.trim()) throw new Error("Type the code that `muleteer pair` shows on the device.");
    const body = { code: code.trim(), name: name.trim().replace(/[^\p{L}\p{N}_.-]+/gu, "-") };
    secret = (await askJson("/v1/pair", { method: "POST", body })).token;
  }
  keepToken(secret, at("keep").checked);
  try {
    await ask("/v1/status");
  } catch (error) {
    if (error.status === 401) {
      forgetToken();
      throw new Error("This device does not know that token. It may have been revoked.");
    }
    throw error;
  }
}

function goInside() {
  at("door").hidden = true;
  for (const id of ["inside", "toggle"]) at(id).hidden = false;
  at("leave").hidden = local;
  chat.stopWatching = watchDevice((why) => { forgetToken(); enter(why); });
  showExamples().catch(() => {}); // they are only a help
  freshChat();
}

// What people do.

at("enter").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.submitter || at("enter").querySelector("button");
  button.disabled = true;
  at("wrong").textContent = "";
  try {
    await pairOrTrust();
    event.target.reset();
    goInside();
  } catch (error) {
    at("wrong").textContent = error.message;
  }
  button.disabled = false;
});

at("ask").addEventListener("submit", (event) => {
  event.preventDefault();
  const message = at("message").value;
  if (chat.current || !message.trim()) return;
  at("message").value = "";
  sendMessage(message);
});

at("message").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    at("ask").requestSubmit();
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") stopTurn();
});

at("stop").addEventListener("click", stopTurn);
at("fresh").addEventListener("click", freshChat);
at("leave").addEventListener("click", () => { forgetToken(); enter(); });
at("toggle").addEventListener("click", () => {
  const showing = at("inside").classList.toggle("showing");
  at("toggle").setAttribute("aria-expanded", String(showing));
});

if (local || token()) goInside();
else enter();
