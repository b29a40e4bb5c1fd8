"""A `write` whose answer copies its source: with drafting, without, and by the peer with its own."""

from __future__ import annotations

from dataclasses import replace

from muleteer.evaluate.material import copying
from muleteer.evaluate.report import Measure, Target, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Ran, Rig, write

LIMIT = 400  # tokens; the source has about 300
BATCH = 16  # chunks that no measured speed can change, so that both engines hold the very same numbers


async def copy(rig: Rig) -> Measure:
    """Tokens a second; the ratio is to our own plain decoding, whose text must be the same."""
    drafted, plain = list[Ran](), list[Ran]()
    theirs: list[float] = []
    prompt = copying()
    tokens = rig.tokens.of(prompt)
    drafting = replace(rig.peer_settings(), drafting=True)
    async with (
        rig.engine(replace(rig.settings, batch=BATCH)) as engine,
        rig.engine(replace(rig.undrafted, batch=BATCH)) as undrafted,
        rig.peer(drafting) as peer,
    ):
        await write(engine, prompt, 1)
        await write(undrafted, prompt, 1)
        if peer:
            await peer.complete(tokens, 1)

        async def mine(_: int) -> None:
            drafted.append(await write(engine, prompt, LIMIT))
            plain.append(await write(undrafted, prompt, LIMIT))

        async def its(_: int) -> None:
            if peer:
                answer = await peer.complete(tokens, LIMIT)
                theirs.append(answer.generated / answer.seconds)

        await rig.alternate("copy", mine, its)
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


def _speeds(runs: list[Ran]) -> list[float]:
    return [ran.use.generated / ran.seconds for ran in runs]
