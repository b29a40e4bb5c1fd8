"""What our code costs beside llama.cpp: wall time of a request, seen from the daemon's side of the process
boundary, minus the time inside llama_decode."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from muleteer.engine.client import Engine
from muleteer.engine.protocol import LoadSettings
from muleteer.evaluate.clocked_worker import CLOCK, FORM
from muleteer.evaluate.material import Step, fresh, said
from muleteer.evaluate.report import Target, median, rounded
from muleteer.evaluate.rig import Ran, Rig, opened, run, write

Clock = Callable[[], float]

LIMIT = 0.03
TOKENS = {True: 48, False: 128}  # by `quick`; long enough that the beginning of a request does not count
STORY = {
    "type": "object",
    "properties": {"story": {"type": "string", "maxLength": 2000}},
    "required": ["story"],
    "additionalProperties": False,
}


@dataclass(frozen=True, slots=True)
class Overhead:
    targets: tuple[Target, ...]
    details: dict[str, object]


async def find(rig: Rig) -> Overhead:
    """For free text and for text under a schema's mask, drafting off."""
    tokens = TOKENS[rig.quick]
    masked = Step("masked", "fill", said("Write a long story about a river."), schema=STORY, limit=tokens)
    async with clocked(rig, rig.undrafted) as (engine, clock):
        free = await _added(rig, clock, lambda: write(engine, fresh(0, 40), tokens))
        mask = await _added(rig, clock, lambda: run(engine, masked))
    targets = [
        Target(f"our time / llama.cpp's, per sampled token, {what}", median(found["share"]), LIMIT)
        for what, found in (("free text", free), ("under a schema", mask))
    ]
    details = {
        name: {what: rounded(median(values)) for what, values in found.items()}
        for name, found in (("write", free), ("fill", mask))
    }
    return Overhead(tuple(targets), {"vocabulary": rig.properties.vocabulary, **details})


@asynccontextmanager
async def clocked(rig: Rig, settings: LoadSettings) -> AsyncGenerator[tuple[Engine, Clock], None]:
    """A freshly loaded engine of ours, and the seconds that it has spent inside llama_decode so far."""
    file = rig.scratch / "clock"
    file.write_bytes(bytes(FORM.size))
    command = ("env", f"{CLOCK}={file}", sys.executable, "-P", "-m", "muleteer.evaluate.clocked_worker")

    def spent() -> float:
        seconds: float = FORM.unpack(file.read_bytes())[0]
        return seconds

    async with opened(rig.model, settings, command) as engine:
        yield engine, spent


async def _added(rig: Rig, clock: Clock, ask: Callable[[], Awaitable[Ran]]) -> dict[str, list[float]]:
    """`share` is our time by llama.cpp's; milliseconds a sampled token of both; one sample a request. The
    first request decodes the prompt and is not counted."""
    found: dict[str, list[float]] = {"share": [], "ours_ms": [], "llama_ms": []}
    await ask()
    for _ in range(rig.n):
        rig.say("decode: what our code adds")
        before = clock()
        ran = await ask()
        native = clock() - before
        added = ran.seconds - native
        found["share"].append(added / native)
        found["ours_ms"].append(added * 1000 / ran.use.sampled)
        found["llama_ms"].append(native * 1000 / ran.use.sampled)
    return found
