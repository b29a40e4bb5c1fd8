"""A `write` whose answer copies its source: with drafting, without, and by the peer with its own."""

from __future__ import annotations

from dataclasses import replace

from muleteer.engine.protocol import Conversation, LoadSettings
from muleteer.evaluate.material import copying
from muleteer.evaluate.report import Measure, Target, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Ran, Rig, write

LIMIT = 400  # tokens; the source has about 300
SAMPLES = 2  # of each side, for `quick`
BATCH = 16  # chunks that no measured speed can change, so that both engines hold the very same numbers


async def copy(rig: Rig) -> Measure:
    """Tokens a second; the ratio is to our own plain decoding, whose text must be the same."""
    drafted, plain = list[Ran](), list[Ran]()
    theirs: list[float] = []
    prompt = copying()
    tokens = rig.tokens.of(prompt)
    drafting = replace(rig.peer_settings(), drafting=True)
    async with rig.peer(drafting) as peer:
        if peer:
            await peer.complete(tokens, 1)

        async def mine(_: int) -> None:
            drafted.append(await _alone(rig, rig.settings, prompt))
            plain.append(await _alone(rig, rig.undrafted, prompt))

        async def its(_: int) -> None:
            if peer:
                answer = await peer.complete(tokens, LIMIT)
                theirs.append(answer.generated / answer.seconds)

        await replace(rig, n=min(rig.n, SAMPLES) if rig.quick else rig.n).alternate("copy", mine, its)
    fast, slow = _speeds(drafted), _speeds(plain)
    share = ratio(median(fast), median(slow))
    same = sum(a.text == b.text for a, b in zip(drafted, plain, strict=True))
    used = drafted[-1].use
    return Measure(
        "copy",
        "tokens/s",
        ours=median(fast),
        peer=median(theirs),
        ratio=share,
        n=len(fast),
        against="our own plain decoding",
        targets=(
            Target("copy: drafting / plain decoding", share, 1.8, at_least=True),
            Target("copy: identical output, share of runs", same / len(fast), 1.0, at_least=True),
        ),
        details={
            "samples": numbers(fast),
            "plain": rounded(median(slow)),
            "peer_drafts": True,
            "generated": used.generated,
            "sampled": used.sampled,
            "rejected": used.rejected,
            "texts": sorted({ran.text for ran in drafted}),
            "plain_texts": sorted({ran.text for ran in plain}),
        },
    )


async def _alone(rig: Rig, settings: LoadSettings, prompt: Conversation) -> Ran:
    """In a context that holds nothing else: where cells lie decides in what order llama.cpp adds, and that
    decides ties."""
    async with rig.engine(replace(settings, batch=BATCH)) as engine:
        await write(engine, prompt, 1)
        return await write(engine, prompt, LIMIT)


def _speeds(runs: list[Ran]) -> list[float]:
    return [ran.use.generated / ran.seconds for ran in runs]
