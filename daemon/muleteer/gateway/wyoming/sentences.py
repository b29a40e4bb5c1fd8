"""Text that comes in pieces, cut into what can be spoken: whole sentences. Pure."""

from __future__ import annotations

import re

# After a digit a period may be that of "3. May", or of a number that is not whole yet.
_END = re.compile(r"(?:(?<!\d)\.|[!?…])[\"'”“»)\]]*\s+|\n\s*")
LONGEST = 2000  # characters without an end; then what there is is spoken


class Sentences:
    """What `feed` and `rest` give, joined, is what was fed."""

    def __init__(self) -> None:
        self._rest = ""

    def feed(self, piece: str) -> list[str]:
        """The sentences that this piece has made whole."""
        self._rest += piece
        whole, start = [], 0
        for end in _END.finditer(self._rest):
            if self._rest[start : end.end()].strip():
                whole.append(self._rest[start : end.end()])
                start = end.end()
        self._rest = self._rest[start:]
        if len(self._rest) > LONGEST:
            whole.append(self.rest())
        return whole

    def rest(self) -> str:
        """What is left when nothing more comes."""
        rest, self._rest = self._rest, ""
        return rest
