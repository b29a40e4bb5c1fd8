"""Malformed bodies of Ollama's format, from a seed: each is taken, or refused with a sentence, and nothing
else happens.

python -m tests.gateway.ollama.fuzz_bodies SEED RUNS
"""

from __future__ import annotations

import contextlib
import random
import sys

from muleteer.errors import RequestError
from muleteer.gateway.ollama.wire import CHAT, GENERATE, IGNORED, chat, generate
from muleteer.gateway.reading import read
from muleteer.harness.guests import talk
from tests.gateway.spoiling import VALUES, spoilt

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


def fuzz(seed: int, runs: int) -> int:
    """So many bodies from this seed; how many were taken. Raises what must not be raised."""
    chance, taken = random.Random(seed), 0
    for _ in range(runs):
        parse, whole = chance.choice(((chat, WHOLE), (generate, PROMPT)))
        with contextlib.suppress(RequestError):
            body = spoilt(whole, chance, (*VALUES, CALL), CHAT | GENERATE | IGNORED)
            wish = parse(read(body), 4096)
            if wish.ask:
                talk.read(wish.ask.messages)
            taken += 1
    return taken


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "bodies were taken")
