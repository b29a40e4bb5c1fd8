from __future__ import annotations

import numpy as np
import pytest

from muleteer.voice.bench.sounds import Samples, cut, joined, noise, over, pcm, samples, silence, trimmed
from muleteer.voice.parts import FRAME_BYTES, RATE, Sound


def tone(hertz: float, seconds: float, rate: int = RATE) -> Samples:
    return np.asarray(0.5 * np.sin(2 * np.pi * hertz * np.arange(round(seconds * rate)) / rate), np.float32)


def loudest(wave: Samples) -> float:
    """The frequency that is strongest, in Hz."""
    return float(np.argmax(np.abs(np.fft.rfft(wave))) * RATE / len(wave))


@pytest.mark.parametrize("rate", [8000, 22050, 48000])
def test_another_rate_is_the_same_tone_as_long_and_as_loud(rate: int) -> None:
    wave = tone(440, 0.5, rate)
    made = samples(Sound((wave * 32767).astype("<i2").tobytes(), rate))
    assert len(made) == pytest.approx(0.5 * RATE, abs=1)
    assert loudest(made) == pytest.approx(440, abs=2)
    assert float(np.abs(made[800:-800]).max()) == pytest.approx(0.5, rel=0.02)


def test_what_the_rate_cannot_hold_does_not_fold_back() -> None:
    made = samples(Sound((tone(10_000, 0.5, 22050) * 32767).astype("<i2").tobytes(), 22050))
    assert float(np.abs(made).max()) < 0.01


def test_no_sound_is_no_sound() -> None:
    assert len(samples(Sound(b"", 22050))) == 0
    assert len(trimmed(silence(0.1))) == 0
    assert pcm(silence(0)) == b""


def test_bytes_are_whole_frames_and_are_read_back() -> None:
    data = pcm(tone(300, 0.011))
    assert len(data) % FRAME_BYTES == 0
    assert np.allclose(samples(Sound(data, RATE))[:176], tone(300, 0.011), atol=1e-4)
    assert np.frombuffer(pcm(tone(300, 0.1) * 9), "<i2").max() == 32767


@pytest.mark.parametrize("decibels", [0.0, 10.0, 20.0])
def test_noise_is_as_far_below_the_speech_as_asked(decibels: float) -> None:
    speech = joined(silence(0.2), tone(500, 0.2) * 0.1, silence(0.2))
    hiss = over(speech, noise(0.3, seed=4), decibels) - speech
    ratio = np.mean(np.square(speech[speech != 0])) / np.mean(np.square(hiss))
    assert 10 * np.log10(ratio) == pytest.approx(decibels, abs=0.5)


def test_what_is_mixed_too_loud_is_turned_down_not_cut_off() -> None:
    assert float(np.abs(over(tone(500, 0.2) * 2, noise(0.2), 0)).max()) == pytest.approx(1.0)


def test_silence_around_speech_goes_and_the_speech_stays() -> None:
    assert len(trimmed(joined(silence(0.3), tone(500, 0.2), silence(0.1)))) == pytest.approx(
        0.2 * RATE, abs=9
    )


def test_a_cut_is_faded() -> None:
    assert len(cut(tone(500, 1), 0.25)) == 0.25 * RATE
    assert cut(tone(500, 1), 0.25)[-1] == 0
