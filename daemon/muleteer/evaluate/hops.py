"""The hop sequence L1, L2, L3, L2, L1: a turn that takes every level, then the next turn's plan.

Each conversation runs on our engine first, for real, and the very same prompts are then put to the peer. Both
have every constant prompt decoded before, and have had one conversation.
"""

from __future__ import annotations

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from muleteer.engine.client import Engine
from muleteer.engine.prefixes import common_prefix
from muleteer.evaluate.material import NEXT, REQUESTS, Step
from muleteer.evaluate.peer import Peer, PeerSettings
from muleteer.evaluate.report import Measure, Target, compared, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Ran, Rig, run, run_peer

SEVERAL = 8  # slots: more than the levels and tools of these turns have prompts


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of a conversation as both sides get it."""

    step: Step
    tokens: list[int]
    ran: Ran


@dataclass(slots=True)
class Seen:
    """The constant prompts and those of this conversation that our engine has read, and the tokens of their
    prefixes that it read again, by level."""

    prompts: list[list[int]]
    again: Counter[str]
    constants: int = 0

    def begin(self) -> None:
        """A new conversation: what earlier ones left over may be gone."""
        self.constants = self.constants or len(self.prompts)
        del self.prompts[self.constants :]

    def read(self, level: str, tokens: list[int], reused: int) -> None:
        """The last token of a prompt must be decoded for its logits, whatever is known of it."""
        known = max((common_prefix(tokens, other) for other in self.prompts), default=0)
        self.again[level] += max(0, min(known, len(tokens) - 1) - reused)
        self.prompts.append(tokens)


async def hops(rig: Rig) -> Measure:
    """Seconds of a hop sequence; the peer with one slot, and with the best of several configurations."""
    seen = Seen([], Counter())
    async with rig.engine() as engine:
        await _warm(rig, engine, seen)
        first = await _conversation(rig, engine, seen, 0)
        async with rig.peer() as peer:
            ours, theirs, talks = await _rounds(rig, engine, seen, peer, first)
    measure = Measure(
        "hops", "s", targets=(Target("prefix tokens decoded twice in a conversation", seen.again.total(), 0),)
    )
    best = await _best(rig, talks, first) if rig.with_peer else {}
    times = {name: statistics.median([seconds for seconds, _ in runs]) for name, runs in best.items()}
    share = ratio(median(ours), min(times.values(), default=None))
    alone = ratio(median(ours), times.get(_name(_alone(rig))))
    details = {
        "best_peer": rounded(min(times.values(), default=None)),
        "best_ratio": rounded(share),
        "configurations": {
            name: {"s": numbers(seconds for seconds, _ in runs), "decoded": [tokens for _, tokens in runs]}
            for name, runs in best.items()
        },
        "decoded": [sum(hop.ran.use.decoded for hop in talk) for talk in talks],
        "decoded_twice": {level: tokens for level, tokens in seen.again.items() if tokens},
        "levels": _levels(talks[-1]),
    }
    target = Target("hops: ours / the peer's best configuration", share, 0.9)
    forgetful = Target("hops: ours / one slot that keeps no prompts in memory", alone, 0.5)
    measure = replace(measure, targets=(forgetful, target, *measure.targets), details=details)
    return compared(measure, ours, theirs, 0.5)


async def _rounds(
    rig: Rig, engine: Engine, seen: Seen, peer: Peer | None, first: list[Hop]
) -> tuple[list[float], list[float], list[list[Hop]]]:
    ours: list[float] = []
    theirs: list[float] = []
    talks: list[list[Hop]] = []
    if peer:
        await _warm_peer(rig, peer, first)

    async def mine(i: int) -> None:
        talks.append(await _conversation(rig, engine, seen, i + 1))
        ours.append(sum(hop.ran.seconds for hop in talks[-1]))

    async def its(_: int) -> None:
        if peer:
            theirs.append((await _replay(peer, talks[-1]))[0])

    await rig.alternate("hops", mine, its)
    return ours, theirs, talks


async def _best(rig: Rig, talks: Sequence[list[Hop]], first: list[Hop]) -> dict[str, list[tuple[float, int]]]:
    """Seconds of the same conversations for each configuration with several slots; and for one slot without
    llama.cpp's cache of prompts in memory, which is on by default."""
    plain = replace(rig.peer_settings(), slots=SEVERAL)
    tried = [replace(plain, similarity=0.5, cache_reuse=64)]
    if not rig.quick:
        tried += [replace(plain, similarity=0.5), plain, replace(plain, cache_reuse=256)]
    found: dict[str, list[tuple[float, int]]] = {}
    for settings in tried:
        rig.say(f"hops: the peer with {_name(settings)}")
        async with rig.peer(settings) as peer:
            if peer:
                await _warm_peer(rig, peer, first)
                found[_name(settings)] = [await _replay(peer, talk) for talk in talks]
    rig.say(f"hops: the peer with {_name(_alone(rig))}")
    async with rig.peer(_alone(rig)) as peer:
        if peer:  # what it has read before, it has lost: no warming, and one conversation is like the other
            found[_name(_alone(rig))] = [
                await _replay(peer, talk) for talk in talks[: 1 if rig.quick else None]
            ]
    return found


