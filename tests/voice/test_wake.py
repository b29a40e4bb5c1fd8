"""Wake word and speech detection, on speech and on what is none."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from muleteer.errors import ConfigError
from muleteer.voice.activity import MicroActivity
from muleteer.voice.bench import sounds
from muleteer.voice.bench.talkers import EspeakTalker
from muleteer.voice.parts import FRAME_BYTES, RATE
from muleteer.voice.wake import MicroWake


def frames(*waves: sounds.Samples) -> Iterator[bytes]:
    pcm = sounds.pcm(sounds.joined(*waves))
    yield from (pcm[at : at + FRAME_BYTES] for at in range(0, len(pcm), FRAME_BYTES))


def spoken(sentence: str) -> sounds.Samples:
    return EspeakTalker("en").say([sentence])[0]


def called(wake: MicroWake, *waves: sounds.Samples) -> list[str]:
    return [word for frame in frames(*waves) if (word := wake.hears(frame))]


@pytest.mark.parametrize(("word", "said"), [("okay_nabu", "okay naboo"), ("alexa", "alexa")])
async def test_its_own_word_is_told_once_each_time(word: str, said: str) -> None:
    wake, voice, pause = MicroWake(word), spoken(said), sounds.silence(1.5)
    try:
        assert called(wake, pause, voice, pause, voice, pause) == [word, word]
    finally:
        await wake.close()


async def test_other_speech_and_noise_call_nobody() -> None:
    wake = MicroWake("okay_nabu")
    try:
        other = spoken("What is the weather in Nairobi, and is the kitchen light on?")
        assert called(wake, other, (sounds.noise(3.0) * 0.1).astype(np.float32), spoken("alexa")) == []
    finally:
        await wake.close()


async def test_what_was_heard_before_a_reset_is_forgotten() -> None:
    wake, voice = MicroWake("okay_nabu"), spoken("okay naboo")
    half = len(voice) // 2
    try:
        assert called(wake, sounds.silence(1.0), voice[:half]) == []
        wake.reset()
        assert called(wake, voice[half:], sounds.silence(1.0)) == []
    finally:
        await wake.close()
        assert wake.hears(bytes(FRAME_BYTES)) == ""


def test_a_word_that_is_none_names_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="okay_nabu, hey_jarvis, hey_mycroft, alexa"):
        MicroWake("okay_computer")
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    with pytest.raises(ConfigError, match="is no microWakeWord model"):
        MicroWake(str(broken))


async def test_speech_is_told_from_silence_noise_and_hum() -> None:
    activity = MicroActivity()
    hum = (0.1 * np.sin(2 * np.pi * 100 * np.arange(2 * RATE) / RATE)).astype(np.float32)
    for other in (sounds.silence(2.0), (sounds.noise(2.0) * 0.05).astype(np.float32), hum):
        activity.reset()
        heard = [activity.speech(frame) for frame in frames(other)]
        assert np.mean([each > 0.5 for each in heard]) < 0.1  # the beginning of a hum is taken for a voice
    activity.reset()
    speech = [activity.speech(frame) for frame in frames(spoken("Set a timer for ten minutes, please."))]
    assert np.mean([each > 0.5 for each in speech]) > 0.6
    assert all(0 <= each <= 1 for each in speech)
    await activity.close()
