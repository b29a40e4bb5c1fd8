"""`/v1/sessions`: conversations by name: what the model is told of one again, listing and forgetting them. A
token's are its own; the household sees all, a token's by their keys.

Knows the shapes on the wire. What is kept, and how long, is the memory's business: where nothing is kept,
there are no sessions, and a client that wants one sends its history itself.
"""

from __future__ import annotations

import logging
import re
from dataclasses import asdict

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from muleteer.engine.protocol import Message
from muleteer.errors import MuleteerError, RequestError, StorageError
from muleteer.gateway import replies
from muleteer.gateway.memory import ForgetTalks
from muleteer.gateway.peer import peer_of
from muleteer.gateway.requests import SESSION, SESSION_KEY, WRONG_SESSION
from muleteer.session import key_of, name_of, told_again
from muleteer.store.memory import TurnMemory

log = logging.getLogger(__name__)


class Conversations:
    """The sessions in a memory; of one, the last `days` days are told again."""

    def __init__(self, memory: TurnMemory, days: int, forget_talks: ForgetTalks) -> None:
        self._memory, self._days, self._forget_talks = memory, days, forget_talks

    async def history(self, key: str) -> tuple[Message, ...]:
        """What was said in the session of this key, oldest first; nothing where it cannot be read, since the
        turn is worth more than what was before it."""
        if not (key and self._memory.days and self._days):
            return ()
        try:
            talk = await self._memory.talk(key, self._days)
        except OSError as error:
            log.warning("A turn does not know what was said before in its session: %s", error)
            return ()
        return tuple(
            message
            for each in talk
            for message in (
                Message("user", each.message),
                Message("assistant", told_again(each.answer, each.looked_up)),
            )
        )

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/v1/sessions", self._list),
            Route("/v1/sessions/{name}", self._show, methods=["GET"]),
            Route("/v1/sessions/{name}", self._forget, methods=["DELETE"]),
        ]

    async def _list(self, request: Request) -> Response:
        owner = peer_of(request.scope).keeper
        try:
            found = await self._memory.sessions(owner) if self._memory.days else []
        except OSError as error:
            raise StorageError(f"The sessions cannot be read: {error}") from error
        listed = [asdict(each) | {"name": name_of(each.name, owner)} for each in found]
        return replies.Json({"sessions": listed, "kept": bool(self._memory.days)})

    async def _show(self, request: Request) -> Response:
        """The messages that the model would be told."""
        said = await self.history(_key(request))
        return replies.Json({"messages": [{"role": m.role, "content": m.content} for m in said]})

    async def _forget(self, request: Request) -> Response:
        """Also from the engine, which may hold what was said."""
        key = _key(request)
        try:
            turns = await self._memory.forget_session(key)
            await self._forget_talks()
        except (OSError, MuleteerError) as error:
            raise StorageError(f"The session {key!r} was not forgotten whole: {error}") from error
        return replies.Json({"turns": turns})


def _key(request: Request) -> str:
    """Who has the household's sessions may name any other by its key."""
    name, owner = str(request.path_params["name"]), peer_of(request.scope).keeper
    if not name or not re.fullmatch(SESSION if owner else SESSION_KEY, name):
        raise RequestError(WRONG_SESSION)
    return key_of(name, owner)
