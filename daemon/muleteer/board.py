"""What the board tells of itself, as a service that tools are lent.

Knows what the bits of the Raspberry Pi's firmware mean in words; `sensors.py` knows where they are read.
"""

from __future__ import annotations

from muleteer.calling.threads import in_thread
from muleteer.sensors import Sensors
from muleteer.services import BoardState

# Bits of get_throttled that hold now; 16 bits higher they say what happened since the board started.
BITS = {
    0x1: "the supply voltage is too low",
    0x2: "the frequency is capped",
    0x4: "the processor is throttled",
    0x8: "the soft temperature limit is reached",
}
EVER = 16


class Board:
    """Implements `services.Board`."""

    def __init__(self, sensors: Sensors) -> None:
        self._sensors = sensors

    async def look(self) -> BoardState:
        """The state now."""
        reading = await in_thread(self._sensors.read, "board sensors", lambda: None)
        if reading.bits is None:
            return BoardState()
        return BoardState(_words(reading.bits), _words(reading.bits >> EVER))


def _words(bits: int) -> tuple[str, ...]:
    return tuple(words for bit, words in BITS.items() if bits & bit)
