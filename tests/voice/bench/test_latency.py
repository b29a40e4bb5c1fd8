from __future__ import annotations

import pytest

from muleteer.errors import MuleteerError
from muleteer.voice.bench.latency import PARTS, Lap, medians, ratio, taken
from muleteer.voice.bench.rehearsal import Moment
from muleteer.voice.conversation.deeds import Ask, Recognize, Speak
from muleteer.voice.parts import Heard, Sound

SOUND = Sound(bytes(320), 16_000)


def level(at: float, name: str, ms: float) -> Moment:
    return Moment(at, ("level", {"level": {"name": name, "ms": ms}}))


TURN = [
    Moment(8.0, Recognize(1, b"")),  # of a pause that was none
    Moment(8.3, Heard("what", "en", 0.9)),
    Moment(10.3, Recognize(2, b"")),
    Moment(10.8, Heard("What time is it?", "en", 0.9)),
    Moment(10.9, Ask(3, "What time is it?")),
    level(11.3, "planner", 400.0),
    level(12.0, "agent:current_time", 600.0),
    Moment(12.1, Speak(1, "It is nine.")),
    Moment(12.3, SOUND),
    level(13.0, "answer", 900.0),
    Moment(13.1, Speak(2, "Good morning.")),
]


def test_the_parts_are_in_order_and_add_up_to_the_whole() -> None:
    one = taken("time", "as it is", 10.0, "It is nine.", TURN, 12.4)
    assert list(one.parts) == list(PARTS)
    expected = [0.3, 0.5, 0.1, 0.4, 0.6, 0.2, 0.2, 0.1]
    assert list(one.parts.values()) == pytest.approx(expected)
    assert one.seconds == pytest.approx(sum(expected)) == pytest.approx(2.4)
    assert one.heard == "What time is it?"


def lap(command: str, way: str, seconds: float) -> Lap:
    return Lap(command, way, "", "", seconds, dict.fromkeys(PARTS, seconds / len(PARTS)))


def test_the_ratio_is_that_of_the_same_commands() -> None:
    laps = [lap("a", "as it is", 1.0), lap("a", "in a row", 2.0), lap("b", "as it is", 9.0)]
    assert ratio(laps) == pytest.approx(0.5)
    assert medians(laps, "as it is")[0] == pytest.approx(5.0)
    with pytest.raises(MuleteerError, match="no command was timed in both ways"):
        ratio(laps[2:])
