"""The programs that speak, for real: espeak-ng is installed by .ci/run, piper by make."""

from __future__ import annotations

import numpy as np
import pytest

from muleteer.errors import ConfigError, MuleteerError
from muleteer.voice.bench import talkers
from muleteer.voice.bench.talkers import EspeakTalker, PiperTalker
from muleteer.voice.parts import RATE

LAMP = "Turn on the lamp in the living room, please."


def test_sentences_come_in_order_without_silence_around_them() -> None:
    for talker in (EspeakTalker("en"), PiperTalker("en")):
        short, long, again = talker.say(["Stop.", LAMP, LAMP])
        assert 0.1 * RATE < len(short) < len(long) < 6 * RATE, talker.name
        assert float(np.abs(long).max()) > 0.2, talker.name
        assert float(np.abs(long[:320]).max()) > 0, talker.name
        assert np.array_equal(long, again), "the same sentence is the same sound"


def test_a_language_that_nobody_speaks_is_said_so() -> None:
    with pytest.raises(ConfigError, match="speaks en only, not de"):
        PiperTalker("de")
    with pytest.raises(MuleteerError, match="espeak-ng ended with 1"):
        EspeakTalker("nowhere").say([LAMP])


def test_everybody_who_speaks_a_language() -> None:
    assert [talker.name for talker in talkers.talkers("en")] == ["espeak-ng", "piper"]
    assert [talker.name for talker in talkers.talkers("de")] == ["espeak-ng"]
