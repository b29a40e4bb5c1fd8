"""A caller's own tools, any number of them, on a constrained brain: which to call, and with what.

    shortlist (code) -> one scored choice over names and `none` -> the arguments, filled under one schema
      unsure: every name is scored, and the likeliest are chosen among once more

The menu holds names and descriptions only; one schema at a time reaches the model. A menu that is short is
the same for every message and stays decoded; of a long one the shortlist's lines are shown, and the whole of
it where the words of the message do not lead to a tool. Each schema's prompt begins the same as well, and is
found again by its content. A tool whose schema cannot be enforced is refused by name. What only asks or
forbids is offered nothing that acts, and what orders under a condition nothing that switches before something
was looked at: small models close a door when they are asked whether it is closed.
Knows nothing of skills, turns or running a tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.engine.vetting import vet
from muleteer.errors import SkillError
from muleteer.harness.brains import Lane
from muleteer.harness.clip import clipped
from muleteer.harness.conditions import clauses
from muleteer.harness.kinds import kind, switches, tells_state
from muleteer.harness.ledger import Ledger
from muleteer.harness.moods import asks, forbids
from muleteer.harness.prompts import render
from muleteer.harness.shortlist import Shortlist
from muleteer.skills import MenuLine

NONE = "none"

# Names that are scored. On BFCL the right function is nearly always among the best eight of any number; one
# more costs some six tokens.
SCORED = 8

# Names of a cut menu must have this share of the best one's score by words. Among 80 functions it leaves
# 2.8 of eight for BFCL's `multiple` and 4.5 for `live_multiple`, and the right one as often as all eight do
# (98.5 % of 67 cases and 96.6 % of 88, none of which it was chosen by).
NEAR = 0.35

# Lines of a menu that is shown whole, and so is constant: decoded once, for every message to come. A line has
# some 30 tokens; of a longer menu only the lines of the names that are scored are shown.
WHOLE = 24

# `none` must be at least this likely. The default model is shy to say it: of 23 messages of BFCL for which no
# function fits it refuses 10 at 0.5, 16 at 0.25 and 19 at 0.15; of 23 for which one does it takes the right
# one for 22, 21 and 19.
NONE_SHARE = 0.25

# A first choice with less than this, or of none, is looked at again with every name.
SURE = 0.6

# Names of that look which the second choice is among, with those of the first.
LIKELIEST = 5

# Characters of a description in the menu: its first sentence says what a function does, the rest costs.
DESCRIPTION = 200

# Tokens of one call's arguments; a longer call is none.
ARGUMENTS = 400

# Characters of all results together where the next call is chosen and written: ids, lists of some names.
RESULTS = 3000

# Characters at the end of a message that what it asks stands in; before them is a text that it is about.
ASKED = 2000

# Names called last that are scored whatever the message says.
RECENT = 2


@dataclass(frozen=True, slots=True)
class Called:
    """One call, not yet made. The arguments are valid under the tool's schema."""

    name: str
    arguments: dict[str, object]


@dataclass(frozen=True, slots=True)
class Decision:
    """The call that a message wants, none where no tool fits; and the distribution over the names that were
    scored and `none`."""

    calls: tuple[Called, ...]
    shares: dict[str, float]


Build = Callable[[Sequence[Message]], Conversation]
Fit = Callable[[Build, Sequence[Message]], Awaitable[Conversation]]


async def whole_prompt(build: Build, messages: Sequence[Message]) -> Conversation:
    """The prompt with all of the messages."""
    return build(messages)


