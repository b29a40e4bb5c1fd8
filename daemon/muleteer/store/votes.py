"""What a device must not forget of the election, in a small file: its term, its vote, who is enrolled.

Knows the file's form. What it means is the business of `seat/election.py`.
"""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from muleteer.durable import write_durably
from muleteer.files import open_regular, read_whole
from muleteer.seat.membership import MOST_MEMBERS, Membership, Rule, Voter
from muleteer.seat.messages import Durable

FILE_NAME = "vote.json"
LARGEST = 64 << 10  # bytes; the longest has some 3 kB
LONGEST_ID = 64  # characters
LATEST = 2**53  # a term or version; JSON carries no larger number unharmed
PRIORITIES = range(-1000, 1001)


def keep_vote(folder: Path, durable: Durable) -> None:
    """On disk when this returns. Raises `OSError`, and the old one counts."""
    content = {
        "term": durable.term,
        "vote": durable.vote,
        "membership": membership_fields(durable.membership),
    }
    write_durably(folder / FILE_NAME, json.dumps(content).encode() + b"\n")


def read_vote(folder: Path) -> Durable | None:
    """None if there never was one. Raises `OSError`, whose `strerror` is for people, when it is damaged: a
    device that has forgotten its vote might vote again."""
    path = folder / FILE_NAME
    try:
        with open_regular(path) as file:
            content = json.loads(read_whole(file, LARGEST))
        membership = membership_from(content["membership"])
        return Durable(membership, _number(content["term"]), _id(content["vote"], empty=True))
    except FileNotFoundError:
        return None
    except (ValueError, TypeError, KeyError, IndexError):
        raise OSError(
            errno.EINVAL,
            f"{path} is damaged; restore it, or remove it after this device was forgotten elsewhere",
        ) from None


def membership_fields(membership: Membership) -> list[object]:
    """As files and frames have it."""
    members = [[each.id, each.priority] for each in membership.voters]
    return [membership.term, membership.version, membership.rule.value, members]


def membership_from(fields: Any) -> Membership:
    """Raises what `read_vote` catches for anything else."""
    term, version, rule, members = fields
    if not isinstance(members, list) or not 0 < len(members) <= MOST_MEMBERS:
        raise ValueError("it has no members, or too many")
    read = tuple(Voter(_id(device), _priority(priority)) for device, priority in members)
    if len({each.id for each in read}) < len(read):
        raise ValueError("it names a member twice")
    return Membership(read, _number(term), _number(version), Rule(rule))


def _number(value: object) -> int:
    if not isinstance(value, int) or not 0 <= value < LATEST:
        raise ValueError(f"{value} is no term or version")
    return int(value)


def _priority(value: object) -> int:
    if not isinstance(value, int) or value not in PRIORITIES:
        raise ValueError(f"{value} is no priority")
    return int(value)


def _id(value: object, empty: bool = False) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_ID or not (value or empty):
        raise ValueError("it has no id where one belongs")
    return value
