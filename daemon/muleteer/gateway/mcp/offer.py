"""What other agents are offered, by name: asking this device, its memory, and shipped tools that only read.

Knows the catalogue as it is now, so that what the user turns off or renames is off or renamed here as well.
Tools that came from elsewhere (a folder, a package, another server) are their makers' to offer, not ours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from muleteer.gateway.peer import Scope
from muleteer.skills import Catalogue
from muleteer.tool import Effect
from muleteer.toolbox import Tool

ORIGIN = "shipped"
REMEMBER = "remember"  # names on disk, as are the next two
NOTES, TURNS = "check_notebook", "grep_memory"

SESSION = {
    "type": "string",
    "description": "Name of the conversation: what was said under the same name is known. "
    "Letters, digits and _ . - only; leave it out for a question that stands alone.",
}
OUTCOME = {
    "type": "object",
    "properties": {
        "status": {"enum": ["answered", "confirm"]},
        "turn": {"type": "string"},
        "answer": {"type": "string"},
        "question": {"type": "string"},
        "tool": {"type": "string"},
        "effect": {"type": "string"},
        "arguments": {"type": "object"},
        "seconds": {"type": "number"},
        "calls": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["status", "turn", "calls"],
}


@dataclass(frozen=True, slots=True)
class Offered:
    """One thing to call. `scope` is what a peer needs for it, `schema` that of its arguments, `outcome` that
    of its fields (None: a tool's result), `tool` the catalogue's name of the tool behind it, if there is one,
    `effect` the strongest thing that may come of it, `network` whether it may use the network."""

    name: str
    scope: Scope
    description: str
    schema: Mapping[str, Any]
    effect: Effect
    outcome: Mapping[str, Any] | None = None
    tool: str = ""
    network: bool = False


ASK = Offered(
    "ask",
    "chat",
    "Ask this device's own assistant, in plain words and any language. It plans, uses the tools of its "
    "household (time, notes, calendar, files, timers, sensors, switches and what else is set up), and "
    'answers in a few sentences. If the status is "confirm", nothing was done yet: show the question to your '
    "user and pass their answer to `confirm`.",
    {
        "type": "object",
        "properties": {
            "message": {"type": "string", "description": "One request, as a person would say it."},
            "session": SESSION,
        },
        "required": ["message"],
    },
    "physical",
    OUTCOME,
    network=True,
)
CONFIRM = Offered(
    "confirm",
    "chat",
    "Answer the question that `ask` ended with. Say yes only if your user, who was shown the question, said "
    "so: it changes what is stored or acts on a real device.",
    {
        "type": "object",
        "properties": {
            "turn": {"type": "string", "description": "The turn that ended with the question."},
            "yes": {"type": "boolean", "description": "What the user said."},
            "session": SESSION,
        },
        "required": ["turn", "yes"],
    },
    "physical",
    OUTCOME,
    network=True,
)
SEARCH = Offered(
    "search_memory",
    "tools",
    "Search what this device's people asked it to keep, and what was said to it before.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "A few words; leave it out for the newest."},
            "when": {
                "type": "string",
                "description": "When it was said, in words ('yesterday', 'last week'); leaves out the notes.",
            },
        },
    },
    "read",
)
OWN = (ASK, CONFIRM, SEARCH)


def offered(catalogue: Catalogue, ask_before: Sequence[str]) -> dict[str, Offered]:
    """Everything there is to call now, by name. `ask_before` are the effects that need a yes: `remember` is
    left out if writing does, since only a turn can ask."""
    shipped = on_disk(catalogue)
    found = {ASK.name: ASK, CONFIRM.name: CONFIRM}
    if NOTES in shipped or TURNS in shipped:
        found[SEARCH.name] = SEARCH
    for name, tool in sorted(shipped.items()):
        reads = tool.effect == "read" and not tool.hidden
        if (reads or (name == REMEMBER and "write" not in ask_before)) and tool.name not in found:
            found[tool.name] = _of(tool)
    return found


def on_disk(catalogue: Catalogue) -> dict[str, Tool]:
    """The shipped tools that are in use, by the name that they have on disk."""
    toolbox = catalogue.toolbox
    return {
        toolbox.were.get(name, name): tool
        for name, tool in toolbox.tools.items()
        if toolbox.origins.get(name) == ORIGIN
    }


def _of(tool: Tool) -> Offered:
    return Offered(
        tool.name,
        "tools",
        tool.description,
        {"type": "object", **tool.parameters},
        tool.effect,
        tool=tool.name,
        network=tool.network,
    )
