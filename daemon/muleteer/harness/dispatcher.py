"""Between L2 and L3: resolves the tool, refuses repeats, counts, halts, runs the call, keeps its payload.

All discipline over tool calls is here, in code. What goes back up is a short control line; what the tool
found goes to the bridge and never through a model.
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from muleteer.harness import sameness
from muleteer.harness.clip import clipped
from muleteer.harness.events import CallFinished, CallStarted, CallUse, Emit
from muleteer.harness.prompts import render
from muleteer.harness.signals import ToolLoopHalt
from muleteer.harness.sourced import Missing
from muleteer.harness.tool_agent import Agent
from muleteer.tool import Result, Status
from muleteer.toolbox import Outcome, Tool

# Calls of one tool in one plan attempt. Two corrections are useful to a small model; the next is a loop.
CALLS_PER_TOOL = 3

# Characters of a tool's text that a control line carries (about 100 tokens); the whole text is in the bridge.
CONTROL_CHARACTERS = 400

NAME_CHARACTERS = 80  # of a name that is none, in the answer to it; real ones are shorter

Call = Callable[[str, Mapping[str, object]], Awaitable[Outcome]]
Gate = Callable[[Tool, dict[str, object]], Result | None]
Permit = Callable[[Tool, Mapping[str, object]], str]


class Sources(Protocol):
    """What was said, as `Sourced` has it: what of a call's arguments is kept, what is missing, and what was
    said and is not in them."""

    def kept(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]: ...
    def missing(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None: ...
    def forgotten(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None: ...


class Anything:
    """Where everything counts as said."""

    def kept(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        return dict(arguments)

    def missing(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        return None

    def forgotten(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        return None


def _open_gate(tool: Tool, arguments: dict[str, object]) -> Result | None:
    return None


def _any_call(tool: Tool, arguments: Mapping[str, object]) -> str:
    return ""


@dataclass
class Bridge:
    """What the tools of one attempt really returned, in order; of a tool's errors at most the last, and none
    that it has made good. The answer is made from this."""

    results: list[Result] = field(default_factory=list)
    _errors: dict[str, Result] = field(default_factory=dict)

    def add(self, tool: str, result: Result) -> None:
        if (error := self._errors.pop(tool, None)) is not None:
            self.results[:] = [each for each in self.results if each is not error]
        if result.status is Status.ERROR:
            self._errors[tool] = result
        self.results.append(result)


class Dispatcher:
    """One plan attempt's calls. `call` runs a tool by name; `calls` is the turn's record of what ran; with
    `in_order` no tool may be asked for before those that precede it in `tools`; with `each_once` too, it is
    over when the last of them has succeeded. `gate` sees every call before it runs, and may give the result
    in its place; `permit` says why a call that a model wrote may not be made, `sources` what of its arguments
    nobody said: what cannot be left out it may write anew. Of such calls, so many may act on the world as
    `deeds` allows a tool, else one."""

    def __init__(
        self,
        tools: Sequence[Tool],
        agent: Agent,
        call: Call,
        calls: list[CallUse],
        emit: Emit,
        in_order: bool = False,
        each_once: bool = False,
        gate: Gate = _open_gate,
        permit: Permit = _any_call,
        deeds: Mapping[str, int] | None = None,
        sources: Sources = Anything(),  # noqa: B008 (it has no state)
    ) -> None:
        self._gate, self._permit, self._sources, self._deeds = gate, permit, sources, deeds or {}
        self._done: Counter[str] = Counter()
        self._forbidden = False  # a call was: then there is nothing left to do
        self._in_order, self._each_once = in_order, each_once
        self._tools = {tool.name: tool for tool in tools}
        self._agent, self._call, self._calls, self._emit = agent, call, calls, emit
        self._asked: Counter[str] = Counter()
        self._made: set[tuple[str, str]] = set()
        self._requests: set[tuple[str, str]] = set()
        self._repeated: set[str] = set()
        self._reminded: set[str] = set()
        self.bridge = Bridge()

    def rebound(self, agent: Agent, calls: list[CallUse], emit: Emit, gate: Gate) -> Dispatcher:
        """This one, with all it has counted and found, in another turn."""
        same = copy.copy(self)
        same._agent, same._calls, same._emit, same._gate = agent, calls, emit, gate
        return same

    @property
    def asked(self) -> bool:
        """Whether anything was asked for yet."""
        return bool(self._asked)

    def open_tools(self) -> list[str]:
        """The tools L2 may ask for now: shown, below their limit, not asked for in circles; with steps in
        order none beyond the first not asked for yet, and none that acts on what was not found out."""
        if self._forbidden:
            return []
        reach = self._shown()
        if self._in_order:
            ahead = [name for name in reach if not self._asked[name]]
            if self._each_once and not ahead and self._succeeded():
                return []
            reach = [name for name in reach if name not in ahead[1:]]
            if self.bridge.results and not self._succeeded():
                reach = [name for name in reach if self._tools[name].effect == "read"]
        reach = [name for name in reach if not self._spent(self._tools[name])]
        return [n for n in reach if self._asked[n] < CALLS_PER_TOOL and n not in self._repeated]

    async def dispatch(self, name: str, instruction: str) -> str:
        """One request of L2, answered by a control line. Raises `ToolLoopHalt` at the fourth request to a
        tool."""
        tool, refused = self._asked_for(name)
        if tool is None:
            return refused
        request = (tool.name, sameness.request(instruction))
        if request in self._requests:
            return self._refused(tool)
        self._requests.add(request)
        arguments = await self._agent.arguments(tool, instruction)
        if arguments is None:
            return render("long_arguments", tool=tool.name)
        return await self._written(tool, arguments)

    async def made(self, name: str, arguments: Mapping[str, object], whole: bool = True) -> str:
        """A call that a model wrote itself, answered by a control line. Where it is not `whole`, since its
        text ended within a value, it may look something up and not act. Raises as `dispatch`."""
        tool, refused = self._asked_for(name)
        if tool is None:
            return refused
        if not whole and tool.effect != "read":
            return render("cut_value", tool=tool.name)
        return await self._written(tool, dict(arguments))

    def _asked_for(self, name: str) -> tuple[Tool | None, str]:
        """The tool that may be used by this name; else what is answered instead. Counts."""
        tool = sameness.resolve(name, self._tools)
        if tool is None:
            self._count("an unknown tool")
            left = ", ".join(f"{each} ({CALLS_PER_TOOL - self._asked[each]} left)" for each in self._shown())
            return None, render("no_such_tool", tool=clipped(name, NAME_CHARACTERS), left=left)
        closed = tool.effect == "physical" and tool.name not in self.open_tools()
        self._count(tool.name)
        return (None, render("not_now", tool=tool.name)) if closed else (tool, "")

    async def _written(self, tool: Tool, arguments: dict[str, object]) -> str:
        """A call whose arguments a model wrote."""
        arguments = self._sources.kept(tool, arguments)
        if why := self._permit(tool, arguments):
            self._forbidden = True
            self.bridge.add(tool.name, Result.error(why))
            return f"refused: {why}"
        if missing := self._sources.missing(tool, arguments):
            self.bridge.add(tool.name, Result.error(missing.asked))
            return f"error: {missing.told}"
        if tool.name not in self._reminded and (left := self._sources.forgotten(tool, arguments)):
            self._reminded.add(tool.name)  # once: it may have been right
            self.bridge.add(tool.name, Result.error(left.asked))
            return f"error: {left.told}"
        return await self._once(tool, arguments)

    async def call(self, tool: Tool, arguments: Mapping[str, object]) -> str:
        """A call whose arguments code knows, answered by a control line. Counts like a request."""
        self._count(tool.name)
        return await self._once(tool, dict(arguments))

    async def confirmed(self, tool: Tool, arguments: Mapping[str, object]) -> str:
        """The call that a yes was given to, answered by a control line; it was counted before."""
        return control_line(await self._perform(tool, dict(arguments)))

    async def _once(self, tool: Tool, arguments: dict[str, object]) -> str:
        made = (tool.name, sameness.canonical(arguments))
        if made in self._made:
            return self._refused(tool)
        self._made.add(made)
        return control_line(await self._run(tool, arguments))

    def _spent(self, tool: Tool) -> bool:
        """Whether a tool has acted on the world as often as it may, or tried to."""
        return tool.effect == "physical" and self._done.total() >= max(1, self._deeds.get(tool.name, 1))

    def _succeeded(self) -> bool:
        """Whether the last call found or did something."""
        return bool(self.bridge.results) and self.bridge.results[-1].status is Status.OK

    def _refused(self, tool: Tool) -> str:
        self._repeated.add(tool.name)
        return render("repeated")

    async def _run(self, tool: Tool, arguments: dict[str, object]) -> Result:
        if (instead := self._gate(tool, arguments)) is not None:
            self.bridge.add(tool.name, instead)
            return instead
        return await self._perform(tool, arguments)

    async def _perform(self, tool: Tool, arguments: dict[str, object]) -> Result:
        self._emit(CallStarted(tool.name, arguments))
        outcome = await self._call(tool.name, arguments)
        result = outcome.result
        self._calls.append(CallUse(tool.name, result.status.value, round(outcome.ms, 1)))
        self._emit(CallFinished(tool.name, result.status.value, result.text, round(outcome.ms, 1)))
        self.bridge.add(tool.name, result)
        if tool.effect == "physical" and result.status is not Status.ERROR:
            self._done[tool.name] += 1
        return result

    def _count(self, name: str) -> None:
        self._asked[name] += 1
        if self._asked[name] > CALLS_PER_TOOL:
            raise ToolLoopHalt(f"{name} was asked for more than {CALLS_PER_TOOL} times")

    def _shown(self) -> list[str]:
        return [tool.name for tool in self._tools.values() if not tool.hidden]


def control_line(result: Result) -> str:
    """What L2 learns of a result: its status and the beginning of its text."""
    return f"{result.status.value}: {clipped(result.text, CONTROL_CHARACTERS)}"
