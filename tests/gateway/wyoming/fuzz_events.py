"""Malformed events of Wyoming, from a seed: whatever comes, the connection ends or goes on, and nothing else.

python -m tests.gateway.wyoming.fuzz_events SEED RUNS
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import sys
from collections.abc import Callable

from muleteer.gateway.wyoming.wire import LONGEST_LINE, BadEventError, encode_event, read_event

WORDS = ("type", "data", "data_length", "payload_length", "text", "context", "version", "describe")
VALUES: tuple[object, ...] = (None, True, 0, -1, 1, 7, 1e9, 2**70, "", "x", "é" * 9, [], {}, [[[]]])


def packet(chance: random.Random) -> bytes:
    """Some bytes that are nearly, or not at all, an event."""
    header: dict[str, object] = {"type": chance.choice(("describe", "transcript", "ping", "audio-chunk"))}
    for _ in range(chance.randrange(4)):
        header[chance.choice(WORDS)] = chance.choice(VALUES)
    content = json.dumps(header).encode() + b"\n"
    body = bytes(chance.randrange(256) for _ in range(chance.randrange(40)))
    change: Callable[[], bytes] = chance.choice(
        (
            lambda: content,
            lambda: content + body,
            lambda: body + b"\n",
            lambda: content[: chance.randrange(len(content))] + body + content,
            lambda: bytes(each ^ (chance.random() < 0.02) << chance.randrange(8) for each in content),
            lambda: b"[" * chance.randrange(3000) + b"\n",
            lambda: b'{"type":' + b'{"a":' * chance.randrange(3000) + b"\n",
        )
    )
    return change() * chance.choice((1, 1, 1, 2, 30))


async def read_all(content: bytes) -> int:
    """How many events are read of the bytes, each of which can be sent on. Raises nothing but what is told to
    the sender."""
    reader = asyncio.StreamReader(limit=LONGEST_LINE)
    reader.feed_data(content)
    reader.feed_eof()
    count = 0
    with contextlib.suppress(BadEventError):
        while (event := await read_event(reader)) is not None:
            encode_event(event)
            count += 1
    return count


def fuzz(seed: int, runs: int) -> int:
    """So many packets from this seed; how many events were in them. Raises what must not be raised."""

    async def play() -> int:
        chance = random.Random(seed)
        return sum([await read_all(packet(chance)) for _ in range(runs)])

    return asyncio.run(play())


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "events were read")
