"""A slot of a skill runs at most once per household: the rules. Pure.

The driver offers its claim to every device, itself included; each answers by what it holds (`answer`) and
keeps it before it answers; with a quorum of answers the driver decides (`settle`). An offer in an older term
than the device's own is fenced off. Any two quorums share a device, so a claim that may have run is always
seen by the next driver, which settles it: run again if the skill says that it may be, else report it as lost.

With two devices that cannot hear each other, one device is a quorum, and a slot may run once on each;
`doubled` finds that out when they meet.

A driver knows every claim only after it has merged those of a quorum: it does so when it is elected, and
gives them to a quorum of the new membership before the next device is enrolled or removed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

KEEP = timedelta(days=366)  # a yearly job, a leap year, must still find its last slot
LONGEST_NAME = 64  # characters of a skill's name or of a slot


class State(StrEnum):
    """`CLAIMED`: it runs, or its driver died. `LOST`: claimed by a driver that died, and reported."""

    CLAIMED = "claimed"
    DONE = "done"
    FAILED = "failed"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Claim:
    """One slot of a skill, claimed by the driver of `term`, on `device`. `attempt` counts runs from 1.
    `settles`: written over what an earlier driver left. `made` is the wall clock, for forgetting only."""

    skill: str
    slot: str
    term: int
    device: str
    repeatable: bool = False
    state: State = State.CLAIMED
    attempt: int = 1
    settles: bool = False
    made: datetime | None = None

    def __post_init__(self) -> None:
        if not 0 < len(self.skill) <= LONGEST_NAME or not 0 < len(self.slot) <= LONGEST_NAME:
            raise ValueError(f"a skill and a slot have 1 to {LONGEST_NAME} characters")
        if self.term < 0 or self.attempt < 1:
            raise ValueError("a claim has a term and an attempt")

    @property
    def key(self) -> tuple[str, str]:
        """What is run at most once."""
        return self.skill, self.slot

    @property
    def identity(self) -> tuple[int, int]:
        """Which run of it; a later one is greater."""
        return self.term, self.attempt

    def ended(self, state: State) -> Claim:
        """The same run, over."""
        return replace(self, state=state, settles=True)


@dataclass(frozen=True, slots=True)
class Answer:
    """What one device says to an offer. `term` is its own; `held` is what stood in the way, if anything."""

    device: str
    accepted: bool
    term: int
    held: Claim | None = None


class Verdict(StrEnum):
    """`WAIT`: too few answers. `OFFER`: offer `Settled.claim` next. `REPORT`: tell people that it is lost."""

    RUN = "run"
    SKIP = "skip"
    REPORT = "report"
    OFFER = "offer"
    WAIT = "wait"
    FENCED = "fenced"


@dataclass(frozen=True, slots=True)
class Settled:
    """What the driver does next, and the claim it is about."""

    verdict: Verdict
    claim: Claim


def answer(held: Claim | None, offered: Claim, term: int, device: str) -> Answer:
    """A device that holds `held` for that slot, in its own `term`, is offered a claim. If it accepts, it
    keeps the offered claim durably before it answers."""
    if offered.term < term:
        return Answer(device, False, term)
    if held is None or held == offered:
        return Answer(device, True, term)
    if held.state is State.CLAIMED:
        same = held.identity == offered.identity and held.device == offered.device
        if same or (offered.settles and held.identity < offered.identity):
            return Answer(device, True, term)
    return Answer(device, False, term, held)


def settle(answers: Iterable[Answer], offered: Claim, *, size: int, quorum: int) -> Settled:
    """The driver's decision on what it offered, from the answers of different devices, its own among them.

    `size` and `quorum` are those of the membership.
    """
    heard = list(answers)
    if any(each.term > offered.term for each in heard):
        return Settled(Verdict.FENCED, offered)
    if len(heard) < quorum:
        return Settled(Verdict.WAIT, offered)
    held = [each.held for each in heard if each.held is not None]
    if not held:
        return Settled(Verdict.REPORT if offered.state is State.LOST else Verdict.RUN, offered)
    last = max(held, key=_finality)
    if last.state is not State.CLAIMED or last.term >= offered.term:
        return Settled(Verdict.SKIP, last)
    if len(held) + size - len(heard) < quorum:  # its driver cannot have had a quorum: it never ran
        return Settled(Verdict.OFFER, replace(offered, settles=True))
    if last.repeatable:
        return Settled(Verdict.OFFER, replace(offered, attempt=last.attempt + 1, settles=True))
    return Settled(Verdict.OFFER, replace(offered, state=State.LOST, attempt=last.attempt, settles=True))


def merged(one: Claim | None, other: Claim) -> Claim:
    """What two devices keep of the same slot when they meet: what ended rather than what may have."""
    return other if one is None else max(one, other, key=_finality)


def doubled(one: Claim, other: Claim) -> bool:
    """Whether a slot ran on two devices that could not hear each other."""
    ran = (State.DONE, State.FAILED)
    apart = one.device != other.device and one.attempt == other.attempt
    return apart and one.state in ran and other.state in ran


def unsettled(claims: Iterable[Claim], term: int) -> list[Claim]:
    """What earlier drivers left; the driver of `term` offers each again, in its own name."""
    return [claim for claim in claims if claim.state is State.CLAIMED and claim.term < term]


def worth_running(due: datetime, now: datetime, grace: timedelta) -> bool:
    """Whether a slot that nobody claimed in time may still run. Both times have a zone."""
    return due <= now <= due + grace


def is_forgotten(claim: Claim, now: datetime) -> bool:
    """Whether the claim may be deleted. A clock that was set back forgets nothing."""
    return claim.made is not None and now - claim.made > KEEP


def _finality(claim: Claim) -> tuple[int, int, int]:
    order = {State.CLAIMED: 0, State.LOST: 1, State.FAILED: 2, State.DONE: 3}
    return order[claim.state], claim.term, claim.attempt
