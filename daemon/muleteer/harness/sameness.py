"""When two names are one, and when two calls are.

Pure. Form may be repaired, authority never: a name is only freed of what models put around names, and never
compared by likeness, since a name that is nearly right may belong to a tool that does something else.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping

from muleteer.toolbox import Tool


def resolve(name: str, tools: Mapping[str, Tool]) -> Tool | None:
    """The tool of exactly this name, else the only one that differs in form alone, unless that is hidden."""
    if name in tools:
        return tools[name]
    near = [tool for tool in tools.values() if form(tool.name) == form(name, tools)]
    return near[0] if len(near) == 1 and not near[0].hidden else None


def form(name: str, others: Collection[str] = ()) -> str:
    """A name without the decoration models add: `functions.x`, `tools/x`, "@", case, "-" for "_". What stands
    before a point stays where it is the name of one of the others: then it is not clear which is meant."""
    parts = name.strip().strip("`'\"").replace("/", ".").split(".")
    flat = [part.lstrip("@").casefold().replace("-", "_").replace(" ", "_") for part in parts]
    return ".".join(flat) if set(flat[:-1]) & set(others) else flat[-1]


def request(instruction: str) -> str:
    """What two instructions have in common that want the same."""
    return " ".join(instruction.split()).casefold()


def canonical(arguments: Mapping[str, object]) -> str:
    """One text for all ways to write the same arguments: the order of keys, 1 and 1.0, white space."""
    return json.dumps(_plain(arguments), sort_keys=True, ensure_ascii=False)


def _plain(value: object) -> object:
    match value:
        case bool():
            return value
        case float() if value.is_integer():
            return int(value)
        case str():
            return " ".join(value.split())
        case Mapping():
            return {str(key): _plain(each) for key, each in value.items()}
        case list() | tuple():
            return [_plain(each) for each in value]
        case _:
            return value
