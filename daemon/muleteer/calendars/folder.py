"""The .ics files of one folder and those below it, read again only where they changed.

Knows limits of files and time; runs in one thread at a time. Little is kept of each file, and not its text.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from muleteer.calendars.blocks import cut
from muleteer.calendars.entries import Once, Series, entry
from muleteer.calendars.rules import DamagedError
from muleteer.calendars.zones import Zones, known
from muleteer.documents.folders import CROWDED, Listing, Stamp, list_below, open_below, shown
from muleteer.files import NOT_REGULAR, identity, read_whole

LARGEST_FILE = 32 << 20  # bytes; a calendar of twenty years exported whole is under 10 MB
MOST_FILES = 50_000  # of one folder; vdirsyncer writes one file an event
MOST_ENTRIES = 100_000  # of one folder; about 60 MB of memory
MOST_MISSED = 100  # of one folder, clauses about what cannot be looked at
DEEPEST = 6  # folders below the configured one; vdirsyncer needs one
UNKNOWN = Stamp(0, 0, 0)

_UID = re.compile(r"UID[^:]*:(.*)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Read:
    """One file as it was last read. `problem` is a clause for what could not be read of it, if anything."""

    stamp: Stamp
    entries: tuple[Once | Series, ...] = ()
    problem: str = ""
    unknown_zones: tuple[str, ...] = ()


@dataclass(slots=True)
class Folder:
    """`files` by path below it. `unread` is how many are known and not read yet, `too_many` whether more were
    found than may be read, `missed` a clause for each part that could not be looked at, `places` device and
    inode of each folder that holds files."""

    path: Path
    files: dict[str, Read] = field(default_factory=dict)
    unread: int = 0
    too_many: bool = False
    missed: list[str] = field(default_factory=list)
    places: dict[str, tuple[int, int] | None] = field(default_factory=dict)
    _emptied: set[str] = field(default_factory=set)  # of `places`, those that another, empty folder hides

    def refresh(self, deadline: float) -> None:
        """Read what is new or changed, newest first, until the deadline (monotonic seconds); the rest at the
        next call. Raises `OSError` when the folder cannot be read."""
        stamps = self._listed(deadline)
        for path in self.files.keys() - stamps.keys():
            del self.files[path]
        changed = [
            path
            for path, stamp in stamps.items()
            if path not in self.files or self.files[path].stamp != stamp
        ]
        changed.sort(key=lambda path: stamps[path].modified, reverse=True)
        count = sum(len(read.entries) for read in self.files.values())
        self.unread = len(changed)
        for path in changed:
            if time.monotonic() > deadline:
                break
            if count > MOST_ENTRIES:
                self.too_many = True
                break
            self.files[path] = read = read_file(self.path, path, stamps[path])
            count += len(read.entries)
            self.unread -= 1

    def _listed(self, deadline: float) -> dict[str, Stamp]:
        """Every .ics file below, links not followed. Sets `missed`, `too_many` and `places`."""
        found: dict[str, Stamp] = {}
        places: dict[str, tuple[int, int] | None] = {}
        self.too_many, self.missed = False, []
        pending = [""]
        while pending:
            folder = pending.pop()
            if len(found) >= MOST_FILES or time.monotonic() > deadline:
                self.too_many = True
                break
            path = self.path / folder
            try:
                places[folder] = identity(path)
                listing = list_below(self.path, folder)
            except OSError as error:
                if not folder:
                    raise
                if not isinstance(error, FileNotFoundError | NotADirectoryError):  # else it went away
                    self._miss(f"the folder {shown(str(path))} cannot be read ({error.strerror or error})")
                continue
            self._look_at(folder, listing, places)
            found |= {_joined(folder, name): stamp for name, stamp in listing.files.items() if _is_ics(name)}
            if folder.count("/") < DEEPEST - 1:
                pending += [_joined(folder, name) for name in listing.folders]
            elif listing.folders:
                self._miss(f"folders in {shown(str(path))} are too deep to be looked into")
        if len(found) > MOST_FILES:
            self.too_many = True
            found = dict(list(found.items())[:MOST_FILES])
        held = {""} | {place for path in found for place in _above(path)} if found else set()
        self.places = {place: places[place] for place in held} | {
            place: known for place, known in self.places.items() if place in self._emptied
        }
        return found

    def _look_at(self, folder: str, listing: Listing, places: dict[str, tuple[int, int] | None]) -> None:
        """Tell what of this folder cannot be looked at."""
        path = self.path / folder
        empty = not (listing.files or listing.folders or listing.others or listing.left_out)
        self._emptied.discard(folder)
        if empty and self.places.get(folder) not in (None, places[folder]):
            self._emptied.add(folder)
            self._miss(f"{shown(str(path))} is empty, where files were; its disk may not be mounted")
        for name in sorted(listing.unseen):
            self._miss(f"{shown(str(path / name))} cannot be read")
        if listing.left_out[CROWDED]:
            self.too_many = True
        for name in listing.others:
            if not (path / name).is_symlink():
                if _is_ics(name):
                    self._miss(f"{shown(name)} cannot be read ({NOT_REGULAR})")
            elif _leads_out(self.path, path / name):
                self._miss(f"{shown(str(path / name))} is a link, which is not followed")

    def _miss(self, clause: str) -> None:
        if len(self.missed) < MOST_MISSED:
            self.missed.append(clause)


def _is_ics(name: str) -> bool:
    return name.lower().endswith(".ics")


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _above(path: str) -> Iterator[str]:
    """The folders that a file is in."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def _leads_out(root: Path, link: Path) -> bool:
    """Whether a calendar or folder is at the end of a link that is not read below `root` anyway."""
    target, inside = os.path.realpath(link), os.path.realpath(root)
    if os.path.commonpath((target, inside)) == inside:
        return any(name.startswith(".") for name in Path(target).relative_to(inside).parts)
    return _is_ics(link.name) or os.path.isdir(target)


def read_file(root: Path, path: str, stamp: Stamp) -> Read:
    """The file at `path` below `root`. Never fails: what could not be read is its `problem`."""
    name = shown(path.rpartition("/")[2])
    try:
        with open_below(root, path) as file:
            content = read_whole(file, LARGEST_FILE)
    except OSError as error:
        return Read(stamp, problem=f"{name} cannot be read ({error.strerror or error})")
    return parsed(name, content, stamp)


def parsed(name: str, content: bytes, stamp: Stamp = UNKNOWN) -> Read:
    """The entries of a file's content; each event that makes no sense is left out and told."""
    pieces = cut(content)
    zones = Zones(pieces.zones)
    default_zone = known(pieces.default_zone)
    series: dict[str, list[list[str]]] = {}
    for number, lines in enumerate(pieces.events):
        found = next((match[1] for line in lines if (match := _UID.match(line))), "")
        series.setdefault(found.strip() or f"#{number}", []).append([zones.renamed(line) for line in lines])
    entries, damaged = list[Once | Series](), pieces.damaged
    why = "cut off in the middle" if damaged else ""
    for events in series.values():
        try:
            made = entry(events, default_zone)
        except DamagedError as error:
            damaged, why = damaged + 1, str(error)
            continue
        if made is not None:
            entries.append(made)
    if (
        not pieces.events
        and not damaged
        and b"BEGIN:VCALENDAR" not in content[:4096].upper().replace(b"\0", b"")
    ):
        return Read(stamp, problem=f"{name} is no calendar file")
    problem = (
        f"{damaged} of the entries in {name} {'is' if damaged == 1 else 'are'} damaged ({why})"
        if damaged
        else ""
    )
    return Read(stamp, tuple(entries), problem, tuple(sorted(zones.unknown)))