class Staged:
    """A caller's tools. `refused` says of each one that cannot be used why, as a sentence. `scored` is how
    many names are scored at most, `whole` how many lines a menu may have that is shown whole. What is not
    `pinned` is kept decoded like a conversation: as long as there is room."""

    def __init__(
        self,
        tools: Sequence[ToolSpec],
        *,
        scored: int = SCORED,
        whole: int = WHOLE,
        none_share: float = NONE_SHARE,
        pinned: bool = True,
    ) -> None:
        self.refused: dict[str, str] = {}
        self._scored, self._whole, self._none_share = scored, whole, none_share
        self._pinned, self._tokens = pinned, 0
        self.tools: dict[str, ToolSpec] = {}
        for tool in tools:
            try:
                self._take(tool)
            except SkillError as error:
                self.refused[tool.name] = str(error)
        self._lines = {tool.name: _line(tool) for tool in self.tools.values()}
        menu = [
            MenuLine(tool.name, tool.description, (_spelled(tool.name),), words=_parameters(tool))
            for tool in self.tools.values()
        ]
        self._acting = frozenset(tool.name for tool in self.tools.values() if _acts(tool))
        self._switching = frozenset(name for name in self._acting if switches(_spelled(name)))
        self._looking = frozenset(tool.name for tool in self.tools.values() if _tells_state(tool))
        self._shortlist = Shortlist(menu, scored)
        self._quiet = Shortlist([line for line in menu if line.handle not in self._acting], scored)

    def _take(self, tool: ToolSpec) -> None:
        """Take in a tool with the schema that is enforced. Raises `SkillError`."""
        if tool.name == NONE or tool.name in self.tools:
            raise SkillError(f"There is another function {tool.name!r} already; rename one of them.")
        vet(tool.parameters)
        self.tools[tool.name] = tool

    def constants(self, names: Sequence[str] = ()) -> list[Conversation]:
        """The prompts that messages begin with, as far as they are constant: the menu's, if it is shown
        whole, and those of the named tools' arguments."""
        asked = (Message("user", ""),)
        menus = [self._choosing(tuple(self.tools), asked)] if len(self.tools) <= self._whole else []
        return [*menus, *(self._filling(self.tools[name], asked) for name in names if name in self.tools)]

    def withheld(self, message: str, before: Sequence[str] = ()) -> frozenset[str]:
        """The names that a message cannot mean: it only asks or forbids, and they act; or it orders under a
        condition, and of the calls `before` none has looked whether that is met, though one could. Of 36
        questions to two houses (`standard`; all of `tests/harness/guests/questions_and_orders.tsv` but the
        last ten) 22 chose what acts without this and none with it, 10 and 32 what reads."""
        said = message[-ASKED:]
        if asks(said) or forbids(said):
            return self._acting
        unseen = self._looking and self._looking.isdisjoint(before)
        return self._switching if unseen and clauses(said) else frozenset()

    async def decide(
        self,
        lane: Lane,
        ledger: Ledger,
        messages: Sequence[Message],
        *,
        must: bool = False,
        named: str = "",
        results: Sequence[tuple[Called, str]] = (),
        limit: int | None = None,
        wide: int = 0,
        fit: Fit = whole_prompt,
    ) -> Decision:
        """What to call for the last of `messages`, which is the user's; the first may be the caller's own
        instructions, for the arguments alone.

        `must`: `none` is no answer. `named` is called, without a choice. `results`: the calls made for it
        already, which are not asked for again, with what they returned. `fit` makes each
        prompt fit its budget; `limit` is that of the arguments in tokens, `wide` that of a menu that may be
        shown whole where the shortlist leaves a doubt. Raises as the lane does."""
        before = [call for call, _ in results]
        asked = _asked(messages, results)
        name, shares = named, dict[str, float]()
        withheld = frozenset[str]()
        if not must:
            withheld = self.withheld(messages[-1].content, [call.name for call in before])
        if not named and len(withheld) < len(self.tools):
            offered = self._offered(messages, before, withheld)
            every = await self._weigh(lane, ledger, offered, asked, fit, 0 if withheld else wide)
            shares = {name: share for name, share in every.items() if name not in withheld}
            name = self._decided(shares, must)
        room = ARGUMENTS if limit is None else min(ARGUMENTS, limit)
        call = await self._fill(lane, ledger, self.tools[name], asked, fit, room) if name else None
        again = call in before and not must
        return Decision(() if call is None or again else (call,), shares)

    def _offered(
        self, messages: Sequence[Message], before: Sequence[Called], withheld: frozenset[str]
    ) -> tuple[str, ...]:
        """The names that are shown and scored, in the caller's order: what the words of the message speak
        for, and what was called last, since a message may only say "and tomorrow?". What is withheld is
        scored as well: it may have the share that is not `none`'s."""
        if len(self.tools) <= self._scored:
            return tuple(self.tools)
        picked = self._shortlist.pick(messages[-1].content, NEAR)
        if withheld:
            picked += self._quiet.pick(messages[-1].content)
        called = [name for message in messages for name, _ in message.calls]
        recent = [*called[-RECENT:], *(call.name for call in before[-RECENT:])]
        return tuple(name for name in self.tools if name in picked or name in recent)

    def _decided(self, shares: dict[str, float], must: bool) -> str:
        """The name to call; empty for none."""
        best = max((name for name in shares if name != NONE), key=lambda name: shares[name], default="")
        return best if must or shares[NONE] < self._none_share else ""

    def _choosing(self, shown: Sequence[str], messages: Sequence[Message]) -> Conversation:
        """The same in the beginning only where it shows every line: a longer menu's are one message's. The
        caller's instructions say how to answer, often with the time in them, and draw the choice to `none`:
        of 14 orders to a house the right function got 9 with them and 12 without (`standard`)."""
        rules = render("staged", menu="\n".join(self._lines[name] for name in shown))
        asked = messages[1:] if messages[0].role == "system" else messages
        return self._prompt(rules, asked, len(shown) == len(self.tools))

    def _filling(self, tool: ToolSpec, messages: Sequence[Message]) -> Conversation:
        prompt = self._prompt(render("staged_agent"), messages, True)
        return replace(prompt, tools=(tool,), begin_call=True)

    def _prompt(self, rules: str, messages: Sequence[Message], same: bool) -> Conversation:
        """Our rules first, then the caller's, in one message, since many templates take no second one."""
        constant = int(same and self._pinned)
        if messages[0].role == "system":
            told, *messages = messages
            rules = render("guest_rules", rules=rules, told=told.content)
        return Conversation((Message("system", rules), *messages), constant=constant)

    async def _weigh(
        self,
        lane: Lane,
        ledger: Ledger,
        offered: Sequence[str],
        messages: Sequence[Message],
        fit: Fit,
        wide: int,
    ) -> dict[str, float]:
        """The shares that decide. The words of a message may lead nowhere, as when it is in another language
        than the descriptions; then the model looks at every name, and at the likeliest ones again, and what
        it says both times counts."""
        first = await self._choose(lane, ledger, offered, messages, fit)
        best = max((name for name in first if name != NONE), key=lambda name: first[name])
        sure = first[best] >= SURE and first[NONE] < self._none_share
        if sure or len(offered) == len(self.tools) or not await self._fits(lane, wide):
            return first
        every = await self._choose(lane, ledger, tuple(self.tools), messages, fit)
        if every[NONE] == max(every.values()) and first[NONE] == max(first.values()):
            return first
        likely = sorted(self.tools, key=lambda name: -every[name])[:LIKELIEST]
        again = tuple(name for name in self.tools if name in likely or name == best)
        second = await self._choose(lane, ledger, again, messages, fit)
        total = sum(every[name] for name in second) or 1.0
        return {name: (share + every[name] / total) / 2 for name, share in second.items()}

    async def _fits(self, lane: Lane, wide: int) -> bool:
        """Whether the whole menu has at most so many tokens."""
        if wide and not self._tokens:
            self._tokens = await lane.count("\n".join(self._lines.values()))
        return 0 < self._tokens <= wide

    async def _choose(
        self, lane: Lane, ledger: Ledger, offered: Sequence[str], messages: Sequence[Message], fit: Fit
    ) -> dict[str, float]:
        options = (*offered, NONE)
        whole = len(self.tools) <= self._whole or len(offered) == len(self.tools)
        shown = tuple(self.tools) if whole else offered
        prompt = await fit(lambda some: self._choosing(shown, some), messages)
        ledger.allow(1)
        choice = await lane.choose(prompt, options)
        ledger.book("choice", choice.use)
        return dict(zip(options, choice.probabilities, strict=True))

    async def _fill(
        self,
        lane: Lane,
        ledger: Ledger,
        tool: ToolSpec,
        messages: Sequence[Message],
        fit: Fit,
        limit: int,
    ) -> Called | None:
        """The call of one tool; None where its arguments did not come to an end in time."""
        if not tool.parameters.get("properties"):
            return Called(tool.name, {})
        prompt = await fit(lambda some: self._filling(tool, some), messages)
        written = await lane.fill(prompt, tool.parameters, limit=ledger.allow(limit))
        ledger.book("agent", written.use)
        if written.finish != "stop":
            return None
        arguments: dict[str, object] = json.loads(written.text)
        return Called(tool.name, arguments)


