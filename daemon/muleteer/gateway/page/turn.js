// One turn on the page: what was asked, the answer as it comes, and the trace of how it came about.

const SPENT = { reused: "reused", decoded: "read anew", generated: "written" };
const STATUS = { ok: "found", empty: "nothing there", unavailable: "could not look", error: "failed" };

class Shown {
  /** `answered` is called with yes or no to a question of the turn. */
  constructor(message, answered) {
    this.answered = answered;
    this.id = "";
    this.text = "";
    this.outcome = null;
    this.totals = { reused: 0, decoded: 0, generated: 0 };
    this.calls = 0;
    this.answer = make("div", { className: "answer" });
    this.summary = make("summary", {}, "Thinking");
    this.steps = make("ol", { className: "steps" });
    this.trace = make("details", { className: "trace", open: true }, this.summary, this.steps);
    this.trace.dataset.running = "";
    this.element = make(
      "article", { className: "turn", "aria-label": `You asked: ${message.slice(0, 80)}` },
      make("p", { className: "mine" }, message), this.answer, this.trace,
    );
  }

  take(name, fields) {
    const known = {
      "turn.started": () => { this.id = fields.turn; },
      "brain": () => { if (fields.brain !== "local" || fields.reason) this.step(`Brain: ${fields.brain}`, null, fields.reason); },
      "plan": () => this.plan(fields),
      "level": () => this.level(fields.level),
      "call.started": () => this.call(fields),
      "call.finished": () => this.result(fields),
      "text": () => { this.text += fields.text; this.answer.append(fields.text); },
      "turn.finished": () => this.end(name, fields),
      "confirm": () => { this.end(name, fields); this.ask(fields); },
      "turn.failed": () => { this.end(name, fields); this.fail(fields.message); },
    };
    if (Object.hasOwn(known, name)) known[name]();
  }

  plan({ handles, confidence }) {
    const chosen = handles.length ? handles.map((handle) => `@${handle}`).join(", ") : "just an answer";
    this.step(`Chose ${chosen}`, null, `${say.share(confidence)} sure`);
  }

  level(level) {
    for (const kind of Object.keys(SPENT)) this.totals[kind] += level[kind];
    const spent = Object.entries(SPENT).map(([kind, word]) => `${level[kind]} ${word}`).join(", ");
    const step = this.step(`Model: ${level.name.replace(":", " for ")}`, level.ms, `${spent} (tokens)`);
    const all = Math.max(1, level.reused + level.decoded + level.generated);
    const bar = make("span", { className: "bar", "aria-hidden": "true" });
    for (const kind of Object.keys(SPENT)) {
      const part = make("i", { className: kind });
      part.style.width = `${(100 * level[kind]) / all}%`;
      bar.append(part);
    }
    step.lastChild.before(bar);
  }

  call({ tool, arguments: given }) {
    const said = Object.entries(given).map(([name, value]) => `${name}: ${JSON.stringify(value)}`).join(", ");
    this.running = this.step(`Uses ${tool}`, null, said);
  }

  result({ tool, status, text, ms }) {
    this.calls += 1;
    const step = this.running || this.step(`Uses ${tool}`, null);
    this.running = null;
    step.firstChild.append(make("span", { className: `chip ${status in STATUS ? status : ""}` }, STATUS[status] || status));
    step.children[1].textContent = say.ms(ms);
    if (text) step.append(make("span", { className: "detail" }, text));
  }

  step(what, ms, detail = "") {
    const step = make(
      "li", { className: "step" },
      make("span", { className: "what" }, what), make("span", { className: "ms" }, ms === null ? "" : say.ms(ms)),
    );
    if (detail) step.append(make("span", { className: "detail" }, detail));
    this.steps.append(step);
    this.summary.textContent = what;
    return step;
  }

  end(name, fields) {
    this.outcome = name;
    delete this.trace.dataset.running;
    this.trace.open = false;
    const read = this.totals.reused + this.totals.decoded;
    const parts = [name === "turn.finished" ? "Answered" : name === "confirm" ? "Asks first" : "Ended"];
    if (fields.ms) parts[0] += ` in ${say.ms(fields.ms)}`;
    if (this.calls) parts.push(say.count(this.calls, "tool call"));
    if (read) parts.push(`${say.share(this.totals.reused / read)} of ${read} tokens reused`);
    if (fields.dropped) parts.push(`${say.count(fields.dropped, "older message")} left out`);
    this.summary.textContent = parts.join(" · ");
    if (read) this.steps.append(key());
  }

  ask({ question, tool }) {
    const card = make("div", { className: "question", role: "group", "aria-label": `May ${tool} be used?` });
    const choose = (yes) => {
      card.replaceChildren(make("p", {}, `${question} ${yes ? "Yes." : "No."}`));
      this.trace.dataset.running = "";
      this.answered(this, yes);
    };
    const yes = make("button", { type: "button", className: "main", onclick: () => choose(true) }, "Yes, do it");
    const no = make("button", { type: "button", onclick: () => choose(false) }, "No");
    card.append(make("p", {}, question), make("div", { className: "choices" }, yes, no));
    this.trace.before(card);
    no.focus();
  }

  fail(sentence) {
    delete this.trace.dataset.running;
    this.outcome ||= "turn.failed";
    this.trace.before(make("p", { className: "wrong" }, sentence));
    if (!this.steps.childElementCount) this.trace.hidden = true;
  }
}

function key() {
  const entries = Object.entries(SPENT).map(([kind, word]) => make("span", {}, make("i", { className: kind }), word));
  return make("li", { className: "key", "aria-hidden": "true" }, ...entries);
}
