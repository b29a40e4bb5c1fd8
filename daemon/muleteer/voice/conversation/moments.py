"""The moments that a conversation waits for. Pure; each is None while it is not awaited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Moments:
    """`until`: listening, or patience, ends. `opens`: the ear does. `ready`: a tone says that somebody
    listens. `slow`: the next sign of life."""

    until: float | None = None
    opens: float | None = None
    ready: float | None = None
    slow: float | None = None

    @property
    def next(self) -> float | None:
        """The first of them."""
        awaited = (self.until, self.opens, self.ready, self.slow)
        return min((each for each in awaited if each is not None), default=None)

    def clear(self) -> None:
        self.until = self.opens = self.ready = self.slow = None


def over(moment: float | None, now: float) -> bool:
    """Whether a moment that is awaited has come."""
    return moment is not None and now >= moment
