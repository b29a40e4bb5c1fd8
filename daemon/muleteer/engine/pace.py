"""How many prompt tokens to decode between two looks for a cancel, from how fast this machine decodes them.

Pure arithmetic on counts and seconds. A Raspberry Pi 5 reads 20-40 tokens a second with a 1.5B model, this
machine's kind over 100: no fixed number serves both.
"""

from __future__ import annotations

# A cancel must free the engine in under a second; this leaves room for a chunk that is slower than the last.
CHUNK_SECONDS = 0.7

# From here on a chunk is too slow and the next one smaller. In between nothing changes: where a prompt is cut
# into chunks shows in the last digits of its scores, so the cuts shall not wander with the machine's load.
SLOWEST_CHUNK = 0.85

# Fewer tokens use the matrix kernels badly, and a chunk of so few is quick even on the slowest board. Sizes
# are multiples of it.
SMALLEST_CHUNK = 16


class Pace:
    """`size` is the number of tokens of the next chunk, at most `largest`."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self.size = min(SMALLEST_CHUNK, largest)

    def took(self, tokens: int, seconds: float) -> None:
        """A chunk is done. Chunks too small to tell the speed are not counted; growth is at most twofold,
        because the speed of a small chunk says little about a large one."""
        if tokens < SMALLEST_CHUNK:
            return
        fitting = int(tokens * CHUNK_SECONDS / max(seconds, 1e-6)) // SMALLEST_CHUNK * SMALLEST_CHUNK
        if fitting > self.size or seconds > SLOWEST_CHUNK:
            self.size = min(self._largest, max(SMALLEST_CHUNK, min(fitting, 2 * self.size)))
