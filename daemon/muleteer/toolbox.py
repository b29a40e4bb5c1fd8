"""Load tool modules, and call tools: one call, one result, whatever the tool does.

Knows folders, declarations and deadlines; knows nothing of models, plans or prompts. One bad tool disables
itself alone, by name and with the reason. A later folder overrides an earlier one by name, even when its
version is broken: the user who replaced a tool must not get the old one back unasked.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import logging
import os
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from muleteer.errors import SkillError
from muleteer.lending import Lent
from muleteer.results import TEXT_LIMIT, checked, sentence, tidy
from muleteer.schema import Form, read_form
from muleteer.threads import OwnLoop, in_thread, within
from muleteer.tool import Declaration, Effect, Result, Services, ToolFunction
from muleteer.trust import check_folder, read_trusted

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
RESERVED = frozenset({"reply", "call_tool"})  # the planner's and the follower's own words
MODULE_LIMIT = 1_000_000  # bytes of source; a tool is a page of code, not a program
LOAD_LIMIT = 20.0  # seconds for one module; importing a large library from a slow card takes a few
DESCRIPTION_LIMIT = 600  # characters; every turn's menu holds all of them
STUCK_LIMIT = 4  # threads of one tool that outlived their calls; more would pile up without end


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as the harness sees it. `description` is the docstring's first paragraph, `signature` the line
    that L2 reads, `parameters` the schema that L3 fills, `craft` the rules only L3 reads, `timeout` in
    seconds, `path` the file it came from (empty for one made in code)."""

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


@dataclass(frozen=True, slots=True)
class Outcome:
    """One finished call: the tool's name as called, its result, and wall time in milliseconds."""

    tool: str
    result: Result
    ms: float


@dataclass(slots=True)
class _Loaded:
    tool: Tool
    form: Form
    function: ToolFunction
    running: set[OwnLoop] = field(default_factory=set)  # calls whose threads have not ended


class Toolbox:
    """All tools of this daemon. `tools` by name; `disabled` gives the reason for each that cannot be used, by
    tool name, file stem or folder."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._loaded: dict[str, _Loaded] = {}
        self.tools: dict[str, Tool] = {}
        self.disabled: dict[str, str] = {}

    @classmethod
    def load(cls, folders: Sequence[Path], services: Services, seconds: float = LOAD_LIMIT) -> Toolbox:
        """Import every `*.py` of those folders that exist, except `_*.py`; later folders override by name. A
        module that takes longer than `seconds` is disabled, and its thread left behind."""
        toolbox = cls(services)
        for folder in folders:
            if not folder.is_dir():
                continue
            try:
                check_folder(folder)
            except SkillError as error:
                toolbox.disable(str(folder), str(error))
                continue
            seen: dict[str, Path] = {}
            for path in sorted(folder.glob("[!_]*.py")):
                toolbox._load_file(path, seen, seconds)
        return toolbox

    @classmethod
    def of(cls, functions: Iterable[ToolFunction], services: Services) -> Toolbox:
        """Tools made in code, without a file."""
        toolbox = cls(services)
        for function in functions:
            toolbox._add(function.__name__, _read(function, ""))
        return toolbox

    async def call(self, name: str, arguments: Mapping[str, object]) -> Outcome:
        """Run a tool. Whatever goes wrong in it becomes a result; only the cancellation of the caller passes
        through."""
        began = time.perf_counter()
        loaded = self._loaded.get(name)
        if loaded is None:
            result = Result.error(f"unknown tool '{name}'. Available: {', '.join(sorted(self._loaded))}")
        elif loaded.tool.network and (reason := await self._offline()):
            result = Result.unavailable(f"{reason}, so {name} cannot use the network.")
        else:
            result = await self._run(loaded, arguments)
        return Outcome(name, result, (time.perf_counter() - began) * 1000)

    def disable(self, name: str, reason: str) -> None:
        """Take a tool (or a file or folder that gave none) out of use; `reason` is a sentence for people."""
        self._forget(name)
        log.warning("Disabled: %s", reason)
        self.disabled[tidy(name)] = tidy(reason)

    async def _offline(self) -> str:
        """Why no tool may use the network now, without a full stop; empty when they may."""
        try:
            return await self._services.offline.reason()
        except OSError as error:
            return str(error)

    async def _run(self, loaded: _Loaded, given: Mapping[str, object]) -> Result:
        """The call in a thread of its own: no code of a tool ever runs in the daemon's loop."""
        name, timeout = loaded.tool.name, loaded.tool.timeout
        stuck = sum(call.cancelled for call in loaded.running)
        if stuck >= STUCK_LIMIT:
            return Result.error(f"{name} is still stuck in {stuck} earlier calls.")
        own = OwnLoop()
        loaded.running.add(own)

        def done() -> None:
            loaded.running.discard(own)

        services, lent = _lend(self._services)
        try:
            async with asyncio.timeout(timeout):
                return await in_thread(lambda: _perform(loaded, given, services, own), f"tool {name}", done)
        except TimeoutError:
            return Result.error(f"{name} took longer than {timeout:g} s and was stopped.")
        except Exception as error:  # noqa: BLE001  # no more threads, or a fault that defied description
            return Result.error(f"{name} failed: {sentence(error)}")
        finally:
            for each in lent:
                each.take_back()
            own.cancel()

    def _load_file(self, path: Path, seen: dict[str, Path], seconds: float) -> None:
        stem = tidy(path.stem)
        if stem not in seen:
            self._forget(stem)
        log.debug("Loading %s", path)  # the last words, should the module end the process
        try:
            found = within(seconds, lambda: list(_survey(path)), f"load {stem}")
        except TimeoutError:
            self.disable(stem, f"{path} took longer than {seconds:g} s to load.")
            return
        except SkillError as error:
            self.disable(stem, str(error))
            return
        except RuntimeError as error:
            self.disable(stem, f"{path} cannot be loaded: {sentence(error)}")
            return
        if not found:
            self.disable(stem, f"{path} holds no function marked with @tool.")
        for name, loaded in found:
            if name in seen:
                self.disable(
                    str(path), f"{name} is already a tool of {seen[name]}; rename the one in {path}."
                )
                continue
            seen[name] = path
            self._forget(name)
            self._add(name, loaded)

    def _add(self, name: str, loaded: _Loaded | str) -> None:
        if isinstance(loaded, str):
            self.disable(name, loaded)
            return
        self.tools[name] = loaded.tool
        self._loaded[name] = loaded

    def _forget(self, name: str) -> None:
        self.tools.pop(name, None)
        self._loaded.pop(name, None)
        self.disabled.pop(name, None)


