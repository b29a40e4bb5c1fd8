"""What was found under each name: things that can be used, and why the others cannot.

Knows names and reasons; not what the things are. Filled anew at each reading, then steered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from muleteer.calling.results import tidy

T = TypeVar("T")

OFF = "Turned off"  # how the reason begins of what the user does not want; no fault, and not in the log


@dataclass(slots=True)
class Shelf(Generic[T]):
    """Things by name. `disabled` gives the reason for each that cannot be used, by its name or that of the
    file, folder or entry point; `stale` the reason why a thing's newest version is not the one that is used;
    `origins` where each of both came from; `were` the name on disk of what was renamed."""

    things: dict[str, T] = field(default_factory=dict)
    disabled: dict[str, str] = field(default_factory=dict)
    stale: dict[str, str] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    were: dict[str, str] = field(default_factory=dict)

    def put(self, name: str, thing: T, origin: str) -> None:
        """Instead of what had the name."""
        self.forget(name)
        self.things[name], self.origins[name] = thing, origin

    def refuse(self, name: str, reason: str, origin: str) -> None:
        """Instead of what had the name."""
        name = tidy(name)
        self.forget(name)
        self.disabled[name], self.origins[name] = tidy(reason), origin

    def forget(self, name: str) -> None:
        for each in (self.things, self.disabled, self.stale, self.origins, self.were):
            each.pop(name, None)

    def rename(self, names: Mapping[str, str], renamed: Callable[[T, str], T]) -> None:
        """Give each thing its new name at the same time; `renamed` makes the thing that has it. One whose new
        name is taken is disabled under its old one."""
        moving = {old: self.things.pop(old) for old in names if old in self.things}
        for old, new in names.items():
            if old in self.disabled and new not in self.things:
                self.disabled[new] = self.disabled.pop(old)
                self.origins[new], self.were[new] = self.origins.pop(old), old
        for old, thing in moving.items():
            new, origin, stale = names[old], self.origins.pop(old), self.stale.pop(old, None)
            if new in self.things or new in self.disabled:
                reason = f"{old} was renamed {new}, which {self.origins[new]} has, too; rename one of them."
                self.refuse(old, reason, origin)
                continue
            self.put(new, renamed(thing, new), origin)
            self.were[new] = old
            if stale:
                self.stale[new] = stale

    def turn_off(self, names: Iterable[str], renamed: Mapping[str, str], kind: str) -> None:
        """Disable what the user does not want, by name on disk; `kind` is the command that brings it back."""
        for each in names:
            new = renamed.get(each, each)
            name = new if self.were.get(new) == each else each
            mine = self.were.get(name, each) == each
            if mine and (name in self.things or name in self.disabled):
                shown = name.replace("_", "-")
                reason = f"{OFF}; `muleteer {kind} enable {shown}` brings it back."
                was = self.were.get(name)
                self.refuse(name, reason, self.origins[name])
                if was:
                    self.were[name] = was
