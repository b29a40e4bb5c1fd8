"""The parts of this board but its two ends, and people who talk to it."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from muleteer import paths
from muleteer.voice.activity import MicroActivity
from muleteer.voice.bench.rehearsal import Between, Rehearsal, rehearsal
from muleteer.voice.bench.sounds import Samples
from muleteer.voice.bench.talkers import PiperTalker
from muleteer.voice.conversation.cutter import AnswerCutter
from muleteer.voice.conversation.house import House
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.espeak import EspeakSpeech
from muleteer.voice.recognition import weights
from muleteer.voice.recognition.recognizer import LocalRecognizer
from muleteer.voice.recognition.wire import Setup
from muleteer.voice.spoken.reading import aloud
from muleteer.voice.wake import MicroWake

WAKE = "Okay Nabu!"
MODEL = "base"
MEMORY, THREADS = 768, 2  # MiB; of the machines that run this


@dataclass
class Gear:
    """All of it, with a recogniser that is a process."""

    recognizer: LocalRecognizer

    @asynccontextmanager
    async def with_house(
        self, house: House, manners: Manners, *, real_time: bool = False
    ) -> AsyncGenerator[Rehearsal, None]:
        """A conversation that runs; the two ends in it are its own."""
        wake = MicroWake("okay_nabu")
        parts = Between(wake, MicroActivity(), self.recognizer, EspeakSpeech())
        async with rehearsal(parts, house, manners, AnswerCutter, aloud, real_time=real_time) as on:
            yield on
        await wake.close()

    def kill_recognizer(self) -> None:
        """As the kernel does to what takes too much memory."""
        (process,) = (
            child
            for child in psutil.Process().children()
            if "muleteer.voice.recognition.process" in child.cmdline()
        )
        os.kill(process.pid, signal.SIGKILL)


@asynccontextmanager
async def gear() -> AsyncGenerator[Gear, None]:
    recognizer = LocalRecognizer(Setup("whisper", str(folder()), THREADS, MEMORY))
    recognizer.start()
    try:
        yield Gear(recognizer)
    finally:
        await recognizer.close()


def folder() -> Path:
    """Where the recogniser's weights lie."""
    return weights.located(MODEL, "en", paths.models_dir())


@cache
def piper(*sentences: str) -> dict[str, Samples]:
    """A man with an American voice."""
    return dict(zip(sentences, PiperTalker("en").say(sentences), strict=True))
