"""How much somebody may still do: so often a second for good, and so often at once. Pure; time is given."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

MOST_COUNTED = 1024  # each some 200 bytes; then who was seen longest ago is new again


@dataclass(slots=True)
class Allowance:
    """How much more somebody may do: `rate` a second, at most `burst` at once."""

    rate: float
    burst: float
    left: float
    at: float

    @classmethod
    def of(cls, rate: float, burst: float, now: float) -> Allowance:
        return cls(rate, burst, burst, now)

    def take(self, now: float) -> bool:
        """Whether one more is allowed, and then it is taken."""
        self.left = min(self.burst, self.left + (now - self.at) * self.rate)
        self.at = now
        if self.left < 1:
            return False
        self.left -= 1
        return True


class Allowances:
    """The same allowance for each of many, by any key."""

    def __init__(self, rate: float, burst: float) -> None:
        self._rate, self._burst = rate, burst
        self._counted: dict[Hashable, Allowance] = {}

    def take(self, key: Hashable, now: float) -> bool:
        """Whether `key` may once more, and then it has."""
        allowed = self._counted.pop(key, None) or Allowance.of(self._rate, self._burst, now)
        if len(self._counted) >= MOST_COUNTED:
            del self._counted[next(iter(self._counted))]
        self._counted[key] = allowed  # in the order of their last use
        return allowed.take(now)
