"""Who holds which sessions: a limit for each peer, so that nobody takes the others' places.

What a peer opens beyond its limit takes the place of its own session that nobody has used for longest. Some
places are kept for the Unix socket, whatever comes over the network. Knows owners and times; no protocol.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from muleteer.errors import TooManyError

EACH = 8  # of one token: a person's programs have one each, and leave some behind
NETWORK = 48  # of all tokens together
LOCAL = 16  # kept for all programs on the Unix socket together
MOST = NETWORK + LOCAL
IDLE_SECONDS = 600.0  # without a request or an open stream, until a session ends

NO_PLACE = "{count} sessions are open already, and all of them are in use; end one of them first."
Link = TypeVar("Link")


@dataclass(frozen=True, slots=True)
class Owner:
    """A peer, by what tells it from others."""

    id: str
    is_local: bool


@dataclass(eq=False, slots=True)
class Session(Generic[Link]):
    """`id` is empty until it is open. `asking` requests are being answered, open streams included; `used` is
    when one last began or ended. `link` leads to its client."""

    owner: Owner
    used: float
    id: str = ""
    asking: int = 0
    link: Link | None = None


class Sessions(Generic[Link]):
    """All of them, in the order in which they were opened."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._sessions: list[Session[Link]] = []

    def __iter__(self) -> Iterator[Session[Link]]:
        return iter(tuple(self._sessions))

    def find(self, owner: Owner, id: str) -> Session[Link] | None:
        return next((each for each in self._sessions if (each.owner, each.id) == (owner, id)), None)

    def enter(self, owner: Owner) -> tuple[Session[Link], Session[Link] | None]:
        """A place for a new session, and the session that has to end for it. Raises `TooManyError`."""
        oldest = self._now() - IDLE_SECONDS
        self._sessions = [each for each in self._sessions if each.asking or each.used > oldest]
        rivals = self._rivals(owner)
        ending = self._longest_idle(rivals) if rivals else None
        if ending:
            self.leave(ending)
        session = Session[Link](owner, self._now())
        self._sessions.append(session)
        return session, ending

    def leave(self, session: Session[Link]) -> None:
        if session in self._sessions:
            self._sessions.remove(session)

    @contextmanager
    def asking(self, session: Session[Link]) -> Iterator[None]:
        """While one of its requests is answered. One that has not opened by the end of it is gone."""
        session.asking, session.used = session.asking + 1, self._now()
        try:
            yield
        finally:
            session.asking, session.used = session.asking - 1, self._now()
            if not session.id:
                self.leave(session)

    def _rivals(self, owner: Owner) -> Collection[Session[Link]]:
        """Those of whom one has to end before this owner may have another; none while there is room."""
        own = [each for each in self._sessions if each.owner == owner]
        network = [each for each in self._sessions if not each.owner.is_local]
        if len(own) >= _most(owner):
            return own
        return () if owner.is_local or len(network) < NETWORK else network

    def _longest_idle(self, rivals: Collection[Session[Link]]) -> Session[Link]:
        """Of whoever holds most."""
        held = Counter(each.owner for each in rivals)
        idle = [each for each in rivals if not each.asking]
        if not idle:
            raise TooManyError(NO_PLACE.format(count=len(rivals)))
        return min(idle, key=lambda each: (-held[each.owner], each.used))


def _most(owner: Owner) -> int:
    return LOCAL if owner.is_local else EACH
