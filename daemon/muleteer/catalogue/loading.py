"""From files and installed packages to tools: what there is, where it comes from, and why something is none.

Knows folders, modules and entry points; knows nothing of calls. One bad tool disables itself alone, by name
and with the reason. A later folder overrides an earlier one by name, even when its version is broken: the
user who replaced a tool must not get the old one back unasked. A file that is read again and got worse keeps
the last version that was good.
"""

from __future__ import annotations

import hashlib
import inspect
import logging
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType

from muleteer.calling.results import sentence, tidy
from muleteer.calling.threads import within
from muleteer.catalogue.declared import Loaded, read_tool
from muleteer.catalogue.shelf import Shelf
from muleteer.catalogue.trust import check_folder, read_trusted
from muleteer.errors import SkillError
from muleteer.paths import origin_of
from muleteer.tool import ToolFunction

log = logging.getLogger(__name__)

GROUP = "muleteer.tools"  # entry points of packages: a module, or one function
MODULE_LIMIT = 1_000_000  # bytes of source; a tool is a page of code, not a program
LOAD_LIMIT = 20.0  # seconds for one module; importing a large library from a slow card takes a few


@dataclass(slots=True)
class _Module:
    """What a file or entry point gave: tools and faults by name. `digest` is of the newest version."""

    digest: bytes = b""
    tools: dict[str, Loaded] = field(default_factory=dict)
    faults: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)


class Library:
    """The tools of `folders` and, with `packages`, of installed packages. A file is run again only when it
    has changed, a package never. A module that takes longer than `seconds` is disabled, and its thread left
    behind."""

    def __init__(
        self, folders: Sequence[Path], *, packages: bool = False, seconds: float = LOAD_LIMIT
    ) -> None:
        self._folders, self._seconds = folders, seconds
        self._files: dict[Path, _Module] = {}
        self._packages: list[tuple[EntryPoint, _Module]] | None = None if packages else []

    def read(self) -> Shelf[Loaded]:
        """Everything as it is now: each `*.py` but `_*.py`, later folders overriding by name; then packages,
        which override nothing."""
        shelf = Shelf[Loaded]()
        files: dict[Path, _Module] = {}
        for folder in filter(Path.is_dir, self._folders):
            origin = origin_of(folder)
            try:
                check_folder(folder)
            except SkillError as error:
                shelf.refuse(str(folder), str(error), origin)
                continue
            taken: dict[str, Path] = {}
            for path in sorted(folder.glob("[!_]*.py")):
                files[path] = self._file(path)
                _put_file(shelf, path, files[path], taken, origin)
        self._files = files
        if self._packages is None:
            self._packages = [(each, self._package(each)) for each in entry_points(group=GROUP)]
        for entry, module in self._packages:
            _put_package(shelf, entry, module)
        return shelf

    def _file(self, path: Path) -> _Module:
        """The newest version, or as much of it as is good and the rest of the one before."""
        old = self._files.get(path, _Module())
        stem = tidy(path.stem)
        try:
            source = read_trusted(path, MODULE_LIMIT)
        except SkillError as error:
            return _kept(_Module(str(error).encode(), faults={stem: str(error)}), old, stem)
        digest = hashlib.sha256(source).digest()
        if digest == old.digest:
            return old
        log.debug("Loading %s", path)  # the last words, should the module end the process
        new = self._survey(lambda: _functions(_run(path, source)), stem, str(path))
        new.digest = digest
        return _kept(new, old, stem)

    def _package(self, entry: EntryPoint) -> _Module:
        log.debug("Loading %s", _package_of(entry))
        return self._survey(lambda: _exported(entry), tidy(entry.name), _package_of(entry))

    def _survey(self, functions: Callable[[], Iterator[ToolFunction]], name: str, where: str) -> _Module:
        """The tools among the functions; whatever goes wrong is a fault. `name` stands for all of them."""

        def survey() -> list[tuple[str, Loaded | str]]:
            return [(each.__name__, read_tool(each, where)) for each in functions()]

        module = _Module()
        try:
            found = within(self._seconds, survey, f"load {name}")
        except TimeoutError:
            module.faults[name] = f"{where} took longer than {self._seconds:g} s to load."
        except SkillError as error:
            module.faults[name] = str(error)
        except Exception as error:  # noqa: BLE001  # objects of a module may fail when they are only looked at
            module.faults[name] = f"{where} cannot be loaded: {sentence(error)}"
        else:
            module.tools = {each: loaded for each, loaded in found if not isinstance(loaded, str)}
            module.faults = {each: reason for each, reason in found if isinstance(reason, str)}
            if not found:
                module.faults[name] = f"{where} holds no function marked with @tool."
        return module


