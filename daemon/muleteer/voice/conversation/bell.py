"""Which timers ring, and when the next stroke is due. Pure: moments in seconds."""

from __future__ import annotations

from dataclasses import dataclass

MOST = 8  # ringing at once; what they are called is said one after the other
PERIOD = 4.0  # seconds from the end of a stroke to the next: room to say stop
LASTS = 90.0  # seconds; who has not heard it by then is not at home, and the neighbours are


@dataclass(frozen=True, slots=True)
class Rung:
    """One whose time has come. `kind` is `timer` or `alarm`."""

    kind: str
    label: str


class Bell:
    """Those that ring until somebody stops them, or they have rung long enough."""

    def __init__(self) -> None:
        self.rung: list[Rung] = []
        self._until = 0.0
        self.next: float | None = None
        """When the next stroke is due; None while one is heard, or none is to come."""

    def __bool__(self) -> bool:
        return bool(self.rung)

    def ring(self, now: float, rung: Rung) -> None:
        self.rung = [*self.rung, rung][-MOST:]
        self._until, self.next = now + LASTS, now

    def strike(self, now: float) -> bool:
        """Begin the stroke that is due; False where it has rung long enough."""
        self.next = None
        if now >= self._until:
            self.rung = []
        return bool(self.rung)

    def heard_out(self, now: float) -> None:
        """A stroke is over."""
        if self.rung:
            self.next = now + PERIOD

    def resume(self) -> None:
        """A stroke, or the wait for the next one, was broken off: the next one is due."""
        if self.rung and self.next is None:
            self.next = 0.0

    def stop(self) -> bool:
        """Whether anything rang."""
        rang, self.rung, self.next = bool(self.rung), [], None
        return rang
