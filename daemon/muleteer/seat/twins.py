"""Two devices with one id and one key, as two cards of one image are: found out by what they draw at a start.

A device that starts again draws another number and never shows an older one, so a number that comes back
belongs to a second device. Neither is let in while both are heard. Pure; knows neither connections nor votes.
"""

from __future__ import annotations

import secrets

REST_SECONDS = 30.0  # in which each that is turned away has tried again many times
MOST_STARTS = 8  # remembered of one device
SIZE = 8  # bytes that a start draws: no two ever draw the same


def new_start() -> str:
    """What a start of this device shows to others, 16 hexadecimal digits."""
    return secrets.token_hex(SIZE)


def advice(device: str) -> str:
    """What people are told."""
    return (
        f"two devices have the id {device}; on the copy stop Muleteer, remove device-id, device-key and "
        "household.json in its state folder, and join again"
    )


class Twins:
    """What each device has shown. Times are seconds of one clock."""

    def __init__(self) -> None:
        self._shown: dict[str, dict[str, float]] = {}  # starts in the order they came up, and when last
        self._doubled: dict[str, float] = {}

    def shows(self, device: str, start: str, now: float) -> bool:
        """A device shows its start. Whether that is how two of this id were found out."""
        shown = self._shown.setdefault(device, {})
        came_back = start in shown and start != next(reversed(shown))
        shown[start] = now
        if came_back:
            shown[start] = shown.pop(start)
        while len(shown) > MOST_STARTS:
            del shown[next(iter(shown))]
        if came_back and device not in self._doubled:
            self._doubled[device] = now
            return True
        return False

    def refuses(self, device: str, now: float) -> bool:
        """Whether there are two of this id: until only one of them has been heard for a while."""
        if (since := self._doubled.get(device)) is None:
            return False
        lately = [at for at in self._shown[device].values() if now - at < REST_SECONDS]
        if now - since < REST_SECONDS or len(lately) > 1:
            return True
        del self._doubled[device]
        return False
