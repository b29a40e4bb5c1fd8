"""Several timers in one message: "7 minutes for the pasta and 3 minutes for the eggs" is a message for each.

Pure. A message is cut where each piece has a time of its own, and no time is cut ("1 hour and 30 minutes").
Each piece is completed to an order of its own. Knows no timers that are set.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from muleteer.when.clocks import read_delay
from muleteer.when.labels import ALARMS, NAMELESS, TIMERS
from muleteer.when.requests import EDGES, clauses, cut_times, days_of, read_request
from muleteer.when.words import NUMBER, UNIT, fold, in_digits, listed

_KINDS = TIMERS | ALARMS
_JOINT = re.compile(r"(?:[;!?]|\.(?=\s)|,?\s+(?:and|und|y|e|et|ed|en|ve|then|dann)(?=\s)|,(?=\s))\s*", re.I)
_TOGETHER = re.compile(
    r"\b(?:between|zwischen|entre|tra (?=\S+ e )|fra (?=\S+ e )|tussen|aras[\u0131i]nda)\b", re.IGNORECASE
)
_COUNTS = "|".join(sorted((word for word, number in NUMBER.items() if number > 1), key=len, reverse=True))
_COUNT = re.compile(rf"\b(?:\d+|{_COUNTS})\s+(?=(?:{'|'.join(_KINDS)})\b)", re.IGNORECASE)
_UNITS = "|".join(sorted((unit for unit in UNIT if len(unit) > 1), key=len, reverse=True))
_AMOUNT = rf"(?:\d+|{_COUNTS})"
_SHARED_UNIT = re.compile(  # "5, 10 and 15 minutes"
    rf"(?<![\d:.,])\b({_AMOUNT})(?=,? (?:(?:and|und|y|e|et|ed|en|ve) )?{_AMOUNT} ({_UNITS})\b)",
    re.IGNORECASE,
)
# What stands for the order that was said before: "and another for the eggs".
_ANOTHER = listed(
    "one another a an the second also auch ein einen eine noch weiteren zweiten otro otra un una uno autre "
    "een ander andere altro altra um uma outro outra bir tane de da"
)
MOST_ALIKE = 8  # timers of one time; a larger number is none of timers
NAME_WORDS = 3  # before a time; with more it is told, and no order: "ask about the 3 hour trip"


def each_said(message: str, now: datetime) -> list[str]:
    """The message of each timer that a message is about, in their order; none where it may be about one.
    `now` is naive local time."""
    if _TOGETHER.search(message):
        return []
    plain = _COUNT.sub("", message)
    while _SHARED_UNIT.search(plain):
        plain = _SHARED_UNIT.sub(r"\1 \2", plain)
    found = [piece for clause in _clauses(plain, now) for piece in _cut(clause, now)]
    if len(found) == 1:
        found *= _count(message, now)
    return found if len(found) > 1 else []


def _count(message: str, now: datetime) -> int:
    """How many of one kind a message sets for its one time: "two timers for 5 minutes"."""
    counts = [
        int(said) for each in _COUNT.finditer(message) if (said := in_digits(fold(each[0]))).isdecimal()
    ]
    alike = read_request(message, now).action == "set" and len(cut_times(message, now)[0]) == 1
    return counts[0] if len(counts) == 1 and counts[0] <= MOST_ALIKE and alike else 1


def _clauses(message: str, now: datetime) -> list[str]:
    """The message cut where a piece opens with a verb, and names a time or the timer that it cancels. What
    does neither belongs to its neighbour, and so do two that are cancelled in one breath."""
    found = list[str]()
    for clause in clauses(message):
        if not found or _are_two(found[-1], clause, now):
            found.append(clause)
        else:
            found[-1] += f" and {clause}"
    return found


def _are_two(first: str, second: str, now: datetime) -> bool:
    cancels = [read_request(each, now).action == "cancel" for each in (first, second)]
    return all(_alone(each, now) for each in (first, second)) and not all(cancels)


def _alone(clause: str, now: datetime) -> bool:
    if read_request(clause, now).action == "cancel":
        return bool(_words(clause) & _KINDS)
    return bool(cut_times(clause, now)[0] or days_of(clause))


def _cut(clause: str, now: datetime) -> list[str]:
    """The pieces of a clause that have a time each, as orders of their own."""
    request = read_request(clause, now)
    if request.action not in ("set", "extend"):
        return [clause]
    pieces, begin = list[str](), 0
    for joint in _JOINT.finditer(clause):
        before, rest = clause[begin : joint.start()], clause[joint.end() :]
        following = _JOINT.split(rest, maxsplit=1)[0]
        both = clause[begin : joint.end()] + following
        if _is_joint(both, before, following, now) and _begins(following, request.reminds, now):
            pieces.append(before.strip(" ,"))
            begin = joint.end()
    pieces.append(clause[begin:].strip(" ,"))
    if request.action == "extend":
        return pieces if all(read_request(each, now).action == "extend" for each in pieces) else [clause]
    return [pieces[0], *(_completed(pieces[0], each, now) for each in pieces[1:])]


def _is_joint(both: str, before: str, following: str, now: datetime) -> bool:
    """Whether each side has times of its own, and none goes across; of a span that does, the parts get
    shorter."""
    first, second = cut_times(before, now)[0], cut_times(following, now)[0]
    if not first or not second:
        return False
    span, next_span = read_delay(first[-1]), read_delay(second[0])
    longer = span is not None and next_span is not None and span < next_span
    return longer or len(cut_times(both, now)[0]) == len(first) + len(second)


def _begins(piece: str, reminds: bool, now: datetime) -> bool:
    """Whether a piece begins with its time, or with a few words that name the timer; what somebody is
    reminded of may hold a time anywhere."""
    named = [word for word in _before_time(piece, now) if not _words(word) <= NAMELESS | EDGES | _ANOTHER]
    return len(named) <= (0 if reminds else NAME_WORDS)


def _before_time(piece: str, now: datetime) -> list[str]:
    left, said = cut_times(piece, now)[1].split(), re.sub(r"(?<=\d)-", " ", piece).split()
    same = [one == other for one, other in zip(said, left, strict=False)]
    return said[: [*same, False].index(False)]


def _completed(first: str, piece: str, now: datetime) -> str:
    """A piece with the order that the first one begins with, and its day."""
    words = first.split()
    head = words[: len(_before_time(first, now))]
    place = next((n for n, word in enumerate(head) if _words(word) & _KINDS), None)
    if _words(re.sub("-", " ", piece)) & _KINDS:
        head = head if place is None else head[:place]
        while head and _words(head[-1]) <= _ANOTHER:
            del head[-1]
    else:
        piece = _without_article(piece, now)
        head = head[: place + 1] if place is not None else head + [w for w in words if _words(w) & _KINDS][:1]
    order = " ".join(head)
    if order and not _words(order) & _KINDS and not read_request(order, now).action:
        order = ""
    return " ".join(filter(None, (order, *_day(first, piece, now), piece)))


def _without_article(piece: str, now: datetime) -> str:
    """Without "one" or "another" before it, where they are no part of its time."""
    times, words = cut_times(piece, now)[0], piece.split()
    while len(words) > 1 and _words(words[0]) <= _ANOTHER and cut_times(" ".join(words[1:]), now)[0] == times:
        del words[0]
    return " ".join(words)


def _day(first: str, piece: str, now: datetime) -> Sequence[str]:
    """The day that the first one's time is on, for a time of day that names none."""
    clock = any(read_delay(time) is None for time in cut_times(piece, now)[0])
    return () if not clock or days_of(piece) else days_of(first)


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", fold(text)))
