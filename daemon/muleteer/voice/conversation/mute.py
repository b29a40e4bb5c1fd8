"""The mute switch: by hand, which outlasts a restart, or by a switch at a pin. Muted by either is muted.

Knows a file and who is told. Whoever is told lets the microphone go before the call returns.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

from muleteer.durable import write_durably
from muleteer.errors import StorageError

log = logging.getLogger(__name__)

FILE_NAME = "voice-muted"  # its being there says all


class Mute:
    """`apply` is told whether the microphone is muted, at once, whatever becomes of the file."""

    def __init__(self, folder: Path, apply: Callable[[bool], None]) -> None:
        self._file, self._apply = folder / FILE_NAME, apply
        self._changing = asyncio.Lock()
        self.by_hand, self.by_pin = self._file.exists(), False

    @property
    def muted(self) -> bool:
        return self.by_hand or self.by_pin

    def pin(self, muted: bool) -> None:
        """The switch at the pin was moved."""
        self.by_pin = muted
        self._apply(self.muted)

    async def set(self, muted: bool) -> None:
        """By hand. Raises `StorageError` where it holds only until the next start."""
        self.by_hand = muted
        self._apply(self.muted)
        async with self._changing:
            try:
                await asyncio.to_thread(self._write, self.by_hand)
            except OSError as error:
                state = "muted" if muted else "open"
                raise StorageError(
                    f"The microphone is {state}, but only until the next start: {error.strerror or error}."
                ) from error

    def _write(self, muted: bool) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if muted:
            write_durably(self._file, b"")
        else:
            self._file.unlink(missing_ok=True)
