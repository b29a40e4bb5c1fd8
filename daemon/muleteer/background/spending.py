"""The tokens that background turns have used today, kept over restarts.

Knows a small file and the local calendar day; a day that is not today's, before or after, counts nothing.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from datetime import date
from pathlib import Path

from muleteer.durable import write_durably

log = logging.getLogger(__name__)

LONGEST = 4096  # bytes of the file


class Spending:
    """`today` tells the day."""

    def __init__(self, path: Path, today: Callable[[], date] = date.today) -> None:
        self._path, self._today = path, today
        self._day, self._tokens = "", 0

    async def open(self) -> None:
        """Read what was spent. A file that cannot be read counts as nothing spent, and is logged."""
        try:
            kept = json.loads(await asyncio.to_thread(self._read))
            self._day, self._tokens = str(kept["day"]), max(0, int(kept["tokens"]))
        except FileNotFoundError:
            pass
        except (OSError, ValueError, TypeError, KeyError) as error:
            log.warning("What background turns have used today is not known: %s", error)

    @property
    def tokens(self) -> int:
        """Used today."""
        return self._tokens if self._day == self._today().isoformat() else 0

    async def add(self, tokens: int) -> None:
        """Count tokens, on disk if that can be written."""
        self._tokens, self._day = self.tokens + tokens, self._today().isoformat()
        content = json.dumps({"day": self._day, "tokens": self._tokens}).encode()
        try:
            await asyncio.to_thread(write_durably, self._path, content)
        except OSError as error:
            log.warning("What background turns have used today is not kept: %s", error.strerror or error)

    def _read(self) -> bytes:
        with self._path.open("rb") as file:
            return file.read(LONGEST)
