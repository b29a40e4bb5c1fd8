"""Spans and times of day as people name them: "1h30", "half past seven". Knows nothing of days."""

from __future__ import annotations

import re
from datetime import time, timedelta

from muleteer.sentences import joined, say
from muleteer.when.words import UNIT, fold, in_digits

BARE_MINUTES = 180  # a number alone is that many minutes at most: with more, seconds may be meant

_FRACTIONS = (
    (r"\b(?:an |1 |ein |eine )?(?:hour|stunde) (?:and |und )?(?:a |1 )?(?:half|halb)\b", "90 min"),
    (r"\b(\d+) and (?:a |1 )?half (hours?|minutes?|min)\b", r"\1.5 \2"),
    (r"\b(\d+) einhalb\b", r"\1.5"),
    (r"\banderthalb\b", "1.5"),
    (r"\b(?:3 quarters of (?:an |1 )?hour|(?:1 )?dreiviertel ?stunde)\b", "45 min"),
    (r"\b(?:(?:1 )?quarter (?:of )?(?:an |1 )?hour|(?:1 )?viertelstunde|(?:1 )?viertel stunde)\b", "15 min"),
    (
        r"\b(?:1 )?(?:half (?:of )?(?:an |1 )?hour|halbe?n? stunde|media hora|demi heure)\b",
        "30 min",
    ),
    (r"\b(?:1 )?half (?:a |1 )?minute\b", "30 sec"),
)
_AMOUNT = re.compile(r"(\d+(?:[.,]\d+)?) ?([a-z]+)")
_ISO = re.compile(r"p(?:(\d+)d)?(?:t(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?)?")
_CLOCK = (
    r"(?<![\d.:/-])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))?(?::\d\d)? ?(?P<half>am|pm)\b(?! [a-z]*tag)",
    r"(?<![\d.:/-])(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?(?:uhr|oclock|h)\b(?: (?P<late>\d\d)\b)?",
    r"(?<![\d.:/-])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?(?![\d:])",
    r"\b(?:at|um|a las|gegen|by|@|alle|om) ?(?P<hour>\d{1,2})(?:\.(?P<minute>\d\d))?(?![\d.:/-])",
)
_PAST = {
    r"\bhalf past (\d{1,2})\b": 30,
    r"\b(?:1 )?(?:quarter|viertel) (?:past|after|nach) (\d{1,2})\b": 15,
    r"\b(?:1 )?(?:quarter|viertel) (?:to|before|vor) (\d{1,2})\b": -15,
    r"\bhalb (\d{1,2})\b": -30,
    r"\bdreiviertel (\d{1,2})\b": -15,
}
_MINUTES_PAST = re.compile(r"\b(\d{1,2}) (?:min(?:utes|uten)? )?(past|to|nach|vor) (\d{1,2})\b")
LATER = re.compile(
    r"\b(?:evening|afternoon|night|tonight|abends?|nachmittags?|pm|tarde|noche|vanavond|avonds|middags|aksam)\b"
)
_NAMED = {r"\b(?:noon|midday|mittags?)\b": time(12), r"\b(?:midnight|mitternachts?)\b": time(0)}


def read_delay(text: str) -> timedelta | None:
    """How long from now: "10 min", "1h30", "an hour and a half", "anderthalb Stunden", "PT10M"; or None. A
    number alone is minutes. Zero is a span too."""
    folded = re.sub(r"^(?:in|for|after|fur|nach|over|tra|fra) ", "", fold(text))
    if (iso := _ISO.fullmatch(folded)) and any(iso.groups()):
        days, hours, minutes, seconds = (int(part or 0) for part in iso.groups())
        return _span(days * 86_400 + hours * 3600 + minutes * 60 + seconds)
    said = " ".join(in_digits(re.sub(r"\ban? (?=half|quarter)|(?<=[a-z])(?=einhalb\b)", " ", folded)).split())
    for pattern, amount in _FRACTIONS:
        said = re.sub(pattern, amount, said)
    if said.isdecimal():
        return timedelta(minutes=int(said)) if len(said) < 4 and int(said) <= BARE_MINUTES else None
    said = re.sub(r"(\d) ?(?:h|hours?|stunden?) ?(\d{1,2})$", r"\1 h \2 min", said)
    said = re.sub(r"(\d) ?m(?:in(?:ute[ns]?)?)? ?(\d{1,2})$", r"\1 min \2 s", said)
    if re.sub(r"\b(?:and|und|y|et|en|e|ve|from now|von jetzt)\b", "", _AMOUNT.sub("", said)).strip(" ,"):
        return None
    amounts = [(float(number.replace(",", ".")), unit) for number, unit in _AMOUNT.findall(said)]
    if not amounts or any(unit not in UNIT for _, unit in amounts):
        return None
    return _span(sum(number * UNIT[unit] for number, unit in amounts))


def _span(seconds: float) -> timedelta | None:
    try:
        return timedelta(seconds=round(seconds))
    except OverflowError:
        return None


def say_delay(span: timedelta, units: int = 2) -> str:
    """ "1 hour 30 minutes", in at most so many of the largest units that matter."""
    left, said = max(0, round(span.total_seconds())), list[str]()
    for name, size in (("day", 86_400), ("hour", 3600), ("minute", 60), ("second", 1)):
        count, left = divmod(left, size)
        if count:
            said.append(say(f"{{n}} {name}{'' if count == 1 else 's'}", n=count))
    return joined(" ", said[:units] or [say("{n} seconds", n=0)])


def read_clock(text: str) -> time | None:
    """A time of day and nothing else: "7:30", "6 am", "halb acht", "0730"; or None."""
    folded = fold(text)
    if found := re.fullmatch(r"([01]\d|2[0-3])([0-5]\d)", folded):
        return time(int(found[1]), int(found[2]))
    found_clock = find_clock(folded) or find_clock(f"at {folded}")
    if (
        not found_clock
        or LATER.sub("", re.sub(r"\b(?:in|the|at|um|am|morgens|morning|uhr)\b", "", found_clock[1])).strip()
    ):
        return None
    return found_clock[0]


def find_clock(folded: str) -> tuple[time, str] | None:
    """The first time of day in a folded text, and the text without it."""
    said = in_digits(folded)
    for pattern, moment in _NAMED.items():
        if found := re.search(pattern, said):
            return moment, without(said, found)
    later = bool(LATER.search(said))
    for pattern, minutes in _PAST.items():
        if found := re.search(pattern, said):
            return _clock(int(found[1]), minutes, later, without(said, found))
    if found := _MINUTES_PAST.search(said):
        minutes = int(found[1]) * (1 if found[2] in ("past", "nach") else -1)
        return _clock(int(found[3]), minutes, later, without(said, found))
    for pattern in _CLOCK:
        if found := re.search(pattern, said):
            groups = found.groupdict()
            hour, minute = int(found["hour"]), int(groups.get("minute") or groups.get("late") or 0)
            if groups.get("half"):
                if not 1 <= hour <= 12:
                    return None
                hour = hour % 12 + (12 if groups["half"] == "pm" else 0)
            return _clock(hour, minute, later, without(said, found))
    return None


def _clock(hour: int, minutes: int, later: bool, rest: str) -> tuple[time, str] | None:
    if hour > 24 or not -60 < minutes < 60:
        return None
    hour += 12 if later and 1 <= hour < 12 else 0
    hour, minute = divmod(hour * 60 + minutes, 60)
    return time(hour % 24, minute), rest


def without(text: str, found: re.Match[str]) -> str:
    return " ".join((text[: found.start()] + " " + text[found.end() :]).split())
