"""From what an MCP server says about a tool to a tool of ours, or a sentence why it is none.

Knows names, schemas and words; knows nothing of connections. All of it was written by a stranger, so names
are made of a few letters, texts are cut and lose what could look like a handle or a control token, and a
schema that the decoder cannot hold the model to is refused.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from muleteer.catalogue.declared import NAME, RESERVED, Loaded, Tool, handle_of
from muleteer.engine import vetting
from muleteer.errors import SkillError
from muleteer.tool import Effect, Result

Call = Callable[[str, Mapping[str, object]], Awaitable[Result]]

NAME_LIMIT = 64  # characters; a handle is written in plans
DESCRIPTION_LIMIT = 240  # characters; two sentences, since every turn's menu holds all of them
PARAMETER_LIMIT = 120  # characters about one parameter
LEFT_OUT = ("$schema", "$id", "$comment", "title", "examples", "deprecated", "readOnly", "writeOnly")
MARKUP = re.compile(r"<\|?[^<>]{0,40}\|?>|[`*#|{}]|@(?=\w)")  # what a prompt or a plan could take for its own
HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Defined:
    """A tool as its server describes it; `reads` when it says that it changes nothing."""

    name: str
    description: str
    schema: Mapping[str, Any]
    reads: bool


@dataclass(frozen=True, slots=True)
class Rules:
    """What the settings say about a server's tools: `effect` empty for what the server says, `seconds` for
    one call."""

    effect: Effect | None
    network: bool
    seconds: float


@dataclass(frozen=True, slots=True)
class Parameters:
    """The names that a call may and must give; the rest is checked by the server itself."""

    known: tuple[str, ...]
    required: tuple[str, ...]
    services: tuple[str, ...] = ()

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """As given, without nulls for what may be left out. Raises `ValueError` with one sentence."""
        for name in given:
            if name not in self.known:
                known = ", ".join(self.known) or "none"
                raise ValueError(f"there is no parameter '{name}'; the parameters are: {known}")
        for name in self.required:
            if name not in given:
                raise ValueError(f"'{name}' is missing")
        return {name: each for name, each in given.items() if each is not None or name in self.required}


def tool_name(server: str, name: str) -> str:
    """What the tool is called here: `get-Weather` of `home` is `home_get_weather`. Raises `SkillError`."""
    words = re.sub(r"[^a-z0-9]+", "_", HUMP.sub("_", name[:NAME_LIMIT]).lower()).strip("_")
    whole = f"{server}_{words}"
    if not words or not NAME.fullmatch(whole) or len(whole) > NAME_LIMIT or whole in RESERVED:
        raise SkillError(f"the name {_plain(name, NAME_LIMIT)!r} cannot be written as a-z, 0-9 and _.")
    return whole


def made(server: str, defined: Defined, rules: Rules, call: Call) -> Loaded:
    """The tool, which hands its calls to `call` by the server's own name for it. Raises `SkillError`."""
    name = tool_name(server, defined.name)
    schema = _schema(defined.schema)
    vetting.vet(schema)
    known = tuple(schema["properties"])
    required = tuple(each for each in schema.get("required", ()) if each in schema["properties"])
    description = _plain(defined.description, DESCRIPTION_LIMIT) or f"{defined.name} of {server}"
    if not description.endswith((".", "!", "?", "\N{HORIZONTAL ELLIPSIS}")):
        description += "."
    first = re.split(r"(?<=[.!?])\s", description, maxsplit=1)[0]
    shown = ", ".join((*required, *(f"[{each}]" for each in known if each not in required)))

    async def ask(**given: object) -> Result:
        return await call(defined.name, given)

    tool = Tool(
        name=name,
        handle=handle_of(name),
        description=description,
        signature=f"{name}({shown}) \N{EM DASH} {first}",
        parameters=schema,
        craft="",
        menu=True,
        hidden=False,
        network=rules.network,
        effect=rules.effect or ("read" if defined.reads else "write"),
        timeout=rules.seconds,
        examples=(),
        guest=True,
    )
    return Loaded(tool, Parameters(known, required), ask)


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """The schema with our hand on its words. Raises `SkillError` when it describes no object."""
    vetting.text_of(given)  # refuses by size before anything walks through it
    try:
        schema = _washed(given)
    except RecursionError:
        raise SkillError("its schema is nested too deeply.") from None
    if not isinstance(schema, dict) or schema.get("type", "object") != "object":
        raise SkillError("its schema does not describe an object.")
    schema["type"] = "object"
    schema.setdefault("properties", {})
    if not isinstance(schema["properties"], dict):
        raise SkillError("the properties of its schema are no object.")
    for name in schema["properties"]:
        if not name.isprintable() or len(name) > NAME_LIMIT:
            raise SkillError(f"it has a parameter with the impossible name {_plain(name, NAME_LIMIT)!r}.")
    schema.setdefault("additionalProperties", False)
    return schema


def _washed(node: Any, naming: bool = False) -> Any:
    """A copy without what only people read; `naming` where the keys are names that the server gave."""
    if isinstance(node, dict):
        washed = {}
        for key, value in node.items():
            if naming or key not in LEFT_OUT:
                words = key == "description" and not naming and isinstance(value, str)
                below = key in ("properties", "$defs", "definitions", "patternProperties") and not naming
                washed[key] = _plain(value, PARAMETER_LIMIT) if words else _washed(value, below)
        return washed
    if isinstance(node, list):
        return [_washed(each) for each in node]
    return node


def _plain(text: str, limit: int) -> str:
    """A stranger's words on one line, cut at a word, without anything that is more than words."""
    visible = "".join(each if each.isprintable() else " " for each in text[: 4 * limit])
    words = " ".join(MARKUP.sub(" ", visible).split())
    if len(words) <= limit:
        return words
    return words[:limit].rsplit(" ", 1)[0].rstrip(",;:. ") + "\N{HORIZONTAL ELLIPSIS}"
