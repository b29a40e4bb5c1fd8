"""Who may take a place for a turn: so many run or wait at once, and no client takes them from all others.

Each peer of the network has a share of the places, and some are for this device alone: its owner at the Unix
socket is served however busy the network is. Counts; does not know turns.
"""

from __future__ import annotations

from collections import Counter

from muleteer.errors import EngineBusyError, TooManyError
from muleteer.gateway.peer import Peer

SHARES = 2  # one peer of the network has all places divided by this, so that others find one
LEAST_SHARE = 2  # turns: one that is answered, and one that waits behind it
OWN = 2  # places of this device alone: a person's turn at the Unix socket, and one of the background
RETRY_SECONDS = 5.0  # hint; a turn ends in about that


class Places:
    """`limit` is how many there are. At most half of them are this device's own, and where there are fewer
    for the network than a share, one peer may have them all."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._network = limit - min(OWN, limit // 2)
        self._share = max(LEAST_SHARE, limit // SHARES)
        self._taken: Counter[str] = Counter()  # by peers of the network, by their ids
        self._own = 0

    def take(self, who: Peer | None) -> None:
        """A place until `leave`; None is the background. Raises `TooManyError` when the peer has its share,
        and `EngineBusyError` when all that it may take are taken."""
        network = self._taken.total()
        full = network + self._own >= self._limit
        if who is not None and who.transport != "unix":
            if self._taken[who.id] >= self._share:
                raise TooManyError(
                    f"{self._share} turns of this client are running or waiting already, which is its"
                    " share; ask again when one of them has ended.",
                    RETRY_SECONDS,
                )
            full = full or network >= self._network
        if full:
            busy = network + self._own
            raise EngineBusyError(
                f"{busy} turns are running or waiting already; ask again soon.", RETRY_SECONDS
            )
        if who is None or who.transport == "unix":
            self._own += 1
        else:
            self._taken[who.id] += 1

    def leave(self, who: Peer | None) -> None:
        """The place is free again."""
        if who is None or who.transport == "unix":
            self._own -= 1
            return
        self._taken[who.id] -= 1
        if not self._taken[who.id]:
            del self._taken[who.id]
