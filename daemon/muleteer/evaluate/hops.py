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
from muleteer.evaluate import overhead
from muleteer.evaluate.material import NEXT, REQUESTS, Step
from muleteer.evaluate.overhead import Clock
from muleteer.evaluate.peer import Peer, PeerSettings
from muleteer.evaluate.report import Measure, Target, compared, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Ran, Rig, run, run_peer

SEVERAL = 8  # slots: more than the levels and tools of these turns have prompts


@dataclass(frozen=True, slots=True)
class Hop:
    """One request of a conversation as both sides get it; `native` are our seconds inside llama_decode."""

    step: Step
    tokens: list[int]
    ran: Ran
    native: float


@dataclass(frozen=True, slots=True)
class Ours:
    """Our engine, its clock, and what it has read."""

    engine: Engine
    clock: Clock
    seen: Seen


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
    async with overhead.clocked(rig, rig.settings) as (engine, clock):
        mule = Ours(engine, clock, seen)
        await _warm(rig, mule)
        first = await _conversation(rig, mule, 0)
        async with rig.peer() as peer:
            talks, answers = await _rounds(rig, mule, peer, first)
    ours, theirs = [_seconds(talk) for talk in talks], [seconds for seconds, _ in answers]
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
        "decoded": [_decoded(talk) for talk in talks],
        "peer_decoded": [tokens for _, tokens in answers],
        "decoded_twice": {level: tokens for level, tokens in seen.again.items() if tokens},
        "levels": _levels(talks[-1]),
    }
    target = Target("hops: ours / the peer's best configuration", share, 0.9)
    forgetful = Target("hops: ours / one slot that keeps no prompts in memory", alone, 0.5)
    targets = (forgetful, target, *measure.targets)
    measure = replace(measure, targets=targets, details=details, note=_profile(talks, answers))
    return compared(measure, ours, theirs, 0.5)


async def _rounds(
    rig: Rig, ours: Ours, peer: Peer | None, first: list[Hop]
) -> tuple[list[list[Hop]], list[tuple[float, int]]]:
    """The conversations, and what the peer's of the same requests took (see `_replay`)."""
    talks: list[list[Hop]] = []
    answers: list[tuple[float, int]] = []
    if peer:
        await _warm_peer(rig, peer, first)

    async def mine(i: int) -> None:
        talks.append(await _conversation(rig, ours, i + 1))

    async def its(_: int) -> None:
        if peer:
            answers.append(await _replay(peer, talks[-1]))

    await rig.alternate("hops", mine, its)
    return talks, answers


def _profile(talks: Sequence[list[Hop]], answers: Sequence[tuple[float, int]]) -> str:
    """Where our seconds go: what is not inside llama_decode is all that better code could save, and what the
    peer decodes tells how much less than it there is to decode."""
    native = sum(hop.native for talk in talks for hop in talk) / sum(map(_seconds, talks))
    theirs = sum(tokens for _, tokens in answers)
    against = f", against the peer's {theirs / len(answers):.0f}" if answers else ""
    return (
        f"{native:.1%} of our time is llama_decode's; a conversation decodes"
        f" {sum(map(_decoded, talks)) / len(talks):.0f} prompt tokens{against}"
    )


def _seconds(talk: Sequence[Hop]) -> float:
    return sum(hop.ran.seconds for hop in talk)


def _decoded(talk: Sequence[Hop]) -> int:
    return sum(hop.ran.use.decoded for hop in talk)


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


async def _conversation(rig: Rig, ours: Ours, number: int) -> list[Hop]:
    """One hop sequence on our engine, each prompt made from what came before."""
    request = REQUESTS[number % len(REQUESTS)]
    material, done = rig.material, list[Hop]()
    ours.seen.begin()

    async def take(step: Step) -> Ran:
        tokens = rig.tokens.of(step.prompt)
        before = ours.clock()
        ran = await run(ours.engine, step)
        ours.seen.read(step.level, tokens, ran.use.reused)
        done.append(Hop(step, tokens, ran, ours.clock() - before))
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


async def _warm(rig: Rig, ours: Ours) -> None:
    for prompt in rig.material.constants():
        rig.say("hops: decoding the constant prompts")
        use = await ours.engine.warm(prompt)
        ours.seen.read("warming", rig.tokens.constant(prompt), use.reused)


async def _warm_peer(rig: Rig, peer: Peer, first: Sequence[Hop]) -> None:
    """A brief run warms only what the conversations use: to the peer's advantage, if at all."""
    for prompt in () if rig.quick else rig.material.constants():
        rig.say("hops: decoding the constant prompts on the peer")
        await peer.complete(rig.tokens.constant(prompt), 1)
    rig.say("hops: the peer's first conversation")
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
            "llama_decode_ms": rounded(hop.native * 1000),
        }
        for hop in talk
    ]
