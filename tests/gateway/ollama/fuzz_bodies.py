"""Malformed bodies of Ollama's format, from a seed: each is taken, or refused with a sentence, and nothing
else happens.

python -m tests.gateway.ollama.fuzz_bodies SEED RUNS
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys

from muleteer.errors import RequestError
from muleteer.gateway.ollama.wire import CHAT, GENERATE, IGNORED, chat, generate
from muleteer.gateway.reading import read
from muleteer.harness.guests import talk

CALL = {"function": {"name": "f", "arguments": {"a": 1}}}
COMMON: dict[str, object] = {
    "model": "muleteer",
    "stream": False,
    "think": False,
    "keep_alive": "5m",
    "options": {"num_ctx": 8192.0, "num_predict": 5, "stop": ["x"], "seed": 1},
}
WHOLE: dict[str, object] = {
    **COMMON,
    "format": {"type": "object", "properties": {"a": {"type": "string"}}},
    "messages": [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": "", "tool_calls": [CALL, CALL]},
        {"role": "tool", "tool_name": "f", "content": "done"},
        {"role": "tool", "content": "done"},
        {"role": "user", "content": "and now?"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
}
PROMPT: dict[str, object] = {**COMMON, "prompt": "hello", "system": "short", "format": "json", "raw": False}
VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**70, 1.5, 1e300, "", "{", "0s", "json", "x\0", "é" * 99),
    *([], {}, [[[]]], [None], [1, 2], CALL, {"role": "tool", "content": "x"}),
)


def body(whole: dict[str, object], chance: random.Random) -> bytes:
    """Some bytes that are nearly, or not at all, a body."""
    made = json.loads(json.dumps(whole))
    for _ in range(chance.randrange(4)):
        _change(made, chance)
    content = json.dumps(made).encode()
    match chance.randrange(6):
        case 0:
            return content[: chance.randrange(len(content))]
        case 1:
            return bytes(each ^ (chance.random() < 0.005) << chance.randrange(8) for each in content)
        case 2:
            return content.replace(b"hello", chance.choice((b"\\ud800", b"\xff", b"\\u0000", b'","role":"')))
        case 3:
            return b'{"messages":' + b'[{"content":' * chance.randrange(3000)
    return content


def _change(value: object, chance: random.Random) -> None:
    """One value somewhere in it is another one, or has another key."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.3:
            if isinstance(value, dict) and chance.random() < 0.3:
                del value[key]
                key = chance.choice([*sorted(CHAT | GENERATE | IGNORED), "x"])
            value[key] = copy.deepcopy(chance.choice(VALUES))
            return
        value = inner


def fuzz(seed: int, runs: int) -> int:
    """So many bodies from this seed; how many were taken. Raises what must not be raised."""
    chance, taken = random.Random(seed), 0
    for _ in range(runs):
        parse, whole = chance.choice(((chat, WHOLE), (generate, PROMPT)))
        with contextlib.suppress(RequestError):
            wish = parse(read(body(whole, chance)), 4096)
            if wish.ask:
                talk.read(wish.ask.messages)
            taken += 1
    return taken


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "bodies were taken")
