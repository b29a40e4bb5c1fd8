"""What the daemon lends to a tool: the services, as protocols, and the values they deal in.

Knows shapes only. Who implements them, and on what, is `household.py`'s business. Every method is a
coroutine, since it runs in the daemon's loop while the tool waits in its own (`calling/lending.py`), and
raises `OSError` when it cannot look or cannot keep.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Note:
    """One remembered note; `when` is timezone-aware, `match` the share of the searched words it holds.
    `session` and `device` say where it was written, `number` is its own for good."""

    text: str
    when: datetime
    match: float = 1.0
    page: str = ""
    session: str = ""
    device: str = ""
    number: int = 0


class Notebook(Protocol):
    """The user's notes, on pages by topic or person. `add` returns only after the note is on disk; without a
    page it chooses one. `search` returns best first; an empty query returns the newest."""

    async def add(self, text: str, page: str = "") -> Note: ...
    async def search(self, query: str, limit: int = 8) -> list[Note]: ...


@dataclass(frozen=True, slots=True)
class PastTurn:
    """What was said and answered once; fields as in `Note`. `found`: whether the answer held something, and
    was not that nothing could be found or done."""

    message: str
    answer: str
    when: datetime
    match: float = 1.0
    session: str = ""
    device: str = ""
    number: int = 0
    found: bool = True


class Memory(Protocol):
    """Past turns. `search` returns best first, the newest for an empty query; `when` names the time they were
    finished in, in words ("last week"). It raises `ValueError` with a sentence for words that name none."""

    async def search(self, query: str, limit: int = 8, when: str = "") -> list[PastTurn]: ...


class Offline(Protocol):
    """Whether tools may use the network: `reason` says why not, and is empty when they may."""

    async def reason(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Page:
    """The text of what a web address gave. `url` is where it was found in the end, `cut` whether there is
    more than was read."""

    url: str
    title: str
    text: str
    cut: bool = False


class Web(Protocol):
    """The web. `get` raises `ValueError` when the address or what is there can never be read,
    `FileNotFoundError` when the server has no such page, any other `OSError` when it could not look."""

    async def get(self, url: str) -> Page: ...


@dataclass(frozen=True, slots=True)
class Reading:
    """What a sensor measured, or a switch's state, now: `text` as it is said ("21.5 °C", "on"), `value` for
    programs. Without one, `problem` is a clause that says why, and `answered` whether the device did."""

    name: str
    text: str = ""
    value: float | str | None = None
    unit: str = ""
    problem: str = ""
    answered: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What became of an order. `sent`: the device was told, at least in part. `answer`: what it said to that
    (a switch: "on" or "off"). `problem`: a clause that says why that is not what was wanted."""

    name: str
    sent: bool
    answer: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Port:
    """A serial port of this device. `usb` is vendor:product:serial as the settings want it, if it is USB;
    `devices` are those of the settings that are plugged in there."""

    path: str
    description: str = ""
    usb: str = ""
    devices: tuple[str, ...] = ()


class Naming(Protocol):
    """A service whose things have names that a schema may offer (`catalogue/offering.py`)."""

    def names(self, kind: str) -> tuple[str, ...]: ...


class Serial(Protocol):
    """The devices at serial ports. A kind of names is `readings`, `switches`, `devices` or `receivers` (those
    that take any text). `find` gives the names that somebody may mean; for readings also near ones, and all
    of a kind for nothing. `switch` raises `OSError` only as long as nothing was sent, `send` as long as not
    all was."""

    async def find(self, kind: str, said: str) -> list[str]: ...
    async def read(self, names: Sequence[str]) -> list[Reading]: ...
    async def switch(self, name: str, on: bool) -> Told: ...
    async def send(self, device: str, text: str) -> Told: ...
    async def ports(self) -> list[Port]: ...


@dataclass(frozen=True, slots=True)
class BoardState:
    """What the firmware says is wrong with the processor or its power, now and some time since the start;
    None where it says nothing of the kind."""

    now: tuple[str, ...] | None = None
    before: tuple[str, ...] | None = None


class Board(Protocol):
    """What the board tells of itself beyond what every Linux does."""

    async def look(self) -> BoardState: ...


