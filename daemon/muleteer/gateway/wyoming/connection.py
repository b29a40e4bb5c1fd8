"""One client of Wyoming: its events in, answers out, within limits.

What it asks about the service is answered at once, whatever else is going on; what it says is answered one
after the other. When it leaves, the turn that it waits for ends. Knows streams and deadlines; not turns.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from wyoming.asr import Transcript
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from muleteer import session
from muleteer.allowance import Allowance
from muleteer.gateway import peer
from muleteer.gateway.peer import Peer
from muleteer.gateway.wyoming.talk import CONVERSATION, LONGEST_CONVERSATION, Talks
from muleteer.gateway.wyoming.wire import EVENT_SECONDS, BadEventError, encode_event, read_event

log = logging.getLogger(__name__)

EVENTS, AT_ONCE = 50.0, 500.0  # events a second, and at once; sound, which is dropped, comes in 16 a second
MOST_WAITING = 4  # transcripts; a person says one and waits
LONGEST_PING = 1024  # characters, sent back


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: a client may be silent, an event may take to come, and an answer to be taken."""

    idle: float = 300.0  # a pipeline may keep its connection; each of the few there may be holds 64 KiB
    event: float = EVENT_SECONDS
    write: float = 10.0


class Connection:
    """Serves one client with `run`. `info` makes the description of the service."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        who: Peer,
        talks: Talks,
        info: Callable[[], Info],
        limits: Limits,
    ) -> None:
        self._reader, self._writer, self._who = reader, writer, who
        self._talks, self._info, self._limits = talks, info, limits
        loop = asyncio.get_running_loop()
        self._allowed = Allowance.of(EVENTS, AT_ONCE, loop.time())
        self._waiting: asyncio.Queue[Transcript] = asyncio.Queue(MOST_WAITING)
        self._conversation = secrets.token_hex(16)
        self._is_ending = False
        self.is_answering = False

    def end(self) -> None:
        """Hang up as soon as nothing is being answered."""
        self._is_ending = True
        if not self.is_answering:
            self._writer.transport.abort()

    async def run(self) -> None:
        """Until the client leaves, or has to."""
        answering = asyncio.create_task(self._answer_all(), name="wyoming answers")
        answering.add_done_callback(lambda _: self._writer.close())
        try:
            while (event := await self._next()) is not None:
                await self._take(event)
        except BadEventError as error:
            log.debug("A client of Wyoming is cut off: %s", error)
            await self._refuse(str(error))
        except OSError as error:
            log.debug("A client of Wyoming is gone: %s", error)
        finally:
            answering.cancel()
            await asyncio.wait({answering})
            self._writer.transport.abort()
            with contextlib.suppress(OSError):
                await self._writer.wait_closed()
            if not answering.cancelled():
                answering.result()

    async def _refuse(self, why: str) -> None:
        """Say why, if the client takes it, and hang up."""
        with contextlib.suppress(OSError):
            await self._send(Error(why, "bad-event").event())
            self._writer.close()
            async with asyncio.timeout(self._limits.write):
                await self._writer.wait_closed()

    async def _next(self) -> Event | None:
        """None when the client has left, or was silent for too long."""
        while True:
            try:
                async with asyncio.timeout(self._limits.idle) as silence:
                    begun = partial(silence.reschedule, None)
                    return await read_event(self._reader, self._limits.event, begun)
            except TimeoutError:
                if not self.is_answering:
                    return None

    async def _take(self, event: Event) -> None:
        if not self._allowed.take(asyncio.get_running_loop().time()):
            raise BadEventError("There are too many events; send fewer.")
        if Describe.is_type(event.type):
            await self._send(self._info().event())
        elif Ping.is_type(event.type):
            text = event.data.get("text")
            await self._send(Pong(text[:LONGEST_PING] if isinstance(text, str) else None).event())
        elif Transcript.is_type(event.type):
            if not isinstance(event.data.get("text"), str):
                raise BadEventError('A transcript needs a "text".')
            if self._waiting.full():
                raise BadEventError("Several requests wait already; wait for their answers first.")
            self._waiting.put_nowait(Transcript.from_event(event))

    async def _answer_all(self) -> None:
        peer.current.set(self._who)
        while not self._is_ending:
            said = await self._waiting.get()
            self.is_answering = True
            try:
                await self._answer(said)
            except OSError as error:
                log.debug("A client of Wyoming does not take its answer: %s", error)
                self._writer.transport.abort()
                return
            finally:
                self.is_answering = False

    async def _answer(self, said: Transcript) -> None:
        given = said.context.get(CONVERSATION) if isinstance(said.context, dict) else None
        named = isinstance(given, str) and 0 < len(given) <= LONGEST_CONVERSATION
        conversation = str(given) if named else self._conversation
        place = self._who.address if self._who.transport != "unix" else "unix"
        name = self._talks.session_of(place, conversation)
        session.begin(name)
        told = {"peer": self._who.address, "transport": self._who.transport}
        log.info("Something was said by Wyoming.", extra=told)
        async with aclosing(self._talks.answer(said.text, name, {CONVERSATION: conversation})) as events:
            async for event in events:
                await self._send(event)

    async def _send(self, event: Event) -> None:
        """Raises `OSError` when the client does not take it."""
        if self._writer.is_closing():  # uvloop's transports raise what is no OSError then
            raise ConnectionResetError("it has left")
        self._writer.write(encode_event(event))
        async with asyncio.timeout(self._limits.write):
            await self._writer.drain()
