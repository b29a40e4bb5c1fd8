"""A restart with saved prefixes: from a loaded model to every constant prompt ready, with the state files of
an earlier run, and without."""

from __future__ import annotations

import shutil
import time
from dataclasses import replace
from pathlib import Path

from muleteer.engine.protocol import Conversation, Use
from muleteer.evaluate.report import Measure, Target, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Rig

FEW = 4  # prompts of a brief run, the long one of the planner among them


async def restart(rig: Rig) -> Measure:
    """Seconds to bring the constant prompts back; the ratio is to decoding them. The peer keeps nothing from
    one start to the next by itself: its figure is what it takes to decode the same prompts."""
    restored: list[float] = []
    decoded: list[float] = []
    theirs: list[float] = []
    used = Use()
    for i in range(rig.n):
        rig.say(f"restart: {i + 1} of {rig.n}")
        states = rig.states
        if not (decoded and rig.quick):  # takes so long that once is enough to tell it from restoring
            shutil.rmtree(states, ignore_errors=True)
            decoded.append((await _ready(rig, states))[0])
            if rig.with_peer and not rig.quick:
                theirs.append(await _peer_ready(rig))
        seconds, used = await _ready(rig, states)
        restored.append(seconds)
    share = ratio(median(restored), median(decoded))
    return Measure(
        "restart",
        "s",
        ours=median(restored),
        peer=median(theirs),
        ratio=share,
        n=len(restored),
        against="decoding the same prefixes",
        targets=(Target("restart: saved prefixes / decoding them", share, 0.1),),
        details={
            "samples": numbers(restored),
            "decoding": rounded(median(decoded)),
            "prefix_tokens": used.prompt,
            "decoded_after_restart": used.decoded,
        },
    )


async def _ready(rig: Rig, states: Path) -> tuple[float, Use]:
    """One start, until every constant prompt is there; the load of the model is not counted."""
    settings = replace(rig.settings, states=str(states))
    total = Use()
    async with rig.engine(settings) as engine:
        began = time.perf_counter()
        for prompt in _prompts(rig):
            total += await engine.warm(prompt)
        return time.perf_counter() - began, total


async def _peer_ready(rig: Rig) -> float:
    async with rig.peer() as peer:
        began = time.perf_counter()
        for prompt in _prompts(rig):
            if peer:
                await peer.complete(rig.tokens.constant(prompt), 1)
        return time.perf_counter() - began


def _prompts(rig: Rig) -> list[Conversation]:
    return rig.material.constants()[: FEW if rig.quick else None]
