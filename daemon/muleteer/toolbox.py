"""Load tool modules, and call tools: one call, one result, whatever the tool does.

Knows folders, declarations and deadlines; knows nothing of models, plans or prompts. One bad tool disables
itself alone, by name and with the reason. A later folder overrides an earlier one by name, even when its
version is broken: the user who replaced a tool must not get the old one back unasked.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import logging
import re
import sys
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from muleteer.errors import SkillError
from muleteer.schema import Form, read_form
from muleteer.threads import in_thread
from muleteer.tool import Declaration, Effect, Result, Services, ToolFunction
from muleteer.trust import check_folder, read_trusted

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)*")
RESERVED = frozenset({"reply", "call_tool"})  # the planner's and the follower's own words
MODULE_LIMIT = 1_000_000  # bytes of source; a tool is a page of code, not a program
STUCK_LIMIT = 4  # threads of one tool that outlived their deadline; more would pile up without end


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
    stuck: int = 0


class Toolbox:
    """All tools of this daemon. `tools` by name; `disabled` gives the reason for each that cannot be used, by
    tool name, file stem or folder."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._loaded: dict[str, _Loaded] = {}
        self.tools: dict[str, Tool] = {}
        self.disabled: dict[str, str] = {}

    @classmethod
    def load(cls, folders: Sequence[Path], services: Services) -> Toolbox:
        """Import every `*.py` of those folders that exist, except `_*.py`; later folders override by name."""
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
                toolbox._load_file(path, seen)
        return toolbox

    @classmethod
    def of(cls, functions: Iterable[ToolFunction], services: Services) -> Toolbox:
        """Tools made in code, without a file."""
        toolbox = cls(services)
        for function in functions:
            toolbox._add(function, "")
        return toolbox

    async def call(self, name: str, arguments: Mapping[str, object]) -> Outcome:
        """Run a tool. Whatever goes wrong in it becomes a result; only the cancellation of the caller passes
        through."""
        began = time.perf_counter()
        loaded = self._loaded.get(name)
        if loaded is None:
            result = Result.error(f"unknown tool '{name}'. Available: {', '.join(sorted(self._loaded))}")
        elif loaded.tool.network and self._services.offline:
            result = Result.unavailable(f"Offline mode is on, so {name} cannot use the network.")
        else:
            result = await self._run(loaded, arguments)
        return Outcome(name, result, (time.perf_counter() - began) * 1000)

    def disable(self, name: str, reason: str) -> None:
        """Take a tool (or a file or folder that gave none) out of use; `reason` is a sentence for people."""
        self._forget(name)
        log.warning("Disabled: %s", reason)
        self.disabled[name] = reason

    async def _run(self, loaded: _Loaded, given: Mapping[str, object]) -> Result:
        name, timeout = loaded.tool.name, loaded.tool.timeout
        try:
            arguments = loaded.form.arguments(given)
        except ValueError as error:
            return Result.error(f"{name} was not called: {error}.")
        arguments |= dict.fromkeys(loaded.form.services, self._services)
        deadline = asyncio.timeout(timeout)
        try:
            async with deadline:
                result = await self._invoke(loaded, arguments)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            return Result.error(f"{name} gave up before it had a result.")
        except (Exception, SystemExit) as error:  # a tool's fault is its result
            if deadline.expired():
                return Result.error(f"{name} took longer than {timeout:g} s and was stopped.")
            log.debug("%s failed", name, exc_info=error)
            return Result.error(f"{name} failed: {_sentence(error)}")
        if not isinstance(result, Result):
            return Result.error(f"{name} is broken: it returned {type(result).__name__} instead of a Result.")
        return result

    async def _invoke(self, loaded: _Loaded, arguments: dict[str, object]) -> object:
        if inspect.iscoroutinefunction(loaded.function):
            return await loaded.function(**arguments)
        if loaded.stuck >= STUCK_LIMIT:
            return Result.error(f"{loaded.tool.name} is still stuck in {loaded.stuck} earlier calls.")
        loaded.stuck += 1

        def done() -> None:
            loaded.stuck -= 1

        return await in_thread(lambda: loaded.function(**arguments), f"tool {loaded.tool.name}", done)

    def _load_file(self, path: Path, seen: dict[str, Path]) -> None:
        if path.stem not in seen:
            self._forget(path.stem)
        try:
            functions = list(_functions(_import(path)))
        except SkillError as error:
            self.disable(path.stem, str(error))
            return
        if not functions:
            self.disable(path.stem, f"{path} holds no function marked with @tool.")
        for function in functions:
            name = function.__name__
            if name in seen:
                self.disable(
                    str(path), f"{name} is already a tool of {seen[name]}; rename the one in {path}."
                )
                continue
            seen[name] = path
            self._forget(name)
            self._add(function, str(path))

    def _add(self, function: ToolFunction, path: str) -> None:
        name = function.__name__
        try:
            form = read_form(function)
            tool = _describe(function, form, path)
        except SkillError as error:
            self.disable(name, f"{name} in {path or 'the program'} is not usable: {error}")
            return
        self.tools[name] = tool
        self._loaded[name] = _Loaded(tool, form, function)

    def _forget(self, name: str) -> None:
        self.tools.pop(name, None)
        self._loaded.pop(name, None)
        self.disabled.pop(name, None)


def handle_of(name: str) -> str:
    """The handle of a tool's name: `current_time` is `current-time`."""
    return name.replace("_", "-")


def _describe(function: ToolFunction, form: Form, path: str) -> Tool:
    name = function.__name__
    declaration: Declaration = function.__muleteer_tool__  # type: ignore[attr-defined]  # set by @tool
    if not NAME.fullmatch(name):
        raise SkillError("a tool's name is made of a-z and 0-9, with single _ between.")
    if name in RESERVED:
        raise SkillError(f"the name {name} is reserved; choose another.")
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


def _import(path: Path) -> ModuleType:
    """Run a module under a name of its own; no search path, no byte code on disk. Raises `SkillError`."""
    source = read_trusted(path, MODULE_LIMIT)
    digest = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:8]
    module = ModuleType(f"muleteer_tools.{path.stem}_{digest}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module  # pydantic and dataclasses look annotations up there
    try:
        exec(compile(source, str(path), "exec"), module.__dict__)  # noqa: S102  # loading code is the job
    except (Exception, SystemExit) as error:  # whatever a module does, it disables only itself
        del sys.modules[module.__name__]
        log.debug("%s failed to load", path, exc_info=error)
        raise SkillError(
            f"{path} cannot be loaded: {_sentence(error)} {_line_in(path, error)}".rstrip()
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


def _sentence(error: BaseException) -> str:
    """One line about an exception: its own words where it has some, at most 200 characters."""
    words = " ".join(str(error).split())
    if isinstance(error, SystemExit):
        words = "it tried to end the program"
    elif not isinstance(error, (OSError, ValueError)) or not words:
        words = f"{type(error).__name__}: {words}".rstrip(": ")
    clipped = words if len(words) <= 200 else words[:199] + "\N{HORIZONTAL ELLIPSIS}"
    return clipped if clipped.endswith((".", "!", "?", "\N{HORIZONTAL ELLIPSIS}")) else clipped + "."