NO_FOLDERS = "no folder of files is set up; name one as folders under [files] in the settings."


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that words were found in. `name`, `folder` and `path` may be shown to anyone. `match` is the
    share of the words it holds, `named` the share that its own or its folder's name holds, `passage` the text
    around those in its text."""

    name: str
    folder: str
    path: str
    modified: datetime
    match: float = 1.0
    named: float = 0.0
    passage: str = ""


@dataclass(frozen=True, slots=True)
class FileText:
    """The text of a file. `cut`: it is only the beginning. It is empty where the file has no text."""

    file: FoundFile
    text: str
    cut: bool = False


class Documents(Protocol):
    """Files below the configured folders. `find` returns best first, the newest for no words. `read` takes a
    name, or words: the text of the one file they mean, or all the files they may mean, which may be none.
    Both raise `OSError` when they could not look everywhere and nothing was found."""

    async def find(self, words: str, limit: int = 8) -> list[FoundFile]: ...
    async def read(self, name: str) -> FileText | list[FoundFile]: ...


@dataclass(frozen=True, slots=True)
class Appointment:
    """One entry of a calendar, in naive local time; `end` is not included. `busy` is whether it takes up
    time, `whole_days` whether it names days and not hours."""

    title: str
    start: datetime
    end: datetime
    whole_days: bool = False
    place: str = ""
    busy: bool = True


@dataclass(frozen=True, slots=True)
class Agenda:
    """What is in the calendars: the first entries by time, how many `more` there are, and one clause for each
    part that could not be checked."""

    entries: tuple[Appointment, ...]
    more: int = 0
    unchecked: tuple[str, ...] = ()


class Calendars(Protocol):
    """The household's calendars. `look` finds what overlaps with the stretch (naive local time), only entries
    about `query` if there is one."""

    async def look(self, start: datetime, end: datetime, query: str = "") -> Agenda: ...


@dataclass(frozen=True, slots=True)
class PendingTimer:
    """A countdown of `seconds`, or an alarm (0 seconds) that comes again on the weekdays `repeat` (0 is
    Monday). It rings at `due`, naive local time, `left` seconds from now."""

    id: int
    label: str
    due: datetime
    left: float
    seconds: float = 0.0
    repeat: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class MissedTimer:
    """One that could not ring when it should have: `due`, naive local time."""

    id: int
    label: str
    due: datetime


@dataclass(frozen=True, slots=True)
class PendingTimers:
    """Those that are set, the next one first, those that were missed and nobody was told of, and how many
    are set that cannot be read."""

    timers: tuple[PendingTimer, ...]
    missed: tuple[MissedTimer, ...] = ()
    unreadable: int = 0


class Timers(Protocol):
    """Timers and alarms. What is set is on disk when the call returns; `set_timer` and `set_alarm` raise
    `ValueError` with a sentence when there are too many. `lengthen` gives None for one that is no longer set.
    `told` drops what was missed once it was said."""

    async def set_timer(self, seconds: float, label: str = "") -> PendingTimer: ...
    async def set_alarm(
        self, at: datetime, repeat: frozenset[int] = frozenset(), label: str = ""
    ) -> PendingTimer: ...
    async def pending(self) -> PendingTimers: ...
    async def lengthen(self, id: int, seconds: float) -> PendingTimer | None: ...
    async def cancel(self, ids: Sequence[int]) -> list[PendingTimer]: ...
    async def told(self, missed: Sequence[MissedTimer]) -> None: ...


@dataclass(frozen=True, slots=True)
class Driver:
    """Who drives the household's background work, as this device knows it now. `here`: this device does, or
    is alone. `role` is its own: alone, follower, candidate, driver, no majority. `device` is the driver's id
    ("" when none is known) and `name` how people call it; `reason` is a sentence that says all of it."""

    here: bool
    role: str
    reason: str
    device: str = ""
    name: str = ""
    term: int = 0


@dataclass(frozen=True, slots=True)
class Claim:
    """A background turn that this device alone may run: a skill at a slot of its schedule, by text."""

    skill: str
    slot: str
    term: int
    device: str


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim, or the sentence that says why there is none."""

    claim: Claim | None
    reason: str = ""


class Seat(Protocol):
    """The driver's seat. `claim` returns a claim at most once per household for a skill and slot (`again`: it
    may be run again after a driver died of it), after it is on disk here and with the majority. `settle` ends
    it, done or not, and puts `text` into the inbox of every device; if it is `private`, of this one alone.
    `may_finish` tells whether a claim still counts: ask before doing what cannot be undone. `claim` raises
    `ValueError` for long names."""

    async def driver(self) -> Driver: ...
    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed: ...
    async def may_finish(self, claim: Claim) -> bool: ...
    async def settle(self, claim: Claim, text: str, done: bool = True, private: bool = False) -> None: ...


@dataclass(frozen=True, slots=True)
class InboxEntry:
    """What a background turn came to. `id` is its own in the whole household, `when` timezone-aware, `done`
    whether it succeeded, `read` whether it was read on this device."""

    id: str
    device: str
    skill: str
    slot: str
    when: datetime
    text: str
    done: bool = True
    read: bool = False


class Inbox(Protocol):
    """The results of background turns, newest first. `read` marks them; it returns how many were unread."""

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]: ...
    async def read(self, ids: Sequence[str]) -> int: ...


class Absent:
    """A service that this device does not have: every use of it raises `OSError` with `reason`."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        if name.startswith("__"):
            raise AttributeError(name)

        async def use(*_: object, **__: object) -> Any:
            raise OSError(self._reason)

        return use


@dataclass(frozen=True, slots=True)
class Services:
    """What the daemon lends to a tool. What is not set up is there all the same, and says so when used;
    `Services()` is a device where nothing is."""

    notebook: Notebook = field(default_factory=lambda: Absent("No notebook is kept here."))
    memory: Memory = field(default_factory=lambda: Absent("Nothing that was said is kept here."))
    offline: Offline = field(default_factory=lambda: Absent("No network is set up"))
    web: Web = field(default_factory=lambda: Absent("The web is not set up."))
    serial: Serial = field(default_factory=lambda: Absent("No serial port is set up."))
    board: Board = field(default_factory=lambda: Absent("The board's own sensors are not read here."))
    documents: Documents = field(default_factory=lambda: Absent(NO_FOLDERS))
    calendars: Calendars = field(default_factory=lambda: Absent("no calendar folder is set up."))
    timers: Timers = field(default_factory=lambda: Absent("timers are not set up."))
    seat: Seat = field(default_factory=lambda: Absent("The driver's seat is not set up."))
    inbox: Inbox = field(default_factory=lambda: Absent("No inbox is kept here."))
