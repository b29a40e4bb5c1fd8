"""Another program's Wyoming server: where it is, one connection, and what it may send.

Whoever answers at an address is a stranger: what it sends has limits in size and time, and whatever is wrong
with it ends the connection and is told as `PartGone`. Knows connections and sound; not what is asked.
"""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit

from wyoming.audio import AudioChunk, AudioChunkConverter, AudioStart, AudioStop
from wyoming.error import Error
from wyoming.event import Event

from muleteer.errors import ConfigError
from muleteer.gateway.wyoming.wire import (
    EVENT_SECONDS,
    LONGEST_LINE,
    BadEventError,
    Sizes,
    encode_event,
    read_event,
)
from muleteer.voice.parts import RATE, SAMPLE_BYTES, PartGone, Sound

CONNECT_SECONDS = 3.0  # a local network answers in milliseconds; a board that is off never does
SEND_SECONDS = 10.0  # a server that takes nothing for so long does not work any more
FROM_SERVERS = Sizes(
    data=1 << 20, payload=4 << 20, keeps_payload=True
)  # a minute of sound at once, and a list
CHUNK_BYTES = 2048  # of sound at once: 64 ms, as the programs of the Rhasspy world send it
SLOWEST, FASTEST = 8_000, 96_000  # samples a second that sound may have
MOST_CHANNELS = 2  # more cannot be mixed by the package
LONGEST_REASON = 200  # characters of a server's own words in a sentence of ours
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds before a lost connection is tried again, doubled each time

_SCHEMES = ("wyoming", "tcp")  # both are in use for the same
_HIDDEN = re.compile(r"[^\w\s.,:;'\"()/-]")


@dataclass(frozen=True, slots=True)
class Address:
    """A TCP port of a host, or the path of a Unix socket."""

    host: str
    port: int
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Address:
        """Of "wyoming://host:port", or "unix:///path". Raises ConfigError."""
        wrong = ConfigError(
            f'"{text}" is no address of a Wyoming server; write it as wyoming://kitchen:10300.'
        )
        try:
            parts = urlsplit(text)
            port = parts.port
        except ValueError:
            raise wrong from None
        if parts.scheme == "unix" and parts.path and not parts.netloc:
            return cls("", 0, parts.path)
        if parts.scheme not in _SCHEMES or not parts.hostname or not port or parts.path.strip("/"):
            raise wrong
        return cls(parts.hostname, port)

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"unix://{self.path}" if self.path else f"wyoming://{host}:{self.port}"


class Link:
    """One connection. Everything that fails raises `PartGone`."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, server: Server) -> None:
        self._reader, self._writer, self._server = reader, writer, server

    async def send(self, *events: Event) -> None:
        """Returns when they are on their way."""
        if self._writer.is_closing():  # uvloop's transports raise what is no OSError then
            raise self._server.gone("has hung up")
        self._writer.write(b"".join(encode_event(event) for event in events))
        try:
            async with asyncio.timeout(SEND_SECONDS):
                await self._writer.drain()
        except TimeoutError:
            raise self._server.gone("takes nothing more") from None
        except OSError as error:
            raise self._server.gone(f"has hung up ({_why(error)})") from None

    async def next(self, seconds: float | None) -> Event:
        """The next event; `seconds` to wait for its first byte, None: for ever."""
        try:
            async with asyncio.timeout(seconds) as waiting:
                begun = partial(waiting.reschedule, None)
                event = await read_event(self._reader, EVENT_SECONDS, begun, FROM_SERVERS)
        except TimeoutError:
            raise self._server.gone(f"has not answered within {seconds:.0f} seconds") from None
        except OSError as error:
            raise self._server.gone(f"has hung up ({_why(error)})") from None
        except BadEventError as error:
            raise self._server.gone(f"does not keep to Wyoming ({error})") from None
        if event is None:
            raise self._server.gone("has hung up")
        if Error.is_type(event.type):
            raise self._server.gone(f"has failed ({_reason(event.data.get('text'))})")
        return event

    async def send_sound(self, pcm: bytes, rate: int = RATE) -> None:
        """As one stream, from its start to its stop."""
        form = {"rate": rate, "width": SAMPLE_BYTES, "channels": 1}
        await self.send(AudioStart(**form).event())
        for start in range(0, len(pcm), CHUNK_BYTES):
            await self.send(AudioChunk(audio=pcm[start : start + CHUNK_BYTES], **form).event())
        await self.send(AudioStop().event())

    async def close(self) -> None:
        """Idempotent."""
        self._writer.close()
        with suppress(OSError, TimeoutError):
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._writer.wait_closed()


class Server:
    """A program at `address` that is this `part` of a conversation, as people name it: "recogniser"."""

    def __init__(self, address: str, part: str) -> None:
        self.address, self.part = Address.parse(address), part

    def gone(self, why: str) -> PartGone:
        """The fault, as a sentence."""
        return PartGone(f"The {self.part} at {self.address} {why}; see whether it runs there.")

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Link]:
        """A connection for as long as this is entered. Raises PartGone."""
        link = await self.connect()
        try:
            yield link
        finally:
            await link.close()

    async def connect(self) -> Link:
        """A connection that the caller closes. Raises PartGone."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                return Link(*await self._open(), self)
        except TimeoutError:
            raise self.gone("does not answer") from None
        except OSError as error:
            raise self.gone(f"cannot be reached ({_why(error)})") from None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        where = self.address
        if where.path:
            return await asyncio.open_unix_connection(where.path, limit=LONGEST_LINE)
        return await asyncio.open_connection(where.host, where.port, limit=LONGEST_LINE)


class Patience:
    """How long to wait before a lost connection is tried again. Pure."""

    def __init__(self) -> None:
        self._next = FIRST_WAIT

    def wait(self) -> float:
        """Seconds, more each time."""
        now, self._next = self._next, min(self._next * 2, LONGEST_WAIT)
        return now

    def reset(self) -> None:
        """After it has worked."""
        self._next = FIRST_WAIT


class Listener:
    """What a server sends as sound, in one form: 16 bits, one channel. `rate`: samples a second it is brought
    to; 0: the server's own."""

    def __init__(self, server: Server, rate: int = 0) -> None:
        self._server, self._rate = server, rate
        self._converter = AudioChunkConverter(rate or None, SAMPLE_BYTES, 1)

    def sound(self, event: Event) -> Sound:
        """Of an audio-chunk. Raises PartGone for what cannot be sound."""
        rate, width, channels = (event.data.get(key) for key in ("rate", "width", "channels"))
        pcm = event.payload or b""
        if not (
            type(rate) is int
            and SLOWEST <= rate <= FASTEST
            and width in (1, 2, 4)
            and type(channels) is int
            and 1 <= channels <= MOST_CHANNELS
            and len(pcm) % (width * channels) == 0
        ):
            raise self._server.gone("sends sound that cannot be heard here")
        if (rate, width, channels) == (self._rate or rate, SAMPLE_BYTES, 1):
            return Sound(pcm, rate)
        chunk = self._converter.convert(AudioChunk(rate, int(width), channels, pcm))
        return Sound(chunk.audio, chunk.rate)


def _why(error: OSError) -> str:
    """In the system's words; those of a connection list every address that was tried."""
    return os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)


def _reason(text: object) -> str:
    """A stranger's words, fit to be read in a log."""
    said = _HIDDEN.sub("", text) if isinstance(text, str) else ""
    return " ".join(said.split())[:LONGEST_REASON] or "without a reason"
