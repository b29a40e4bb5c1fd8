"""Malformed bodies of chat completions, from a seed: each is taken, or refused with a sentence, and nothing
else happens.

python -m tests.gateway.openai.fuzz_bodies SEED RUNS
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
import sys

from muleteer.errors import RequestError
from muleteer.gateway.openai.wire import TAKEN, completion
from muleteer.gateway.reading import read
from muleteer.harness.guests import talk

CALL = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
WHOLE: dict[str, object] = {
    "model": "muleteer",
    "messages": [
        {"role": "system", "content": "be short"},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "c", "content": "done"},
        {"role": "user", "content": "and now?"},
    ],
    "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
    "tool_choice": {"type": "function", "function": {"name": "f"}},
    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object"}}},
    "stop": ["a", "b"],
    "stream_options": {"include_usage": True},
    "metadata": {"session": "x"},
}
VALUES: tuple[object, ...] = (
    None,
    True,
    0,
    -1,
    2**70,
    1.5,
    "",
    "{",
    "x\0",
    "é" * 99,
    [],
    {},
    [[[]]],
    [None],
    {"type": "text"},
    {"type": "image_url"},
    CALL,
)


def body(chance: random.Random) -> bytes:
    """Some bytes that are nearly, or not at all, a body."""
    made = json.loads(json.dumps(WHOLE))
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
    """One value somewhere in it is another one, or gone."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.3:
            if isinstance(value, dict) and chance.random() < 0.3:
                del value[key]
                value[chance.choice([*TAKEN, "n", "functions", "x"])] = copy.deepcopy(chance.choice(VALUES))
            else:
                value[key] = copy.deepcopy(chance.choice(VALUES))
            return
        value = inner


def fuzz(seed: int, runs: int) -> int:
    """So many bodies from this seed; how many were taken. Raises what must not be raised."""
    chance, taken = random.Random(seed), 0
    for _ in range(runs):
        with contextlib.suppress(RequestError):
            talk.read(completion(read(body(chance))).ask.messages)
            taken += 1
    return taken


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "bodies were taken")
