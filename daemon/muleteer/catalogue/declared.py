"""One tool: what the harness sees of it, what is needed to call it, and reading a function into one.

Knows declarations, docstrings and names; knows nothing of files, packages or calls.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from muleteer.calling.results import sentence, tidy
from muleteer.calling.threads import OwnLoop
from muleteer.catalogue.schema import Form, read_form
from muleteer.errors import SkillError
from muleteer.tool import Declaration, Effect, Settled, Several, ToolFunction

NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
RESERVED = frozenset({"reply", "call_tool"})  # the planner's and the follower's own words
DESCRIPTION_LIMIT = 600  # characters; every turn's menu holds all of them


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the harness sees it. `description` is the docstring's first paragraph, `signature` the line
    that L2 reads, `parameters` the schema that L3 fills, `craft` the rules only L3 reads, `timeout` in
    seconds, `exact` the parameters whose numbers must have been said and `said` those whose words must,
    `words` those that hold the user's own words, `settled` what makes arguments those of the message,
    `several` what makes a message one for each call, `path` the file it came from (empty for one made in
    code), `guest` whether a server brought it, so that it gives way first."""

    name: str
    handle: str
    description: str
    signature: str
    parameters: Mapping[str, Any]
    craft: str
    menu: bool
    hidden: bool
    network: bool
    effect: Effect
    timeout: float
    examples: tuple[str, ...]
    path: str = ""
    guest: bool = False
    exact: tuple[str, ...] = ()
    said: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    settled: Settled | None = field(default=None, compare=False)
    several: Several | None = field(default=None, compare=False)


class Arguments(Protocol):
    """What a call needs to know of a tool's parameters; `Form` for a function."""

    @property
    def services(self) -> tuple[str, ...]:
        """The parameters that the daemon fills in itself."""
        ...

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Keyword arguments for the function. Raises `ValueError` with one sentence."""
        ...


@dataclass(slots=True)
class Loaded:
    """A tool that can be called. `running` are the calls whose threads have not ended, also those of an
    earlier toolbox: a tool that hangs is not forgotten by loading anew."""

    tool: Tool
    form: Arguments
    function: ToolFunction
    running: set[OwnLoop] = field(default_factory=set)

    def named(self, name: str) -> Loaded:
        """The same tool under another name."""
        old = self.tool
        signature = re.sub(rf"(?<!\w){re.escape(old.name)}(?!\w)", name, old.signature)
        return replace(self, tool=replace(old, name=name, handle=handle_of(name), signature=signature))


def handle_of(name: str) -> str:
    """The handle of a tool's name: `current_time` is `current-time`."""
    return name.replace("_", "-")


def name_of(handle: str) -> str:
    """The tool's name that a handle belongs to."""
    return handle.replace("-", "_")


def read_tool(function: ToolFunction, where: str) -> Loaded | str:
    """The tool that a function is, or the sentence why it is none; `where` is its file, or empty."""
    name = function.__name__
    try:
        form = read_form(function)
        return Loaded(_describe(function, form, tidy(where)), form, function)
    except BaseException as error:  # noqa: BLE001  # annotations and defaults are code of the tool, too
        reason = str(error) if isinstance(error, SkillError) else sentence(error)
        itself = where if Path(where).stem == name else f"{name} in {where or 'the program'}"
        return f"{itself} is not usable: {reason}"


def _describe(function: ToolFunction, form: Form, path: str) -> Tool:
    name = function.__name__
    declaration: Declaration = function.__muleteer_tool__  # type: ignore[attr-defined]  # set by @tool
    if not NAME.fullmatch(name):
        raise SkillError("a tool's name is made of a-z and 0-9, with single _ between.")
    if name in RESERVED:
        raise SkillError(f"the name {name} is reserved; choose another.")
    _check_words(function, form, declaration)
    for what, named, there in (
        ("exact", declaration.exact, {*form.required, *form.optional}),
        ("said", declaration.said, {*form.optional}),
        ("words", declaration.words, {*form.required, *form.optional}),
    ):
        if unknown := set(named) - there:
            kind = "optional parameter" if what == "said" else "parameter"
            raise SkillError(f"its {what} names {', '.join(sorted(unknown))}, which is no {kind}.")
    first = re.split(r"(?<=[.!?])\s", form.summary, maxsplit=1)[0]
    shown = ", ".join((*form.required, *(f"[{key}]" for key in form.optional)))
    return Tool(
        name=name,
        handle=handle_of(name),
        description=form.summary,
        signature=declaration.signature or f"{name}({shown}) \N{EM DASH} {first}",
        parameters=form.parameters,
        craft=declaration.craft,
        menu=declaration.menu,
        hidden=declaration.hidden,
        network=declaration.network,
        effect=declaration.effect,
        timeout=declaration.timeout,
        examples=declaration.examples,
        path=path,
        exact=declaration.exact,
        said=declaration.said,
        settled=declaration.settled,
        several=declaration.several,
        words=declaration.words,
    )


def _check_words(function: ToolFunction, form: Form, declaration: Declaration) -> None:
    """Refuse what no prompt may hold. Raises `SkillError`."""
    if problem := declaration.problem():
        raise SkillError(problem)
    if len(form.summary) > DESCRIPTION_LIMIT:
        raise SkillError(
            f"the first paragraph of its docstring has {len(form.summary)} characters; at most "
            f"{DESCRIPTION_LIMIT} fit."
        )
    for what, text in {
        "docstring": inspect.getdoc(function) or "",
        "craft": declaration.craft,
        "signature": declaration.signature,
        "examples": " ".join(declaration.examples),
        "schema": json.dumps(form.parameters, ensure_ascii=False),
    }.items():
        allowed = text.replace("\n", " ") if what in ("docstring", "craft") else text
        if not allowed.isprintable():
            found = next(each for each in allowed if not each.isprintable())
            raise SkillError(f"its {what} holds the character U+{ord(found):04X}, which no prompt may hold.")
