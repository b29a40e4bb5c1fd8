"""Utterances kept as WAV files, where the settings say so; to find out why something is misheard.

Only what was acted upon comes here; what was said to nobody never does.
"""

from __future__ import annotations

import asyncio
import io
import logging
import wave
from datetime import datetime
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.voice.parts import RATE, SAMPLE_BYTES

log = logging.getLogger(__name__)

MOST_KEPT = 200  # the newest; of 4 s each they take 25 MB


class Recordings:
    """In `folder`, for this user alone."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._writing: set[asyncio.Task[None]] = set()

    def keep(self, pcm: bytes) -> None:
        """Waits for nothing."""
        if pcm:
            task = asyncio.create_task(self._keep(pcm), name="voice: keeping an utterance")
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def close(self) -> None:
        if self._writing:
            await asyncio.wait(self._writing)

    async def _keep(self, pcm: bytes) -> None:
        try:
            await asyncio.to_thread(self._write, pcm)
        except OSError as error:
            log.error("An utterance could not be kept: %s.", error.strerror or error)

    def _write(self, pcm: bytes) -> None:
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = io.BytesIO()
        with wave.open(content, "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(SAMPLE_BYTES)
            file.setframerate(RATE)
            file.writeframes(pcm)
        write_durably(self._folder / f"{datetime.now():%Y-%m-%dT%H-%M-%S.%f}.wav", content.getvalue())
        for old in sorted(self._folder.glob("*.wav"))[:-MOST_KEPT]:
            old.unlink()
