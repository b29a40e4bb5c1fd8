"""Run a comparison: both servers up, every case asked of one and then the other, in turn.

Knows how attempts are made and kept; not what is asked, or how servers are started.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

from muleteer.engine.protocol import LoadSettings
from muleteer.errors import EngineError, MuleteerError
from muleteer.evaluate.batteries.battery import Answered, Case, Tried, tried
from muleteer.evaluate.batteries.running import (
    Conditions,
    Manner,
    Say,
    conditions_of,
    go_on,
    journal_of,
    tried_of,
)
from muleteer.evaluate.endpoint import servers
from muleteer.evaluate.endpoint.asking import model_of
from muleteer.evaluate.endpoint.batteries import AS_TEXT, OURS, SIDES, THEIRS, Compared
from muleteer.evaluate.rig import opened


async def run(
    battery: Compared,
    model: Path,
    folder: Path,
    command: str,
    say: Say,
    begun: Callable[[Conditions], None],
    manner: Manner,
) -> tuple[Conditions, list[Tried]]:
    """As `batteries.running.run`, with two servers in place of the engine."""
    say(f"loading {model.name}")
    journal, digest = journal_of(battery, model, folder)
    async with opened(model, LoadSettings(threads=manner.threads)) as engine:
        conditions = conditions_of(command, await engine.ready(0), digest, journal)
    begun(conditions)
    threads = conditions.model.threads
    async with AsyncExitStack() as stack:
        say("our daemon decodes its own prompts")
        home = folder / f"daemon-{model.stem}"
        addresses = {OURS: await stack.enter_async_context(servers.ours(model, threads, home))}
        say("llama.cpp's server is started")
        addresses[THEIRS] = await stack.enter_async_context(servers.theirs(model, threads, battery.context))

        names = {side: await model_of(address) for side, address in addresses.items()}

        async def one(case: Case, side: str) -> Tried:
            return await attempt(battery, addresses[side], names[side], case, side)

        await go_on(battery, one, journal, say, manner.minutes)
    return conditions, tried_of(battery, journal)


async def attempt(battery: Compared, address: str, model: str, case: Case, side: str) -> Tried:
    """One case by one server. What it refuses is wrong, with its words; one that is gone ends the run."""
    began = time.perf_counter()
    try:
        answered, levels = await battery.ask(address, model, case)
    except EngineError:
        raise
    except MuleteerError as error:
        return tried(case, side, Answered(False, "", str(error)), (), 0.0)
    return tried(case, side, answered, levels, time.perf_counter() - began)


def points(attempts: Sequence[Tried]) -> str:
    """What `tool-eval-bench` gives, two points a scenario at most; nothing where there are none."""
    lines = []
    for side in SIDES:
        given = [one.extra.get("points", 0) for one in attempts if one.side == side]
        lines.append(f"{side}: {sum(given)} of {2 * len(given)} points.")
    return "\n".join(lines) if any("points" in one.extra for one in attempts) else ""


def as_text(attempts: Sequence[Tried]) -> str:
    """Of the replies without a call, how many have one in their text all the same, by group and side; and how
    many of those are what was wanted, had somebody read them. Nothing where there are none."""
    written = [one for one in attempts if AS_TEXT in one.extra]
    lines = ["| a call written as text | side | replies | of | wanted |", "|---|---|--:|--:|--:|"]
    for group, side in dict.fromkeys((one.group, one.side) for one in written):
        own = [one for one in written if (one.group, one.side) == (group, side)]
        of = sum((one.group, one.side) == (group, side) for one in attempts)
        lines.append(f"| {group} | {side} | {len(own)} | {of} | {sum(one.extra[AS_TEXT] for one in own)} |")
    return "\n".join(lines) if written else ""
