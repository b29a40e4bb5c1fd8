"""What this device can do, as it is on disk and as the user wants it, gathered into a catalogue.

Knows where skills and tools come from, and the file of the user's wishes. Its methods read files and run the
code of tools: they are for threads, one at a time. Does not know who watches, or what a catalogue is for.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from muleteer.catalogue.declared import NAME, RESERVED, Loaded, handle_of, name_of
from muleteer.catalogue.loading import Library
from muleteer.catalogue.offering import names_of
from muleteer.catalogue.shelf import OFF, Shelf
from muleteer.catalogue.skill_files import NAME as HANDLE
from muleteer.catalogue.skill_files import SkillLibrary
from muleteer.catalogue.steering import HANDLE_LIMIT, KINDS, Kind, Wishes, read_steering, write_steering
from muleteer.errors import RequestError, StorageError
from muleteer.services import Services
from muleteer.skills import Catalogue, Skill, build_catalogue
from muleteer.toolbox import Toolbox

FILE_NAME = "steering.json"


class Stock:
    """`state` is the folder of the file of wishes. Raises `ConfigError` when that is damaged."""

    def __init__(self, skills: SkillLibrary, tools: Library, services: Services, state: Path) -> None:
        self._skills, self._tools, self._services = skills, tools, services
        self._path = state / FILE_NAME
        self._steering = read_steering(self._path)
        self._offered: dict[str, tuple[tuple[Loaded, ...], Mapping[str, str]]] = {}
        self._known: object = None
        self._good: dict[str, Skill] = {}  # by name on disk, as last used

    def offer(
        self, origin: str, tools: Iterable[Loaded], refused: Mapping[str, str] = MappingProxyType({})
    ) -> None:
        """Tools from elsewhere, such as a server, instead of those that the same origin offered before; they
        never take the name of another tool. `refused` are the reasons against others, by name."""
        self._offered[origin] = tuple(tools), refused

    def take(self) -> Catalogue | None:
        """The catalogue of what is there now; None when that is what the last one was made of."""
        skills, tools = self._skills.read(), self._tools.read()
        self._put_offered(skills, tools)
        offered = names_of(tools.things.values(), self._services)
        known = self._steering, _copied(skills), _copied(tools), offered
        if known == self._known:
            return None
        self._known = known
        wishes = self._steering.tools
        names = {name_of(old): name_of(new) for old, new in wishes.names.items()}
        tools.rename(names, Loaded.named)
        tools.turn_off(map(name_of, wishes.off), names, "tools")
        return self._built(skills, Toolbox(self._services, tools))

    def _built(self, skills: Shelf[Skill], toolbox: Toolbox) -> Catalogue:
        """A catalogue in which a skill whose newest version leads nowhere keeps the last one that did not."""
        used = dict(skills.things)
        catalogue = build_catalogue(_fresh(skills), toolbox, self._steering)
        shown = self._steering.skills.shown
        worse = {
            name: reason
            for name, skill in used.items()
            if (reason := catalogue.disabled.get(shown(name), "")) and not reason.startswith(OFF)
            if self._good.get(name, skill) != skill
        }
        while worse:
            older = _fresh(skills)
            older.things |= {name: self._good[name] for name in worse}
            older.stale |= worse
            catalogue = build_catalogue(older, toolbox, self._steering)
            if not (lost := [name for name in worse if shown(name) not in catalogue.skills]):
                break
            for name in lost:  # nor does the older version lead anywhere any more
                del worse[name]
            catalogue = build_catalogue(_fresh(skills), toolbox, self._steering)
        used |= {name: self._good[name] for name in worse}
        self._good = {name: skill for name, skill in used.items() if shown(name) in catalogue.skills}
        return catalogue

    def _put_offered(self, skills: Shelf[Any], tools: Shelf[Loaded]) -> None:
        """Whoever offers chose the names, and must not put what the user has out of use by one."""
        wishes = self._steering.skills.names, self._steering.tools.names
        taken = {*skills.things, *skills.disabled, *(new for names in wishes for new in names.values())}
        for origin, (offered, refused) in list(self._offered.items()):
            for each in offered:
                name = each.tool.name
                if name in tools.things or name in tools.disabled or each.tool.handle in taken:
                    reason = f"{name} of the {origin} has the name of a skill or tool that is there already."
                    tools.refuse(f"{origin}: {name}", reason, origin)
                else:
                    tools.put(name, each, origin)
            for name, reason in refused.items():
                tools.refuse(name, reason, origin)

    def switch(self, catalogue: Catalogue, kind: Kind, handle: str, on: bool) -> str:
        """Turn a skill or tool on or off, for good; its handle. Raises `RequestError` when the catalogue has
        none of this handle, `StorageError` when it cannot be kept."""
        wishes = self._steering.of(kind)
        old = _on_disk(catalogue, kind, wishes, handle)
        self._keep(kind, wishes.switched(old, on))
        return wishes.shown(old)

    def rename(self, catalogue: Catalogue, kind: Kind, handle: str, new: str) -> str:
        """Give a skill or tool another name, for good; that handle. Raises as `switch`, also for a name that
        cannot be."""
        wishes = self._steering.of(kind)
        old, new = _on_disk(catalogue, kind, wishes, handle), _handle(new)
        if len(new) > HANDLE_LIMIT or not HANDLE.fullmatch(new) or name_of(new) in RESERVED:
            raise RequestError(
                f"'{new[:HANDLE_LIMIT]}' cannot be a name; use a-z, 0-9 and '-', at most {HANDLE_LIMIT} "
                "characters, and none of Muleteer's own words."
            )
        self._check_free(catalogue, kind, wishes.shown(old), old, new)
        self._keep(kind, wishes.renamed(old, new))
        return new

    def _check_free(self, catalogue: Catalogue, kind: Kind, shown: str, old: str, new: str) -> None:
        """With a name that something has, or has on disk, a mention would mean two things."""
        if new in (shown, old):
            return
        for other in KINDS:
            if new in _handles(catalogue, other):
                word = other.removesuffix("s")
                raise RequestError(f"@{new} is a {word} already; choose another name for @{shown}.")
        for each in (self._steering.skills, self._steering.tools):
            if new in each.names:
                raise RequestError(
                    f"@{new} is what @{each.names[new]} is called on disk; choose another name for @{shown}."
                )

    def _keep(self, kind: Kind, wishes: Wishes) -> None:
        steering = self._steering.having(kind, wishes)
        try:
            write_steering(self._path, steering)
        except OSError as error:
            raise StorageError(
                f"{self._path} cannot be written ({error.strerror or error}), so nothing has changed."
            ) from error
        self._steering = steering


def _fresh(shelf: Shelf[Skill]) -> Shelf[Skill]:
    """The same, for building a catalogue of it."""
    return Shelf(dict(shelf.things), dict(shelf.disabled), dict(shelf.stale), dict(shelf.origins))


def _copied(shelf: Shelf[Any]) -> tuple[Mapping[str, object], ...]:
    """What lies on it now; it will be steered."""
    return dict(shelf.things), dict(shelf.disabled), dict(shelf.stale), dict(shelf.origins)


def _handles(catalogue: Catalogue, kind: Kind) -> set[str]:
    """Every handle of the kind, enabled or not; files and folders that gave none have none."""
    if kind == "skills":
        return {name for name in (*catalogue.skills, *catalogue.disabled) if HANDLE.fullmatch(name)}
    toolbox = catalogue.toolbox
    return {handle_of(name) for name in (*toolbox.tools, *toolbox.disabled) if NAME.fullmatch(name)}


def _on_disk(catalogue: Catalogue, kind: Kind, wishes: Wishes, given: str) -> str:
    """The handle on disk of what the user means: by its present name, or by the one that it had."""
    handle, handles = _handle(given), _handles(catalogue, kind)
    if handle in handles:
        were, tools = catalogue.were, catalogue.toolbox.were
        return were.get(handle, handle) if kind == "skills" else handle_of(tools.get(name_of(handle), handle))
    if wishes.shown(handle) in handles:
        return handle
    near = difflib.get_close_matches(handle, sorted(handles), n=3)
    hint = f" (near: {', '.join('@' + name for name in near)})" if near else ""
    raise RequestError(
        f"There is no {kind.removesuffix('s')} @{handle[:HANDLE_LIMIT]}{hint}; `muleteer {kind}` lists them."
    )


def _handle(given: str) -> str:
    """As people write it: with an @, or as the name of the tool."""
    return handle_of(given.strip().removeprefix("@"))
