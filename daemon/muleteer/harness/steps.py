"""A skill whose steps code can carry out: no L2, the model only fills in what the steps leave open.

`all` calls each tool once and says what each returned. `first` goes on only while nothing was found: what is
empty or could not be searched is said if no later tool succeeds, and not otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.harness import tool_agent
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.signals import ConfirmSignal, ToolLoopHalt
from muleteer.skills import Skill
from muleteer.tool import Result, Status
from muleteer.toolbox import Tool


def how(handles: Sequence[str], skills: Sequence[Skill], tools: Sequence[Tool]) -> str:
    """How code carries out a plan of these: `all`, `first`, or not at all. Of several handles, one of them a
    search and none of them a deed, the likeliest that finds something answers."""
    if len(handles) == 1:
        return skills[0].run if skills else ""
    search = any(skill.run == "first" for skill in skills)
    return "first" if search and all(tool.effect == "read" for tool in tools) else ""


async def carry_out(
    run: str, skills: Sequence[Skill], tools: Sequence[Tool], dispatcher: Dispatcher, message: str
) -> None:
    """Call the tools in their order, with the arguments that a skill gives or that the message asks for.
    The results are in the dispatcher's bridge, at least one a tool."""
    results = dispatcher.bridge.results
    given = {handle: arguments for skill in skills for handle, arguments in skill.given.items()}
    for number, tool in enumerate(tools, 1):
        before = len(results)
        try:
            if (arguments := given.get(tool.handle)) is not None:
                control = await dispatcher.call(tool, arguments)
            else:
                control = await ask_tool(dispatcher, tool.name, message)
        except ToolLoopHalt as stop:
            control = str(stop)
        except ConfirmSignal as signal:
            signal.tools = tuple(tools[number:])
            raise
        if len(results) == before:
            dispatcher.bridge.add(tool.name, Result.error(f"{tool.name} gave no result: {control}"))
        elif run == "first" and results[-1].status is Status.OK:
            results[:] = results[-1:]
            return


async def ask_tool(dispatcher: Dispatcher, tool: str, message: str) -> str:
    """One tool needs no follower: the message is the instruction. After an error the agent corrects its
    arguments; the dispatcher ends that by `ToolLoopHalt`. Returns the last control line."""
    results = dispatcher.bridge.results
    instruction, last = message, results[-1] if results else None
    while True:
        control = await dispatcher.dispatch(tool, instruction)
        if not results or results[-1] is last or results[-1].status is not Status.ERROR:
            return control
        last = results[-1]
        instruction = tool_agent.retry(message, control)
