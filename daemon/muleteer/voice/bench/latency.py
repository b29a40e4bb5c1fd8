"""From the end of speech to the first sound of the answer, and which part took how much of it.

The same commands are said to the same daemon in two ways, one after the other: as the product does it, and in
a row, where nothing is warmed and nothing said before the answer is whole. Knows moments of a rehearsal; the
daemon only by what it tells.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from muleteer.errors import MuleteerError
from muleteer.voice.bench.rehearsal import Moment, Rehearsal
from muleteer.voice.bench.sounds import Samples
from muleteer.voice.conversation.deeds import Ask, Recognize, Speak
from muleteer.voice.parts import Heard, Sound

PARTS = ("pause", "recognition", "patience", "planner", "arguments", "rest of the turn", "voice", "speaker")
"""In their order: silence until it is recognised; that; silence until it is certain that no more is said;
the choice of a tool; its arguments; tools and everything else until the first sentence; making sound of it;
until that is heard."""
WAYS = ("as it is", "in a row")
TARGETS: Mapping[str, float] = {"standard": 2.0, "small": 1.2}  # seconds, median, one tool, two cores


@dataclass(frozen=True, slots=True)
class Lap:
    """One command in one way: seconds by part; `seconds` is their sum. `right`: the words were understood."""

    command: str
    way: str
    heard: str
    answer: str
    seconds: float
    parts: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


async def lap(on: Rehearsal, command: str, way: str, *waves: Samples) -> Lap:
    """Say it, wait for the whole answer, and take the times. Raises `MuleteerError` where none is heard."""
    since = len(on.moments)
    on.say(*waves)
    answer = await on.answered(since)
    return taken(command, way, on.microphone.spoke, answer, on.moments[since:], first_heard(on, since))


def first_heard(on: Rehearsal, since: int) -> float:
    """When the first sound of speech was. Raises `MuleteerError` where none was."""
    if not (spoken := on.spoken(since)):
        raise MuleteerError(f"Nothing was said: {on.asked(since)}")
    return spoken[0].began


def taken(command: str, way: str, spoke: float, answer: str, moments: Sequence[Moment], first: float) -> Lap:
    """The parts of what lies between `spoke` and `first`, both by the clock of the moments."""
    asked = _last(moments, Ask, first)
    began, heard = _last(moments, Recognize, asked.at), _last(moments, Heard, asked.at)
    sentence = next(each for each in moments if isinstance(each.what, Speak))
    sound = next(each for each in moments if isinstance(each.what, Sound))
    turn = sentence.at - asked.at
    planner, arguments = (_level(moments, name, sentence.at) for name in ("planner", "agent"))
    assert isinstance(heard.what, Heard)  # noqa: S101  (for the type checker)
    seconds = (
        began.at - spoke,
        heard.at - began.at,
        asked.at - heard.at,
        planner,
        arguments,
        turn - planner - arguments,
        sound.at - sentence.at,
        first - sound.at,
    )
    parts = {part: round(each, 4) for part, each in zip(PARTS, seconds, strict=True)}
    return Lap(command, way, heard.what.text, answer, round(first - spoke, 4), parts)


def medians(laps: Sequence[Lap], way: str) -> tuple[float, dict[str, float]]:
    """Of the whole and of each part, in seconds; medians of parts do not add up to that of the whole."""
    mine = [one for one in laps if one.way == way]
    parts = {part: statistics.median(one.parts[part] for one in mine) for part in PARTS}
    return statistics.median(one.seconds for one in mine), parts


def ratio(laps: Sequence[Lap]) -> float:
    """Seconds as it is, by those in a row: the median of the ratios, command by command. Raises
    `MuleteerError` where there is none."""
    by_command: dict[str, dict[str, float]] = {}
    for one in laps:
        by_command.setdefault(one.command, {})[one.way] = one.seconds
    pairs = [both for both in by_command.values() if len(both) == len(WAYS)]
    if not pairs:
        raise MuleteerError("There is no ratio: no command was timed in both ways.")
    return statistics.median(both[WAYS[0]] / both[WAYS[1]] for both in pairs)


def _last(moments: Sequence[Moment], kind: type, before: float) -> Moment:
    return [each for each in moments if isinstance(each.what, kind) and each.at <= before][-1]


def _level(moments: Sequence[Moment], name: str, before: float) -> float:
    """Seconds of this level until then, as the daemon counts them."""
    total = 0.0
    for each in moments:
        match each.what:
            case ("level", {"level": {"name": str(level), "ms": float(ms)}}) if each.at <= before:
                total += ms / 1000 if level.partition(":")[0] == name else 0.0
    return total
