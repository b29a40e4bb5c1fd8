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
from muleteer.files import open_regular, read_whole

LARGEST_FILE = 32 << 20  # bytes; a calendar of twenty years exported whole is under 10 MB
MOST_FILES = 50_000  # of one folder; vdirsyncer writes one file an event
MOST_ENTRIES = 100_000  # of one folder; about 60 MB of memory
DEEPEST = 6  # folders below the configured one; vdirsyncer needs one

_UID = re.compile(r"UID[^:]*:(.*)", re.IGNORECASE)
Stamp = tuple[int, int, int]  # modification time in nanoseconds, size, inode


@dataclass(frozen=True, slots=True)
class Read:
    """One file as it was last read. `problem` is a clause for what could not be read of it, if anything."""

    stamp: Stamp
    entries: tuple[Once | Series, ...] = ()
    problem: str = ""
    unknown_zones: tuple[str, ...] = ()


@dataclass(slots=True)
class Folder:
    """`files` by path. `unread` is how many are known and not read yet, `too_many` whether more were found
    than may be read."""

    path: Path
    files: dict[str, Read] = field(default_factory=dict)
    unread: int = 0
    too_many: bool = False

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
        changed.sort(key=lambda path: stamps[path], reverse=True)
        count = sum(len(read.entries) for read in self.files.values())
        self.unread = len(changed)
        for path in changed:
            if time.monotonic() > deadline:
                break
            if count > MOST_ENTRIES:
                self.too_many = True
                break
            self.files[path] = read = read_file(Path(path), stamps[path])
            count += len(read.entries)
            self.unread -= 1

    def _listed(self, deadline: float) -> dict[str, Stamp]:
        found: dict[str, Stamp] = {}
        self.too_many = False
        os.scandir(self.path).close()  # the folder itself must be readable; one below it may be missed
        for path, stamp in _walk(str(self.path), DEEPEST):
            if len(found) >= MOST_FILES or time.monotonic() > deadline:
                self.too_many = True
                break
            found[path] = stamp
        return found


def _walk(folder: str, depth: int) -> Iterator[tuple[str, Stamp]]:
    """Every .ics file below, links to folders not followed."""
    try:
        with os.scandir(folder) as listing:
            inside = list(listing)
    except OSError:  # a folder that went away meanwhile, or that is somebody else's
        return
    for each in inside:
        if each.name.startswith("."):
            continue
        try:
            if each.is_dir(follow_symlinks=False):
                if depth:
                    yield from _walk(each.path, depth - 1)
            elif each.name.lower().endswith(".ics"):
                status = each.stat()
                yield each.path, (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:  # it went away meanwhile, or is a broken link
            continue


def read_file(path: Path, stamp: Stamp) -> Read:
    """One file. Never fails: what could not be read is its `problem`."""
    try:
        with open_regular(path) as file:
            content = read_whole(file, LARGEST_FILE)
    except OSError as error:
        return Read(stamp, problem=f"{path.name} cannot be read ({error.strerror or error})")
    return parsed(path.name, content, stamp)


def parsed(name: str, content: bytes, stamp: Stamp = (0, 0, 0)) -> Read:
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
