"""Malformed bodies of the native API, from a seed, at a real listener: each is taken, or refused in words.

python -m tests.gateway.fuzz_bodies SEED RUNS
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import tempfile
from pathlib import Path

import uvloop

from muleteer.gateway.calls import call_route
from muleteer.services import Services
from muleteer.skills import Catalogue
from muleteer.toolbox import Toolbox
from tests.gateway.networked import networked

# Each path with a body that it takes.
WHOLE: dict[str, dict[str, object]] = {
    "/v1/turns": {
        "message": "hello",
        "history": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}],
        "stream": False,
        "confirm": ["write"],
        "session": "trip",
        "brain": "",
    },
    "/v1/turns/t1/confirm": {"confirm": True, "stream": False, "session": "trip"},
    "/v1/tools/clock/call": {"arguments": {"place": "Oslo"}},
    "/v1/tokens": {"name": "phone", "scopes": ["chat", "tools"]},
    "/v1/pair/code": {"name": "phone", "scopes": ["admin"]},
    "/v1/pair": {"code": "482-913", "name": "phone"},
    "/v1/pair/exchange": {"spake": "53" + "00" * 32},
}
VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**70, 1.5, 1e308, "", "{", "x\0", "é" * 99, "x" * 9000, "\u202e", "../..", "admin"),
    *([], {}, [[[]]], [None], ["chat"] * 99, {"role": "user"}, [{"role": "user", "content": "x"}] * 300),
)
ENDS = (b"", b"}", b"\x00", b"\xff", b"// x", b"{}", b'"', b"\n" * 99)


def body(whole: dict[str, object], chance: random.Random) -> bytes:
    """Some bytes that are nearly, or not at all, a body."""
    made = json.loads(json.dumps(whole))
    for _ in range(chance.randrange(4)):
        key = chance.choice([*made, "more", ""])
        if chance.random() < 0.3:
            made.pop(key, None)
        else:
            made[key] = chance.choice(VALUES)
    content = json.dumps(made, ensure_ascii=chance.random() < 0.5).encode()
    match chance.randrange(8):
        case 0:
            return content[: chance.randrange(len(content) + 1)]
        case 1:
            return bytes(each ^ (chance.random() < 0.01) << chance.randrange(8) for each in content)
        case 2:
            return content.replace(
                b"hello", chance.choice((b"\\ud800", b"\xff", b"\\u0000", b"\\", b'","x":"'))
            )
        case 3:
            return chance.choice((b"[", b'{"message":', b'{"history":[')) * chance.randrange(2000)
        case 4:
            return content + chance.choice(ENDS)
    return content


async def fuzz_async(seed: int, runs: int) -> int:
    chance = random.Random(seed)
    taken = 0
    with tempfile.TemporaryDirectory(prefix="mule") as folder:
        catalogue = Catalogue({}, Toolbox(Services()))
        more = [call_route(lambda: catalogue)]
        async with networked(Path(folder), catalogue, more=more) as net, net.local() as client:
            for _ in range(runs):
                path = chance.choice(list(WHOLE))
                content = body(WHOLE[path], chance)
                headers = {"content-type": "application/json"}
                reply = await client.post(path, content=content, headers=headers)
                if reply.status_code >= 500:
                    raise AssertionError(f"{path}: {content!r} was a fault of ours: {reply.text}")
                if reply.status_code >= 400 and not reply.json()["error"]["message"]:
                    raise AssertionError(f"{path}: {content!r} was refused without a sentence")
                taken += reply.status_code < 400
    return taken


def fuzz(seed: int, runs: int) -> int:
    """So many bodies from this seed; how many were taken. Raises what must not be raised."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(fuzz_async(seed, runs))


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "bodies were taken")
