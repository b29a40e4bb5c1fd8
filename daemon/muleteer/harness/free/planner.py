"""L1 on a free brain: persona, guidance, menu, and one real tool, `plan(text)`.

Calling it is the decision that tools are needed, and ends the level by `PlanSignal`. What the brain says
instead is the reply, unless it speaks of a handle (a plan that was told and not made) or of a deed (nothing
was done). Sees no schema and no steps.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.brains import Said
from muleteer.harness.claims import claims
from muleteer.harness.free.handles import named, narrated
from muleteer.harness.free.listening import Listener, corrected
from muleteer.harness.free.speech import Speech
from muleteer.harness.prompts import render
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.settings.sections import Budgets
from muleteer.skills import MenuLine

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")

# Corrections of one planning pass. A model that has read the real handles three times will not find them.
CORRECTIONS = 3

# Handles of one plan. A message that needs more is more than one message; each may bring a dozen tools.
MOST_HANDLES = 4

# Characters of a rationale that go down to L2: a sentence or two.
RATIONALE = 400

PLAN = ToolSpec(
    "plan",
    "Start on what the message needs: one sentence that names one or more handles of the menu with @, and"
    " what for.",
    {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "such as: I'll use @handle to find it."}},
        "required": ["text"],
        "additionalProperties": False,
    },
)


class FreePlanner:
    """One turn's planner. `menu` is what may be planned with; where it is too long, the lines go first that
    are not `ranked`, then those ranked last. `claimed`: the last reply claimed a deed; `dropped` messages of
    the conversation had no room."""

    def __init__(
        self,
        listener: Listener,
        budgets: Budgets,
        menu: Sequence[MenuLine],
        ranked: Sequence[str] = (),
    ) -> None:
        self._listener, self._budgets, self._menu = listener, budgets, menu
        self._ranks = {handle: rank for rank, handle in enumerate(ranked)}
        self.claimed, self.dropped = False, 0

    async def plan(
        self,
        message: str,
        speech: Speech,
        history: Sequence[Message] = (),
        failed: Sequence[Plan] = (),
    ) -> bool:
        """Raises `PlanSignal`, or returns whether there is a reply, which `speech` heard; false where neither
        a plan nor an honest reply could be had."""
        used = {handle for plan in failed for handle in plan.handles}
        prompt, handles = await self._prompt(message, history, failed, used)
        for left in range(CORRECTIONS, -1, -1):
            said = await self._listener.hear("planner", prompt, self._budgets.answer_output, speech.feed)
            if speech.begun or not (wrong := self._decided(said, handles)):
                return bool(said.text.strip())
            speech.drop()
            if left:
                prompt = corrected(prompt, said, wrong)
        return False

    def _decided(self, said: Said, handles: Collection[str]) -> str:
        """What is wrong with a plan or a reply; nothing where it is a reply. Raises `PlanSignal`."""
        for call in said.calls:
            text = _text(call.arguments)
            if call.fault or text is None:
                return render("free_plan_form", fault=call.fault or "it has no text")
            found = named(f"{text} @{call.name}" if call.name in handles else text, handles)
            if found.unknown or not (found.known or narrated(text, handles)):
                return _unreal(found.unknown, handles)
            _signal(found.known or narrated(text, handles), text)
        if spoken := narrated(said.text, handles):
            _signal(spoken, said.text)
        if unknown := named(said.text, handles).unknown:
            return _unreal(unknown, handles)
        self.claimed = any(claims(sentence) for sentence in _SENTENCE.split(said.text))
        if self.claimed:
            return render("free_claim")
        return "" if said.text.strip() else render("flat_empty")

    async def _prompt(
        self, message: str, history: Sequence[Message], failed: Sequence[Plan], used: Collection[str]
    ) -> tuple[Conversation, tuple[str, ...]]:
        """What fits the budget: lines of the menu go where it alone is too long, then the oldest messages."""
        menu = [line for line in self._menu if line.handle not in used]
        if failed:
            message = render("planner_replan", message=message, handles=_listed(failed[-1].handles))
        count, limit = self._listener.lane.count, self._budgets.planner_prompt
        if await count(_conversation(menu, (), message)) > limit:
            menu.sort(key=lambda line: self._ranks.get(line.handle, len(self._ranks)))
        while menu and await count(_conversation(menu, (), message)) > limit:
            menu.pop()
        self.dropped = 0
        while True:
            prompt = _conversation(menu, history[self.dropped :], message)
            if await count(prompt) <= limit or self.dropped == len(history):
                return prompt, tuple(line.handle for line in menu)
            self.dropped += 1


def _conversation(menu: Sequence[MenuLine], history: Sequence[Message], message: str) -> Conversation:
    lines = "\n".join(f"- @{line.handle}: {line.description}" for line in menu)
    system = render("free_planner", menu=lines) if menu else render("free_reply")
    messages = (Message("system", system), *history, Message("user", message))
    return Conversation(messages, (PLAN,) if menu else (), constant=1)


def _text(arguments: dict[str, object] | None) -> str | None:
    """The plan's sentence; the only text that was given, whatever it was called."""
    texts = [value for value in (arguments or {}).values() if isinstance(value, str) and value.strip()]
    given = (arguments or {}).get("text")
    return given if isinstance(given, str) and given.strip() else texts[0] if len(texts) == 1 else None


def _signal(handles: Sequence[str], text: str) -> None:
    raise PlanSignal(Plan(tuple(handles[:MOST_HANDLES]), 1.0, " ".join(text.split())[:RATIONALE]))


def _unreal(unknown: Sequence[str], handles: Collection[str]) -> str:
    what = "none" if not unknown else _listed([name[:64] for name in unknown[:MOST_HANDLES]])
    return render("free_handles", unknown=what, handles=_listed(tuple(handles)))


def _listed(handles: Sequence[str]) -> str:
    return ", ".join(f"@{handle}" for handle in handles)
