"""Sound as arrays of numbers: silence, noise, mixing, cutting, and another rate.

Pure. Samples are float32 between -1 and 1 at `RATE`; `pcm` makes the bytes of parts, `samples` reads them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from muleteer.voice.parts import FRAME_BYTES, RATE, Sound

Samples: TypeAlias = NDArray[np.float32]

LOUDEST = 32767.0  # of 16 bits
FADE_SECONDS = 0.005  # a cut inside a wave would click


def samples(sound: Sound) -> Samples:
    """At `RATE`, whatever rate it had."""
    wave = np.frombuffer(sound.pcm, dtype="<i2").astype(np.float32) / LOUDEST
    return wave if sound.rate == RATE else _resampled(wave, sound.rate)


def pcm(wave: Samples) -> bytes:
    """Whole frames; what is louder than 16 bits can say is cut off."""
    data = (np.clip(wave, -1.0, 1.0) * LOUDEST).astype("<i2").tobytes()
    return data + bytes(-len(data) % FRAME_BYTES)


def silence(seconds: float) -> Samples:
    return np.zeros(round(seconds * RATE), dtype=np.float32)


def noise(seconds: float, seed: int = 0) -> Samples:
    """Like a fan or a busy road: the same power in every octave (pink), root mean square 1."""
    count = round(seconds * RATE)
    spectrum = np.fft.rfft(np.random.default_rng(seed).standard_normal(count))
    spectrum[0] = 0.0
    spectrum[1:] /= np.sqrt(np.arange(1, len(spectrum)))
    wave = np.fft.irfft(spectrum, count)
    return np.asarray(wave / _power(wave.astype(np.float32)) ** 0.5, dtype=np.float32)


def joined(*waves: Samples) -> Samples:
    """One after the other."""
    return np.concatenate(waves)


def over(wave: Samples, other: Samples, decibels: float) -> Samples:
    """Both at once: `other`, repeated or cut to the length of `wave`, so many decibels below its speech."""
    scale = (_power(wave[wave != 0]) / _power(other)) ** 0.5 * 10 ** (-decibels / 20)
    mixed = wave + np.resize(other, len(wave)) * np.float32(scale)
    return np.asarray(mixed / max(1.0, float(np.abs(mixed).max())), dtype=np.float32)


def cut(wave: Samples, seconds: float) -> Samples:
    """Its first `seconds`, faded at the end."""
    first = wave[: round(seconds * RATE)].copy()
    fade = min(len(first), round(FADE_SECONDS * RATE))
    if fade:
        first[-fade:] *= np.linspace(1.0, 0.0, fade, dtype=np.float32)
    return first


def trimmed(wave: Samples, below: float = 0.01) -> Samples:
    """Without what is as good as silent (`below` of the loudest) before and after: where speech ends is what
    latency counts from."""
    loud = np.flatnonzero(np.abs(wave) > below * max(float(np.abs(wave).max(initial=0.0)), 1e-6))
    return wave[loud[0] : loud[-1] + 1] if len(loud) else wave[:0]


def _power(wave: Samples) -> float:
    return float(np.mean(np.square(wave, dtype=np.float64))) if len(wave) else 1.0


def _resampled(wave: Samples, rate: int) -> Samples:
    """By its spectrum: what the lower of the two rates cannot hold is left out, and nothing folds back."""
    count = round(len(wave) * RATE / rate)
    if not count:
        return wave[:0]
    spectrum = np.fft.rfft(wave)[: count // 2 + 1]
    return np.asarray(np.fft.irfft(spectrum, count) * (count / len(wave)), dtype=np.float32)
