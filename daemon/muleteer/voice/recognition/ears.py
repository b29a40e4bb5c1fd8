"""What ears are to the recogniser's process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from muleteer.voice.parts import Heard


class Ears(Protocol):
    """Speech to text, blocking."""

    def hear(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """What was said in `pcm` (`parts.RATE`); "" where nothing was understood."""
        ...
