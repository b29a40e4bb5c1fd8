"""Cancelling, and memory over many prompts."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from muleteer.engine.client import Engine
from muleteer.errors import EngineError
from muleteer.evaluate.material import fresh
from muleteer.evaluate.report import Measure, Target, median, numbers, rounded
from muleteer.evaluate.rig import Rig, run, write

LONG_WORDS = 3000
DELAYS_S = (0.3, 0.9, 1.4, 0.6, 1.1)  # seconds of prefill before a cancel, so that chunks are hit anywhere
PIECES = 8  # of text before a decode is cancelled
PROMPTS = {True: 30, False: 1000}  # by `quick`
PROMPT_WORDS = 30
LOOKS = 10  # at the memory, in all


async def cancel(rig: Rig) -> Measure:
    """Seconds from a cancel to the answer of the next request, which decodes nothing; the larger median of
    the two kinds, against one second."""
    prefills: list[float] = []
    decodes: list[float] = []
    length = len(rig.tokens.of(fresh(0, LONG_WORDS)))
    async with rig.engine() as engine:
        await write(engine, fresh(1, 300), 1)
        for i in range(max(rig.n, len(DELAYS_S))):
            rig.say(f"cancel: {i + 1} of {max(rig.n, len(DELAYS_S))}")
            prefills.append(await _cancelled_prefill(engine, i))
            decodes.append(await _cancelled_decode(engine, i))
    slowest = max(max(prefills), max(decodes))
    return Measure(
        "cancel",
        "s",
        ours=max(median(prefills) or 0.0, median(decodes) or 0.0),
        ratio=slowest,
        n=len(prefills),
        against="one second (the slowest of all)",
        targets=(
            Target(f"cancelled prefill of {length} tokens: seconds, the slowest", max(prefills), 1.0),
            Target("cancelled decode: seconds, the slowest", max(decodes), 1.0),
        ),
        details={"prefill": numbers(prefills), "decode": numbers(decodes)},
    )


async def _cancelled_prefill(engine: Engine, number: int) -> float:
    prompt = fresh(number, LONG_WORDS)
    before = engine.status().totals.decoded
    task = asyncio.create_task(write(engine, prompt, 1))
    await asyncio.sleep(DELAYS_S[number % len(DELAYS_S)])
    if task.done():
        raise EngineError("This machine decodes 3,000 tokens before they can be cancelled.")
    task.cancel()
    free = await _free(engine)
    decoded = engine.status().totals.decoded - before
    if not 0 < decoded < LONG_WORDS:
        raise EngineError(f"The cancel did not hit the prefill: {decoded} tokens were decoded.")
    return free


async def _cancelled_decode(engine: Engine, number: int) -> float:
    async with aclosing(engine.write(fresh(number, 40), limit=400)) as parts:
        seen = 0
        async for _ in parts:
            seen += 1
            if seen == PIECES:
                break
    return await _free(engine)


async def _free(engine: Engine) -> float:
    began = time.perf_counter()
    await engine.count("free?")
    return time.perf_counter() - began


async def memory(rig: Rig) -> Measure:
    """Bytes of the engine process that no file backs (`RssAnon + VmSwap`) after many distinct prompts, by
    those after the constant prompts and the first requests of each kind."""
    total, seen = PROMPTS[rig.quick], list[float]()
    settings = replace(rig.settings, states=str(rig.states))  # restored, if the restarts have saved them
    async with rig.engine(settings) as engine:
        for prompt in rig.material.constants():
            await engine.warm(prompt)
        for i in range(10):
            await _ask(rig, engine, i)
        first = anonymous(engine.status().pid)
        for i in range(total):
            await _ask(rig, engine, 10 + i)
            if (i + 1) % (total // LOOKS) == 0:
                seen.append(anonymous(engine.status().pid) / 2**20)
                rig.say(f"memory: {i + 1} of {total} prompts, {seen[-1]:.0f} MiB")
        held = engine.status().held
    grown = seen[-1] * 2**20 / first
    return Measure(
        "memory",
        "MiB",
        ours=seen[-1],
        ratio=grown,
        n=total,
        against="the start",
        targets=(Target(f"memory after {total} distinct prompts / before", grown, 1.05),),
        details={
            "before": rounded(first / 2**20),
            "samples": numbers(seen),
            "parked": rounded(held.memory / 2**20),
        },
    )


async def _ask(rig: Rig, engine: Engine, number: int) -> None:
    """A distinct prompt: mostly text, now and then a plan or a call."""
    if number % 10 == 3:
        await run(engine, rig.material.plan(f"Number {number}, what time is it there?"))
    elif number % 10 == 7:
        await run(engine, rig.material.craft("calculator", f"How much is {number} times 3?"))
    else:
        await write(engine, fresh(number, PROMPT_WORDS), 2)


def anonymous(pid: int | None) -> int:
    """`RssAnon + VmSwap` of a process, in bytes. Raises `EngineError` when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError as error:
        raise EngineError(f"The memory of process {pid} cannot be read: {error.strerror}.") from error
    fields = dict(line.split(":", 1) for line in lines if ":" in line)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "VmSwap"))