def _kept(new: _Module, old: _Module, stem: str) -> _Module:
    """`new`, with the last good version of whatever is broken in it."""
    whole = not new.tools and set(new.faults) == {stem}
    broken = dict.fromkeys(old.tools, new.faults[stem]) if whole else dict(new.faults)
    for name, reason in broken.items():
        if name in old.tools and name not in new.tools:
            new.tools[name], new.stale[name] = old.tools[name], reason
            new.faults.pop(name, None)
    if new.tools and whole:
        new.faults.clear()
    return new


def _put_file(shelf: Shelf[Loaded], path: Path, module: _Module, taken: dict[str, Path], origin: str) -> None:
    """`taken` are the names that earlier files of this folder gave."""
    stem = tidy(path.stem)
    if stem not in taken:
        shelf.forget(stem)
    for name, reason in module.faults.items():
        shelf.refuse(name, reason, origin)
    for name, loaded in module.tools.items():
        if name in taken:
            reason = f"{name} is already a tool of {taken[name]}; rename the one in {path}."
            shelf.refuse(str(path), reason, origin)
            continue
        taken[name] = path
        shelf.put(name, loaded, origin)
        if name in module.stale:
            shelf.stale[name] = module.stale[name]


def _put_package(shelf: Shelf[Loaded], entry: EntryPoint, module: _Module) -> None:
    """A package that somebody installed for another reason must not replace what is there."""
    package = _package_of(entry)
    for name, loaded in module.tools.items():
        if name in shelf.things or name in shelf.disabled:
            reason = (
                f"{name} of {package} was not loaded: there is a tool of this name ({shelf.origins[name]})."
            )
            shelf.refuse(f"{name} ({package})", reason, package)
        else:
            shelf.put(name, loaded, package)
    for name, reason in module.faults.items():
        taken = name in shelf.things or name in shelf.disabled
        shelf.refuse(f"{name} ({package})" if taken else name, reason, package)


def _package_of(entry: EntryPoint) -> str:
    return f"package {entry.dist.name} {entry.dist.version}" if entry.dist else f"package of {entry.value}"


def _exported(entry: EntryPoint) -> Iterator[ToolFunction]:
    """The one function that an entry point names, or those of its module. Raises `SkillError`."""
    where = _package_of(entry)
    try:
        found = entry.load()
    except BaseException as error:  # whatever a module does, it disables only itself
        _trace(f"{where} failed to load", error)
        raise SkillError(f"{where} cannot be loaded: {sentence(error)}") from error
    if isinstance(found, ModuleType):
        yield from _functions(found)
    elif inspect.isfunction(found) and hasattr(found, "__muleteer_tool__"):
        yield found


def _run(path: Path, source: bytes) -> ModuleType:
    """Run a module under a name of its own; no search path, no byte code on disk. Raises `SkillError`."""
    digest = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:8]
    module = ModuleType(f"muleteer_tools.{path.stem}_{digest}")
    module.__file__ = str(path)
    before = sys.modules.get(module.__name__)
    sys.modules[module.__name__] = module  # pydantic and dataclasses look annotations up there
    try:
        exec(compile(source, path, "exec"), module.__dict__)  # noqa: S102  # loading code is the job
    except BaseException as error:  # whatever a module does, it disables only itself
        del sys.modules[module.__name__]
        if before is not None:
            sys.modules[module.__name__] = before
        _trace(f"{path} failed to load", error)
        raise SkillError(f"{path} cannot be loaded: {_sentence(path, error)}") from error
    return module


def _functions(module: ModuleType) -> Iterator[ToolFunction]:
    """Those that the module, or one inside its package, marks with `@tool`."""
    for value in list(vars(module).values()):
        if inspect.isfunction(value) and hasattr(value, "__muleteer_tool__"):
            home = value.__module__
            if home == module.__name__ or home.startswith(f"{module.__name__}."):
                yield value


def _sentence(path: Path, error: BaseException) -> str:
    """The fault and its line; the path is said already."""
    if isinstance(error, SyntaxError):
        return f"{error.msg}. (line {error.lineno})"
    lines = [
        frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)
    ]
    return sentence(error) + (f" (line {lines[-1]})" if lines else "")


def _trace(what: str, error: BaseException) -> None:
    """Log a fault. It is put into words before, since the log is held locked while it writes."""
    if log.isEnabledFor(logging.DEBUG):
        log.debug("%s: %s", what, "".join(traceback.format_exception(error)))
