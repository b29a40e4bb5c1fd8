"""Frames between devices: three bytes of length, four of the frame's number on its connection, then one JSON
object in UTF-8; or a zero and the bytes that are called "e" (`codec`), since most frames are that.

Pure, but for `read_frame`, which waits for bytes. Knows sizes; not what the objects mean.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

LENGTH, NUMBER = 3, 4  # bytes, big-endian
LARGEST_FRAME = 64 << 10  # bytes; the longest list of members has 60 kB, a result in the inbox 16 kB
PACKED = b"\0"  # no JSON begins so

Body = dict[str, Any]


class BadFrameError(ValueError):
    """What was received is not a frame of ours; `str(error)` says why."""


def encode(body: Mapping[str, object], number: int = 0) -> bytes:
    """Raises `ValueError` for what is larger than anybody would read."""
    if isinstance(packed := body.get("e"), bytes):
        content = PACKED + packed
    else:
        content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    if len(content) > LARGEST_FRAME:
        raise ValueError(f"a frame of {len(content)} bytes is too large")
    return len(content).to_bytes(LENGTH, "big") + number.to_bytes(NUMBER, "big") + content


def decode(content: bytes) -> Body:
    """Raises `BadFrameError`."""
    if content.startswith(PACKED):
        return {"e": content[1:]}
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFrameError("it is not JSON") from error
    if not isinstance(body, dict):
        raise BadFrameError("it is not an object")
    return body


async def read_frame(reader: asyncio.StreamReader, number: int = 0) -> Body:
    """The next frame, which must have this number. Raises `BadFrameError`, and `EOFError` or `OSError` when
    there is none."""
    head = await reader.readexactly(LENGTH + NUMBER)
    size = int.from_bytes(head[:LENGTH], "big")
    if size > LARGEST_FRAME:
        raise BadFrameError(f"it has {size} bytes, and at most {LARGEST_FRAME} are read")
    if int.from_bytes(head[LENGTH:], "big") != number:
        raise BadFrameError("it is out of order, or was sent before")
    return decode(await reader.readexactly(size))
