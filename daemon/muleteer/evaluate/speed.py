"""The plain measures: decode and prefill speed, and the first token of a prompt that was seen before."""

from __future__ import annotations

from dataclasses import replace

from muleteer.engine.client import Engine
from muleteer.evaluate import overhead
from muleteer.evaluate.material import fresh
from muleteer.evaluate.peer import Peer
from muleteer.evaluate.report import Measure, Target, compared, numbers, ratio
from muleteer.evaluate.rig import Rig, write
from muleteer.sensors import Sensors

DECODE_TOKENS = 32  # a second or two: both sides meet the same moods of a machine that others use, too
DECODE_RUNS = 5  # of each side, for one sample of the other measures
PREFILL_WORDS = {True: 350, False: 700}  # a word is about one token
REPEATED_WORDS = 700
IN_A_ROW = 20  # requests, as in the report of a board whose second one slowed to a crawl
FILLER = 900  # number of the first prompt that only brings a side up to speed


async def decode(rig: Rig) -> Measure:
    """Tokens a second after a prompt that is decoded already, drafting off; and what our code adds."""
    ours: list[float] = []
    theirs: list[float] = []
    limit, prompt = DECODE_TOKENS, fresh(0, 40)
    tokens = rig.tokens.of(prompt)
    async with rig.engine(rig.undrafted) as engine, rig.peer() as peer:
        await write(engine, prompt, limit)

        async def mine(_: int) -> None:
            ran = await write(engine, prompt, limit)
            ours.append(ran.use.generated / ran.seconds)

        async def its(_: int) -> None:
            if peer:
                answer = await peer.complete(tokens, limit, ignore_eos=True)
                theirs.append(answer.generated / answer.seconds)

        if peer:
            await peer.complete(tokens, limit, ignore_eos=True)
        await replace(rig, n=DECODE_RUNS * rig.n).alternate("decode", mine, its)
    spent = await overhead.find(rig)
    measure = Measure("decode", "tokens/s", targets=spent.targets, details={"overhead": spent.details})
    return compared(measure, ours, theirs, 0.97, at_least=True)


async def prefill(rig: Rig) -> Measure:
    """Tokens a second of prompts that no cache has seen; each request also writes one token."""
    ours: list[float] = []
    theirs: list[float] = []
    words = PREFILL_WORDS[rig.quick]
    async with rig.engine() as engine, rig.peer() as peer:
        await _settle(engine, peer, rig)

        async def mine(i: int) -> None:
            ran = await write(engine, fresh(i, words), 1)
            ours.append(ran.use.decoded / ran.seconds)

        async def its(i: int) -> None:
            if peer:
                answer = await peer.complete(rig.tokens.of(fresh(i, words)), 1)
                theirs.append(answer.decoded / answer.seconds)

        await rig.alternate("prefill", mine, its)
    length = len(rig.tokens.of(fresh(0, words)))
    measure = Measure("prefill", "tokens/s", details={"prompt_tokens": length})
    return compared(measure, ours, theirs, 0.95, at_least=True)


async def first_token(rig: Rig) -> Measure:
    """Milliseconds to the first text of a prompt that was just answered; and whether requests without a
    pause stay as fast, however warm the board gets."""
    ours: list[float] = []
    theirs: list[float] = []
    prompt = fresh(0, REPEATED_WORDS)
    tokens = rig.tokens.of(prompt)
    async with rig.engine() as engine, rig.peer() as peer:
        await write(engine, prompt, 8)

        async def mine(_: int) -> None:
            ours.append((await write(engine, prompt, 8)).first_s * 1000)

        async def its(_: int) -> None:
            if peer:
                theirs.append((await peer.stream(tokens, 8)).first_s * 1000)

        if peer:
            await peer.stream(tokens, 8)
        await replace(rig, n=2 * rig.n).alternate("first token", mine, its)
        rig.say(f"first token: {IN_A_ROW} requests without a pause")
        before = Sensors().read().celsius
        row = [(await write(engine, prompt, 8)).seconds for _ in range(IN_A_ROW)]
        after = Sensors().read().celsius
    half = IN_A_ROW // 2
    slower = ratio(max(row[half:]), max(row[:half]))
    measure = Measure(
        "first_token",
        "ms",
        targets=(
            Target(f"{IN_A_ROW} requests in a row: slowest of the last half / first half", slower, 1.5),
        ),
        details={"prompt_tokens": len(tokens), "in_a_row_s": numbers(row), "celsius": [before, after]},
    )
    return compared(measure, ours, theirs)


async def _settle(engine: Engine, peer: Peer | None, rig: Rig) -> None:
    """The first prompt finds cold pages, sleeping threads and a cautious chunk size."""
    prompt = fresh(FILLER, 300)
    await write(engine, prompt, 1)
    if peer:
        await peer.complete(rig.tokens.of(prompt), 1)
