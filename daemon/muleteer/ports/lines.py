"""Bytes in, whole lines out: what a device says, however it is cut, long or broken.

Pure: no port, no clock. A line counts only when both its ends were seen, since half of "21.5" is a number,
too. What a device can make grow is one line, and that has a limit.
"""

from __future__ import annotations

import re

LONGEST = 256  # bytes of one line; a reading is a tenth of it, and a longer line is no answer
SHOWN = 60  # characters of what was received that a sentence repeats
UNFIT = "\N{REPLACEMENT CHARACTER}"
ENDS = re.compile(rb"[\r\n]")


class Lines:
    """A stream that is cut into lines at CR, LF or both; empty ones are left out."""

    def __init__(self) -> None:
        self._rest = bytearray()
        self._broken = False

    @property
    def inside(self) -> bool:
        """Whether a line has begun and not ended."""
        return self._broken or bool(self._rest)

    def restart(self, *, broken: bool) -> None:
        """Forget what has come. With `broken` a line goes on, so that its rest is none."""
        self._rest.clear()
        self._broken = broken

    def feed(self, data: bytes) -> list[str]:
        """The lines that these bytes complete, without their ends; what is no UTF-8 becomes U+FFFD."""
        *ended, rest = ENDS.split(bytes(self._rest) + data)
        if ended and self._broken:
            ended.pop(0)
            self._broken = False
        if len(rest) > LONGEST:
            self._broken = True
        self._rest[:] = b"" if self._broken else rest
        return [line.decode(errors="replace").strip() for line in ended if 0 < len(line) <= LONGEST]

    def half(self) -> str:
        """What has come of a line that has not ended."""
        return self._rest.decode(errors="replace").strip()


def shown(text: str) -> str:
    """What a device sent, in quotes, fit for a sentence: printable and short."""
    plain = "".join(each if each.isprintable() and each != '"' else UNFIT for each in text)
    return f'"{plain}"' if len(plain) <= SHOWN else f'"{plain[:SHOWN]}\N{HORIZONTAL ELLIPSIS}"'
