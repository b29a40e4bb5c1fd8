"""Who belongs to the household: its key, and the devices that were let in or sent away.

Every device keeps the whole list, and two lists that differ are merged entry by entry: the later change of a
device wins, by a counter and not by anybody's clock, and of two equally late ones the sending away. Knows no
network; what is merged here came from a member.
"""

from __future__ import annotations

import errno
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from muleteer.durable import write_durably
from muleteer.files import open_regular, read_whole
from muleteer.seat.identity import private_from_hex

FILE_NAME = "household.json"
MOST_MEMBERS = 32  # devices that talk to each other; a household has a handful
MOST_ENTRIES = 256  # with those that were sent away, which must be remembered
LARGEST_FILE = 256 << 10  # bytes; the longest list has some 60 kB
LONGEST_NAME = 64  # characters; a hostname has no more
LATEST = 2**53  # a change's number; JSON carries no larger one unharmed
ID = re.compile(r"[0-9a-f]{32}")
KEY = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Member:
    """One device: its id and public key in hexadecimal digits, and the name people gave it, which proves
    nothing. `change` counts what was decided about it; `gone`: it was sent away."""

    id: str
    key: str
    name: str = ""
    change: int = 1
    gone: bool = False

    def __post_init__(self) -> None:
        if not ID.fullmatch(self.id) or not KEY.fullmatch(self.key) or not 0 < self.change < LATEST:
            raise ValueError("it has no id, key or change as they are written")
        if len(self.name) > LONGEST_NAME or not self.name.isprintable():
            raise ValueError("its name is too long or not printable")


class RosterFullError(Exception):
    """The household has as many devices as it can have."""


class Roster:
    """The list of one household, with the household's key; on disk whenever a method has returned. The
    methods that change it raise `OSError`, and change nothing then."""

    def __init__(self, folder: Path, key: Ed25519PrivateKey, entries: Iterable[Member]) -> None:
        self._path = folder / FILE_NAME
        self.key = key
        self._entries = {each.id: each for each in entries}

    def __iter__(self) -> Iterator[Member]:
        """The members, in the order of their ids."""
        return iter(sorted((each for each in self._entries.values() if not each.gone), key=lambda m: m.id))

    def entries(self) -> list[Member]:
        """Everything there is to tell another device: those that were sent away, too."""
        return sorted(self._entries.values(), key=lambda member: member.id)

    def get(self, device: str) -> Member | None:
        """The member with this id."""
        found = self._entries.get(device)
        return None if found is None or found.gone else found

    def was_sent_away(self, device: str, key: str) -> bool:
        """Whether it was a member, with this key."""
        found = self._entries.get(device)
        return found is not None and found.gone and found.key == key

    def add(self, device: str, key: str, name: str) -> Member:
        """Let a device in, or in again. Raises `RosterFullError`."""
        before = self._entries.get(device)
        member = Member(device, key, name, before.change + 1 if before else 1)
        self._replace([member])
        return member

    def forget(self, device: str) -> Member | None:
        """Send a member away; None if it is none."""
        member = self.get(device)
        if member is None:
            return None
        gone = replace(member, change=member.change + 1, gone=True)
        self._replace([gone])
        return gone

    def merge(self, entries: Iterable[Member]) -> list[Member]:
        """Take over what is later than what is known here; returns that. Raises `RosterFullError`."""
        later = [each for each in entries if _is_later(each, self._entries.get(each.id))]
        if later:
            self._replace(later)
        return later

    def save(self) -> None:
        self._write(self._entries)

    def _replace(self, members: Iterable[Member]) -> None:
        entries = self._entries | {each.id: each for each in members}
        if sum(not each.gone for each in entries.values()) > MOST_MEMBERS or len(entries) > MOST_ENTRIES:
            raise RosterFullError(
                f"A household has at most {MOST_MEMBERS} devices; forget one that is not used any more "
                "(muleteer seat forget)."
            )
        self._write(entries)
        self._entries = entries

    def _write(self, entries: dict[str, Member]) -> None:
        content = {
            "household_key": self.key.private_bytes_raw().hex(),
            "members": [asdict(each) for each in sorted(entries.values(), key=lambda member: member.id)],
        }
        write_durably(self._path, json.dumps(content, indent=1).encode() + b"\n")


def _is_later(new: Member, old: Member | None) -> bool:
    return old is None or (new.change, new.gone) > (old.change, old.gone)


def load_roster(folder: Path) -> Roster | None:
    """The household this device belongs to; None if it belongs to none. Raises `OSError`, whose `strerror` is
    for people; a damaged file is not replaced."""
    path = folder / FILE_NAME
    try:
        with open_regular(path) as file:
            content = read_whole(file, LARGEST_FILE)
    except FileNotFoundError:
        return None
    try:
        read = json.loads(content)
        entries = [Member(**each) for each in read["members"]]
        return Roster(folder, private_from_hex(read["household_key"]), entries)
    except (ValueError, TypeError, KeyError):
        raise OSError(
            errno.EINVAL,
            f"{path} is damaged; restore it, or remove it and let this device join its household again",
        ) from None


def new_roster(folder: Path, device: str, key: str, name: str) -> Roster:
    """A household with one device, and a key of its own. Raises `OSError`."""
    roster = Roster(folder, Ed25519PrivateKey.generate(), [Member(device, key, name)])
    roster.save()
    return roster


def joined_roster(folder: Path, key: str, entries: Iterable[Member]) -> Roster:
    """The household whose key and list another device has handed over. Raises `OSError`, and `ValueError` if
    that is no key."""
    roster = Roster(folder, private_from_hex(key), entries)
    roster.save()
    return roster


def leave_household(folder: Path) -> None:
    """Forget the household's key and list. Raises `OSError`."""
    (folder / FILE_NAME).unlink(missing_ok=True)
