"""Malformed bodies of chat completions, from a seed: each is taken, or refused with a sentence, and nothing
else happens.

python -m tests.gateway.openai.fuzz_bodies SEED RUNS
"""

from __future__ import annotations

import contextlib
import random
import sys

from muleteer.errors import RequestError
from muleteer.gateway.openai.wire import TAKEN, completion
from muleteer.gateway.reading import read
from muleteer.harness.guests import talk
from tests.gateway.spoiling import VALUES, spoilt

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


def fuzz(seed: int, runs: int) -> int:
    """So many bodies from this seed; how many were taken. Raises what must not be raised."""
    chance, taken = random.Random(seed), 0
    for _ in range(runs):
        with contextlib.suppress(RequestError):
            body = spoilt(WHOLE, chance, (*VALUES, CALL), {*TAKEN, "n", "functions"})
            talk.read(completion(read(body)).ask.messages)
            taken += 1
    return taken


if __name__ == "__main__":
    print(fuzz(int(sys.argv[1]), int(sys.argv[2])), "bodies were taken")
