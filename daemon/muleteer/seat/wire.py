"""Frames between devices: four bytes of length, then one JSON object in UTF-8.

Pure, but for `read_frame`, which waits for bytes. Knows sizes; not what the objects mean.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

HEAD = 4  # bytes of a length, big-endian
LARGEST_FRAME = 64 << 10  # bytes; the longest list of members has 60 kB, a result in the inbox 16 kB

Body = dict[str, Any]


class BadFrameError(ValueError):
    """What was received is not a frame of ours; `str(error)` says why."""


def encode(body: Mapping[str, object]) -> bytes:
    """Raises `ValueError` for what is larger than anybody would read."""
    content = json.dumps(body, separators=(",", ":"), ensure_ascii=False).encode()
    if len(content) > LARGEST_FRAME:
        raise ValueError(f"a frame of {len(content)} bytes is too large")
    return len(content).to_bytes(HEAD, "big") + content


def decode(content: bytes) -> Body:
    """Raises `BadFrameError`."""
    try:
        body = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise BadFrameError("it is not JSON") from error
    if not isinstance(body, dict):
        raise BadFrameError("it is not an object")
    return body


async def read_frame(reader: asyncio.StreamReader, largest: int = LARGEST_FRAME) -> Body:
    """The next frame. Raises `BadFrameError`, and `EOFError` or `OSError` when there is none."""
    size = int.from_bytes(await reader.readexactly(HEAD), "big")
    if size > largest:
        raise BadFrameError(f"it has {size} bytes, and at most {largest} are read")
    return decode(await reader.readexactly(size))
