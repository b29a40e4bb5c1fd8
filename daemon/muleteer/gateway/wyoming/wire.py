"""Wyoming's events as bytes: one line of JSON, then so many bytes of JSON data, then so many of payload.

The package `wyoming` has the events, and a reader that trusts its peer: it waits for as many bytes as it is
told. This one has limits and deadlines, and tells what was wrong. Knows the format; not what events mean.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass

from wyoming.event import Event
from wyoming.version import __version__

LONGEST_LINE = 64 << 10  # bytes of a header, in which old clients put the data, too
LONGEST_DATA = 128 << 10  # bytes; the longest message there is, and what JSON makes of it
LONGEST_PAYLOAD = 64 << 10  # bytes; sound, of which pipelines send 2 kB at once
LONGEST_TYPE = 64  # characters
EVENT_SECONDS = 10.0  # from an event's first byte to its last


@dataclass(frozen=True, slots=True)
class Sizes:
    """What a peer may send at once, in bytes, and whether its payload is kept or only read past."""

    data: int = LONGEST_DATA
    payload: int = LONGEST_PAYLOAD
    keeps_payload: bool = False


CLIENTS = Sizes()  # who sends text to the daemon; what sound comes along is dropped


class BadEventError(Exception):
    """What came is no event; `str(error)` is a sentence for its sender. The connection cannot go on."""


async def read_event(
    reader: asyncio.StreamReader,
    seconds: float = EVENT_SECONDS,
    begun: Callable[[], None] = lambda: None,
    sizes: Sizes = CLIENTS,
) -> Event | None:
    """The next event; None when the peer has hung up. `reader` must be limited to `LONGEST_LINE`. Waits for
    the first byte without an end, until it is cancelled; then `begun` is called. Raises `BadEventError`."""
    first = await reader.read(1)
    if not first:
        return None
    begun()
    try:
        async with asyncio.timeout(seconds):
            return await _read(first, reader, sizes)
    except TimeoutError:
        raise BadEventError(f"The event did not arrive within {seconds:g} seconds; send it whole.") from None
    except asyncio.LimitOverrunError:
        raise BadEventError(f"The header exceeds {LONGEST_LINE} bytes; send less.") from None
    except asyncio.IncompleteReadError:
        return None


async def _read(first: bytes, reader: asyncio.StreamReader, sizes: Sizes) -> Event:
    line = first if first == b"\n" else first + await reader.readuntil(b"\n")
    header = _object(line, "header")
    kind, data = header.get("type"), header.get("data")
    if not isinstance(kind, str) or not 0 < len(kind) <= LONGEST_TYPE:
        raise BadEventError('The header needs a "type", such as {"type": "describe"}.')
    if data is not None and not isinstance(data, dict):
        raise BadEventError('"data" must be a JSON object.')
    data = dict(data or {})
    if length := _length(header, "data_length", sizes.data):
        data |= _object(await reader.readexactly(length), "data")
    payload = None
    if length := _length(header, "payload_length", sizes.payload):
        payload = await reader.readexactly(length)
    return Event(kind, data, payload if sizes.keeps_payload else None)


def _length(header: dict[str, object], key: str, most: int) -> int:
    length = header.get(key) or 0
    if type(length) is not int or not 0 <= length <= most:
        raise BadEventError(f'"{key}" must be a number of bytes, at most {most}.')
    return length


def _object(content: bytes, what: str) -> dict[str, object]:
    try:
        found = json.loads(content)
    except (ValueError, RecursionError):
        raise BadEventError(f"The {what} is not JSON, which this protocol is made of.") from None
    if not isinstance(found, dict):
        raise BadEventError(f"The {what} must be a JSON object.")
    return found


def encode_event(event: Event) -> bytes:
    """An event as it goes out. Text that is not valid Unicode is replaced, not refused."""
    header: dict[str, object] = {"type": event.type, "version": __version__}
    data = b""
    if event.data:
        data = json.dumps(event.data, ensure_ascii=False).encode(errors="replace")
        header["data_length"] = len(data)
    if event.payload:
        header["payload_length"] = len(event.payload)
    return json.dumps(header).encode() + b"\n" + data + (event.payload or b"")
