"""What is on, from all the configured folders: in a thread, within a time limit, never silently in part."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from muleteer.calendars.entries import Once, Series
from muleteer.calendars.folder import Folder
from muleteer.calendars.rules import DamagedError
from muleteer.calling import threads
from muleteer.services import Agenda, Appointment
from muleteer.store.matching import keywords, meanings
from muleteer.when.words import listed

log = logging.getLogger(__name__)

NO_CALENDAR = "no folder is set up for it; `calendar.folders` in the settings names one."
LOOK_SECONDS = 7.0  # for one look: a tool has twenty and may look twice; the next look reads on
HANG_SECONDS = 15.0  # then the folder counts as one that does not answer, such as a lost network drive
SLOW_SECONDS = 2.0  # for one series; a usual one takes milliseconds
MOST_SLOW = 1_000  # series that are remembered as such
MOST_FOUND = 100  # entries that are given; more are counted
MOST_CLAUSES = 3  # of what could not be checked; more are counted
# Words of a question about appointments that no title holds.
ABOUT = listed("appointment appointments event events meeting termin termine calendar kalender next cita")


class FolderCalendars:
    """Implements `services.Calendars` over folders of .ics files."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self.take_up(folders)
        self._free = asyncio.Lock()
        self._slow: set[Once | Series] = set()

    def take_up(self, folders: Sequence[Path]) -> None:
        """Read these folders from the next look on."""
        self._folders = [Folder(path) for path in folders]

    async def look(self, start: datetime, end: datetime, query: str = "") -> Agenda:
        """Raises `OSError` when there is no folder, none can be read, or none in time."""
        if not self._folders:
            raise OSError(NO_CALENDAR)
        try:
            async with asyncio.timeout(HANG_SECONDS):
                await self._free.acquire()
                return await threads.in_thread(
                    lambda: self._look(start, end, query), "calendars", self._free.release
                )
        except TimeoutError:
            raise OSError("the calendar folders do not answer in time.") from None

    def _look(self, start: datetime, end: datetime, query: str) -> Agenda:
        deadline = time.monotonic() + LOOK_SECONDS
        unchecked = self._refresh(deadline)
        entries = [
            entry for folder in self._folders for file in folder.files.values() for entry in file.entries
        ]
        found: dict[tuple[str, datetime, datetime], Appointment] = {}
        for number, entry in enumerate(about(entries, query)):
            if time.monotonic() > deadline + LOOK_SECONDS / 4:
                unchecked.append(f"{len(entries) - number} entries for lack of time")
                break
            try:
                for each in self._times(entry, start, end):  # the same one may be in two calendars
                    found.setdefault((each.title, each.start, each.end), each)
            except DamagedError as error:
                unchecked.append(f"a repeating entry ({error})")
        ordered = sorted(
            found.values(), key=lambda each: (each.start, not each.whole_days, each.end, each.title)
        )
        return Agenda(tuple(ordered[:MOST_FOUND]), max(0, len(ordered) - MOST_FOUND), _few(unchecked))

    def _times(self, entry: Once | Series, start: datetime, end: datetime) -> list[Appointment]:
        """As `between` gives them; what once took too long is not tried again. Raises `DamagedError`."""
        if entry in self._slow:
            raise DamagedError("it takes too long to follow")
        began = time.monotonic()
        try:
            return entry.between(start, end)
        finally:
            if time.monotonic() - began > SLOW_SECONDS and len(self._slow) < MOST_SLOW:
                self._slow.add(entry)

    def _refresh(self, deadline: float) -> list[str]:
        """Read what changed. Returns a clause for each part that could not be read. Raises `OSError` when
        that is every folder."""
        unchecked, failures = list[str](), list[OSError]()
        for folder in self._folders:
            try:
                folder.refresh(deadline)
            except OSError as error:
                folder.files.clear()
                failures.append(error)
                unchecked.append(f"the folder {folder.path} cannot be read ({error.strerror or error})")
                continue
            if folder.unread:
                unchecked.append(f"{folder.unread:,} files in {folder.path.name} are not read yet")
            elif folder.too_many:
                unchecked.append(f"{folder.path.name} has more files or entries than can be read")
            unchecked += folder.missed
            unchecked += [file.problem for file in folder.files.values() if file.problem]
            zones = sorted({zone for file in folder.files.values() for zone in file.unknown_zones})
            unchecked += [f'the time zone "{zone}" is unknown and was taken as local time' for zone in zones]
        if len(failures) == len(self._folders):
            raise OSError(f"{unchecked[0]}.")
        for clause in unchecked:
            log.debug("Calendars: %s.", clause)
        return unchecked


def about(entries: Sequence[Once | Series], query: str) -> Iterable[Once | Series]:
    """The entries that hold every word of the query, or a word that is nearly it; all for an empty query."""
    words = [word for word in keywords(query) if word not in ABOUT]
    if not words:
        return entries
    held = [(entry, frozenset(_words(entry.searchable))) for entry in entries]
    vocabulary = frozenset(word for _, own in held for word in own)
    wanted = [frozenset(meanings(word, vocabulary)[0]) for word in words]
    return [entry for entry, own in held if all(own & terms for terms in wanted)]


def _words(text: str) -> list[str]:
    return ["".join(sign for sign in word if sign.isalnum()) for word in text.split()]


def _few(clauses: list[str]) -> tuple[str, ...]:
    clauses = list(dict.fromkeys(clauses))
    rest = len(clauses) - MOST_CLAUSES
    return (*clauses[:MOST_CLAUSES], *([f"{rest} more parts"] if rest > 0 else []))
