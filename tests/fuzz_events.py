"""Malformed streams of events, from a seed, however they are cut: they are read, or refused as none.

python -m tests.fuzz_events SEED RUNS
"""

from __future__ import annotations

import random
import sys

from muleteer.sse import EventParser

LARGEST = 4096  # bytes of one event
PIECES = (
    *(
        b"event: text\n",
        b'data: {"text": "a"}\n',
        b"data:\n",
        b"data\n",
        b": keep-alive\n",
        b"id: 1\n",
        b"retry: x\n",
    ),
    *(b"\n", b"\r\n", b"\r", b"\n\n", b"\x00", b"\xff", b"\xef\xbb\xbf", b":", b"data: " + b"x" * 3000),
)


def stream(chance: random.Random) -> bytes:
    """Some bytes that are nearly, or not at all, events."""
    made = bytearray(b"".join(chance.choice(PIECES) for _ in range(chance.randrange(20))))
    for _ in range(chance.choice((0, 0, 1, 5))):
        if made:
            made[chance.randrange(len(made))] = chance.randrange(256)
    return bytes(made)


def fuzz(seed: int, runs: int) -> int:
    """So many streams from this seed; how many events were read. Raises what must not be raised."""
    chance, read = random.Random(seed), 0
    for _ in range(runs):
        parser, content = EventParser(LARGEST), stream(chance)
        try:
            while content:
                size = chance.randrange(1, len(content) + 1)
                events = parser.feed(content[:size])
                content = content[size:]
                read += len(events)
                if any(len(event.data) > LARGEST + size for event in events):
                    raise AssertionError("an event is larger than its limit and the last chunk")
        except ValueError:  # what a reader is told of a stream that is none
            continue
    return read


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "events were read")