def _asked(messages: Sequence[Message], results: Sequence[tuple[Called, str]]) -> Sequence[Message]:
    """The messages, the last of which also says what has been called for it."""
    if not results:
        return messages
    last, each = messages[-1], RESULTS // len(results)
    lines = "\n".join(f"- {_shown(call)}: {clipped(result, each)}" for call, result in results)
    content = render("staged_results", message=last.content, results=lines)
    return (*messages[:-1], replace(last, content=content))


def _shown(call: Called) -> str:
    return f"{call.name}({json.dumps(call.arguments, ensure_ascii=False)})"


def _tells_state(tool: ToolSpec) -> bool:
    return tells_state(_spelled(tool.name), tool.description)


def _acts(tool: ToolSpec) -> bool:
    return kind(_spelled(tool.name), tool.description) == "acts"


def _line(tool: ToolSpec) -> str:
    text = " ".join(tool.description.split())
    short = text if len(text) <= DESCRIPTION else f"{text[:DESCRIPTION].rsplit(' ', 1)[0]} ..."
    return f"- {tool.name}: {short}"


def _spelled(name: str) -> str:
    """The words of a name: `getUserInfo` as `get User Info`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)


def _parameters(tool: ToolSpec) -> str:
    """What the parameters are called and said to be, for the shortlist."""
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return ""
    parts = [
        f"{name} {inner.get('description', '')}"
        for name, inner in properties.items()
        if isinstance(inner, dict)
    ]
    return " ".join(parts)