def _alone(rig: Rig) -> PeerSettings:
    """One slot that loses a prompt when another comes."""
    return replace(rig.peer_settings(), cache_memory=0)


def _name(settings: PeerSettings) -> str:
    cache = "" if settings.cache_memory else ", no cache in memory"
    return (
        f"{settings.slots} slots, similarity {settings.similarity:g},"
        f" cache_reuse {settings.cache_reuse}{cache}"
    )


async def _conversation(rig: Rig, engine: Engine, seen: Seen, number: int) -> list[Hop]:
    """One hop sequence on our engine, each prompt made from what came before."""
    request = REQUESTS[number % len(REQUESTS)]
    material, done = rig.material, list[Hop]()
    seen.begin()

    async def take(step: Step) -> Ran:
        tokens = rig.tokens.of(step.prompt)
        ran = await run(engine, step)
        seen.read(step.level, tokens, ran.use.reused)
        done.append(Hop(step, tokens, ran))
        return ran

    await take(material.plan(request))
    opening = material.follow(request)
    call = await take(opening)
    await take(material.agent(call.text))
    await take(material.follow_on(opening, call.text))
    await take(material.plan(NEXT[number % len(NEXT)]))
    return done


async def _replay(peer: Peer, talk: Sequence[Hop]) -> tuple[float, int]:
    """Seconds that the peer takes for the same requests, and the tokens of their prompts that it decodes."""
    answers = [await run_peer(peer, hop.tokens, hop.step) for hop in talk]
    return sum(a.seconds for a in answers), sum(a.decoded for a in answers)


async def _warm(rig: Rig, engine: Engine, seen: Seen) -> None:
    for prompt in rig.material.constants():
        rig.say("hops: decoding the constant prompts")
        use = await engine.warm(prompt)
        seen.read("warming", rig.tokens.constant(prompt), use.reused)


async def _warm_peer(rig: Rig, peer: Peer, first: Sequence[Hop]) -> None:
    for prompt in rig.material.constants():
        rig.say("hops: decoding the constant prompts on the peer")
        await peer.complete(rig.tokens.constant(prompt), 1)
    await _replay(peer, first)


def _levels(talk: Sequence[Hop]) -> list[dict[str, object]]:
    """The last conversation of ours, request by request."""
    return [
        {
            "level": hop.step.level,
            "prompt": hop.ran.use.prompt,
            "decoded": hop.ran.use.decoded,
            "generated": hop.ran.use.generated,
            "ms": rounded(hop.ran.seconds * 1000),
        }
        for hop in talk
    ]