def handle_of(name: str) -> str:
    """The handle of a tool's name: `current_time` is `current-time`."""
    return name.replace("_", "-")


def _lend(services: Services) -> tuple[Services, list[Lent]]:
    """The services for one call of a tool, and what must be taken back from it."""
    home = asyncio.get_running_loop()
    lent = {each.name: Lent(getattr(services, each.name), home) for each in fields(services)}
    return replace(services, **lent), list(lent.values())


def _perform(loaded: _Loaded, given: Mapping[str, object], services: Services, own: OwnLoop) -> Result:
    """The call itself, in the tool's thread, where also its types convert, check and describe themselves."""
    name = loaded.tool.name
    try:
        arguments = loaded.form.arguments(given)
    except BaseException as error:  # noqa: BLE001  # a tool's fault is its result, whatever it raises
        return Result.error(f"{name} was not called: {sentence(error, TEXT_LIMIT)}")
    arguments |= dict.fromkeys(loaded.form.services, services)
    try:
        value: object = loaded.function(**arguments)
        if inspect.isawaitable(value):
            value = own.run(value)
    except asyncio.CancelledError:
        return Result.error(f"{name} gave up before it had a result.")
    except BaseException as error:  # noqa: BLE001  # as above
        _trace(f"{name} failed", error)
        return Result.error(f"{name} failed: {sentence(error)}")
    try:
        return checked(value)
    except BaseException as error:  # noqa: BLE001  # as above
        return Result.error(f"{name} is broken: {sentence(error)}")


def _describe(function: ToolFunction, form: Form, path: str) -> Tool:
    name = function.__name__
    declaration: Declaration = function.__muleteer_tool__  # type: ignore[attr-defined]  # set by @tool
    if not NAME.fullmatch(name):
        raise SkillError("a tool's name is made of a-z and 0-9, with single _ between.")
    if name in RESERVED:
        raise SkillError(f"the name {name} is reserved; choose another.")
    _check_words(function, form, declaration)
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


def _survey(path: Path) -> Iterator[tuple[str, _Loaded | str]]:
    """The tools of a module by name, or why one is not usable. Raises `SkillError` for all of them."""
    try:
        for function in _functions(_import(path)):
            yield function.__name__, _read(function, str(path))
    except SkillError:
        raise
    except Exception as error:  # objects of a module may fail when they are only looked at
        raise SkillError(f"{path} cannot be loaded: {sentence(error)}") from error


def _read(function: ToolFunction, path: str) -> _Loaded | str:
    """The tool that a function is, or the sentence why it is none."""
    try:
        form = read_form(function)
        return _Loaded(_describe(function, form, tidy(path)), form, function)
    except BaseException as error:  # noqa: BLE001  # annotations and defaults are code of the tool, too
        reason = str(error) if isinstance(error, SkillError) else sentence(error)
        return f"{function.__name__} in {path or 'the program'} is not usable: {reason}"


def _import(path: Path) -> ModuleType:
    """Run a module under a name of its own; no search path, no byte code on disk. Raises `SkillError`."""
    source = read_trusted(path, MODULE_LIMIT)
    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:8]
    module = ModuleType(f"muleteer_tools.{path.stem}_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # pydantic and dataclasses look annotations up there
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102  # loading code is the job
    except BaseException as error:  # whatever a module does, it disables only itself
        del sys.modules[module.__name__]
        _trace(f"{path} failed to load", error)
        raise SkillError(
            f"{path} cannot be loaded: {sentence(error)} {_line_in(path, error)}".rstrip()
        ) from error
    return module


def _functions(module: ModuleType) -> Iterator[ToolFunction]:
    for value in list(vars(module).values()):
        if (
            inspect.isfunction(value)
            and value.__module__ == module.__name__
            and hasattr(value, "__muleteer_tool__")
        ):
            yield value


def _line_in(path: Path, error: BaseException) -> str:
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return f"(line {lines[-1]})" if lines else ""


def _trace(what: str, error: BaseException) -> None:
    """Log a fault. It is put into words before, since the log is held locked while it writes."""
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s: %s", what, "".join(traceback.format_exception(error)))
