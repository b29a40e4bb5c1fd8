"""An .ics file as text, cut into its events: one that is broken must not hide the others.

Knows lines, folding and BEGIN/END. Does not know what a property means. Of each event only the properties
that are asked about are kept, so broken extensions, alarms and attachments do no harm and take no memory.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass, field

LONGEST_LINE = 100_000  # characters of one unfolded line; real ones with hundreds of EXDATEs are under 20,000
LONGEST_TEXT = 2_000  # characters of a title, place or description; the rest is never said
MOST_ZONES = 64  # VTIMEZONE blocks of one file; an export of a whole life has a dozen

TEXTS = frozenset(("SUMMARY", "LOCATION", "DESCRIPTION"))
TIMES = frozenset(("DTSTART", "DTEND", "DURATION", "RRULE", "RDATE", "EXDATE", "RECURRENCE-ID"))
KEPT = TEXTS | TIMES | {"UID", "STATUS", "TRANSP", "SEQUENCE"}
_FOLD = re.compile(r"\r?\n[ \t]|\r[ \t]")
_NAME = re.compile(r"[A-Za-z0-9-]+")


@dataclass(slots=True)
class Cut:
    """What a file holds: the lines of each event, those of each VTIMEZONE by its TZID, the calendar's default
    zone (X-WR-TIMEZONE), and how many events are cut off or too long to be read."""

    events: list[list[str]] = field(default_factory=list)
    zones: dict[str, list[str]] = field(default_factory=dict)
    default_zone: str = ""
    damaged: int = 0


def cut(content: bytes) -> Cut:
    """Never fails: what makes no sense is left out, and counted where it was an event."""
    found, block, inner = Cut(), list[str](), list[str]()
    for line in _FOLD.sub("", _decoded(content)).splitlines():
        name = _name(line)
        value = line[len(name) + 1 :].strip().upper() if name in ("BEGIN", "END") else ""
        if name == "BEGIN" and value in ("VEVENT", "VTIMEZONE"):
            found.damaged += bool(inner and inner[0] == "VEVENT")
            block, inner = [], [value]
        elif name == "BEGIN" and inner:
            inner.append(value)
        elif name == "END" and value in inner:
            del inner[inner.index(value) + 1 :]
            if inner.pop() in ("STANDARD", "DAYLIGHT"):
                block.append(f"END:{value}")
            elif not inner:
                _keep(found, value, block)
            continue
        elif name == "X-WR-TIMEZONE" and not inner:
            found.default_zone = line.partition(":")[2].strip()
            continue
        if inner:
            _take(block, inner, name, line)
    found.damaged += bool(inner and inner[0] == "VEVENT")
    return found


def _take(block: list[str], inner: list[str], name: str, line: str) -> None:
    """Keep a line of the block if it is asked about."""
    if inner[0] == "VTIMEZONE":
        if len(inner) == 1 and name == "BEGIN":
            return
        block.append(line[:LONGEST_LINE])
    elif len(inner) == 1 and name in KEPT:
        block.append(line[:LONGEST_TEXT].rstrip("\\") if name in TEXTS else line)


def _keep(found: Cut, kind: str, block: list[str]) -> None:
    if kind == "VEVENT":
        if any(len(line) > LONGEST_LINE for line in block):
            found.damaged += 1
        else:
            found.events.append(block)
    elif len(found.zones) < MOST_ZONES:
        name = next((line.partition(":")[2] for line in block if _name(line) == "TZID"), "")
        found.zones.setdefault(name.strip(), block)


def _decoded(content: bytes) -> str:
    """UTF-8 as the standard says, UTF-16 where a mark says so; each byte that is neither becomes a sign for
    "unreadable"."""
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return content.decode("utf-16", "replace")
    return content.decode("utf-8-sig", "replace").replace("\0", "")


def _name(line: str) -> str:
    """The property's name in capitals; empty for a line that has none."""
    found = _NAME.match(line)
    return found[0].upper() if found and line[found.end() : found.end() + 1] in (":", ";") else ""
