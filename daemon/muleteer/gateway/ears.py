"""Who may listen for as long as it likes: so many streams of each token, and some that are this device's own.

Counts; does not know what is heard.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from muleteer.errors import TooManyError
from muleteer.gateway.peer import Peer

TOO_MANY = "{count} streams listen for changes already; end one of them first."


class Ears:
    """`each` are for one token, `network` for all of them together, `own` for the Unix socket."""

    def __init__(self, each: int, network: int, own: int) -> None:
        self._each, self._network, self._own = each, network, own
        self._taken: Counter[str] = Counter()  # by the ids of peers on the network
        self._taken_here = 0

    @contextmanager
    def taken(self, peer: Peer) -> Iterator[None]:
        """One of them, until the block ends. Raises `TooManyError`."""
        if peer.transport == "unix":
            _check(self._taken_here, self._own)
            self._taken_here += 1
        else:
            _check(self._taken[peer.id], self._each)
            _check(self._taken.total(), self._network)
            self._taken[peer.id] += 1
        try:
            yield
        finally:
            if peer.transport == "unix":
                self._taken_here -= 1
            else:
                self._taken[peer.id] -= 1
                self._taken += Counter()  # forgets who has none


def _check(count: int, most: int) -> None:
    if count >= most:
        raise TooManyError(TOO_MANY.format(count=count))
