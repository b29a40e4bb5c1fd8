"""Handles in what a free brain writes: those that there are, and those that there are not. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass

from muleteer.catalogue.skill_files import MENTION


@dataclass(frozen=True, slots=True)
class Named:
    """The handles that a text names, each once, in order; `unknown` as they were written."""

    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def named(text: str, handles: Collection[str]) -> Named:
    """What stands after an @. Form is repaired where that leaves one handle: case, "_" for "-". A name that
    is only near to a handle is unknown: which is meant is not guessed."""
    known: dict[str, None] = {}
    unknown: dict[str, None] = {}
    for match in MENTION.finditer(text):
        if (handle := _same(match[1], handles)) is not None:
            known[handle] = None
        else:
            unknown[match[1]] = None
    return Named(tuple(known), tuple(unknown))


def narrated(text: str, handles: Collection[str]) -> tuple[str, ...]:
    """The handles that a prose speaks of: after an @, or as a word that can be nothing else, since it has a
    hyphen or stands in backticks. "Remember the milk" names nothing."""
    found = dict.fromkeys(named(text, handles).known)
    for handle in handles:
        form = re.escape(handle).replace(r"\-", "[-_]")
        bare = rf"(?<![\w@/.-]){form}(?![\w/]|-\w|\.\w)" if "-" in handle else rf"`@?{form}`"
        if re.search(bare, text, re.IGNORECASE):
            found[handle] = None
    return tuple(found)


def _same(written: str, handles: Collection[str]) -> str | None:
    if written in handles:
        return written
    alike = [handle for handle in handles if handle == written.casefold().replace("_", "-").strip("-")]
    return alike[0] if len(alike) == 1 else None
