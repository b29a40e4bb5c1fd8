"""Lists of members as peers tell them, until they are kept: one that the disk does not take is tried again.

Knows the newest such list of each peer; not what becomes of a device that is no member any more.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from muleteer.seat.enrolment import Enrolment
from muleteer.seat.roster import RosterFullError
from muleteer.seat.wire import Body

log = logging.getLogger(__name__)

HEAR_SECONDS = 10.0  # until a list that could not be kept is tried again


class Hearsay:
    """`start` runs a coroutine of that name; `sent_away` is called when this device is on a list no more."""

    def __init__(
        self,
        enrolment: Enrolment,
        start: Callable[[Coroutine[Any, Any, None], str], object],
        sent_away: Callable[[], None],
    ) -> None:
        self._enrolment, self._start, self._sent_away = enrolment, start, sent_away
        self._waiting: dict[str, Body] = {}

    def hear(self, peer: str, body: Body) -> None:
        """Raises `ValueError`, `TypeError` for what is no list."""
        try:
            belongs = self._enrolment.hear(peer, body)
        except (OSError, RosterFullError) as error:
            if peer not in self._waiting:
                name = self._enrolment.name_of(peer)
                log.warning("The list of members that %s tells cannot be kept yet: %s", name, error)
                self._start(self._hear_again(peer), "hearing of members")
            self._waiting[peer] = body
            return
        self._waiting.pop(peer, None)
        if not belongs:
            self._sent_away()

    async def _hear_again(self, peer: str) -> None:
        while peer in self._waiting:
            await asyncio.sleep(HEAR_SECONDS)
            if peer not in {each.id for each in self._enrolment.others()}:
                self._waiting.pop(peer, None)
            elif body := self._waiting.get(peer):
                self.hear(peer, body)
