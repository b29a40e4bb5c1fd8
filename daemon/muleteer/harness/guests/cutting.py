"""A text that ends at a stop string, or where it has as many tokens as it may have. Pure and streaming."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

Count = Callable[[str], Awaitable[int]]


class Stops:
    """Ends a text before the first of the stop strings, wherever its chunks are cut."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [stop for stop in stops if stop]
        self._held = ""
        self.stopped = False

    def feed(self, text: str) -> str:
        """What is certain to be before a stop string."""
        if self.stopped:
            return ""
        self._held += text
        found = [at for stop in self._stops if (at := self._held.find(stop)) >= 0]
        self.stopped = bool(found)
        border = min(found) if found else len(self._held) - self._beginning()
        shown, self._held = self._held[:border], "" if found else self._held[border:]
        return shown

    def finish(self) -> str:
        rest, self._held = self._held, ""
        return rest

    def _beginning(self) -> int:
        """How many last characters could begin a stop string."""
        longest = max(map(len, self._stops), default=1) - 1
        sizes = range(min(longest, len(self._held)), 0, -1)
        return next((n for n in sizes if any(stop.startswith(self._held[-n:]) for stop in self._stops)), 0)


class Limited:
    """Ends a text at `limit` tokens, which `count` counts; only asked where there may be as many, since a
    token has at least one byte."""

    def __init__(self, limit: int | None, count: Count) -> None:
        self._limit, self._count = limit, count
        self._said = ""
        self.cut = False

    async def feed(self, text: str) -> str:
        """As much of it as fits."""
        if self._limit is None or self.cut:
            return "" if self.cut else text
        whole = self._said + text
        if len(whole.encode(errors="replace")) > self._limit and await self._count(whole) > self._limit:
            self.cut = True
            whole = await self._fitting(whole)
        shown, self._said = whole[len(self._said) :], whole
        return shown

    async def _fitting(self, text: str) -> str:
        """The longest beginning that fits, and at least what was shown already."""
        low, high = len(self._said), len(text) - 1
        while low < high:
            middle = (low + high + 1) // 2
            if await self._count(text[:middle]) <= (self._limit or 0):
                low = middle
            else:
                high = middle - 1
        return text[:low]
