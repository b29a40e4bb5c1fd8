"""Machines with one rule broken each. The simulation must find every one of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from muleteer.seat.claiming import Claiming, Outcome, _Offer
from muleteer.seat.claims import Answer, Claim
from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable, Kind, Message, Output
from muleteer.seat.roles import Round


class NoPreVote(Election):
    """Raises its term whenever it hears nobody."""

    def _campaign(self, reason: str) -> None:
        if self._is_enrolled and self.now >= self._bound_until(self.me):
            self._stand(reason)
        else:
            super()._campaign(reason)


class NoPromise(Election):
    """Votes although its driver may still drive."""

    def _bound_until(self, to: str) -> int:
        return self.now


class NoSilence(Election):
    """Votes right after its start."""

    def _bound_until(self, to: str) -> int:
        return self._promised_until if self._promised_to != to else self.now


class NoFirstStart(Election):
    """Takes a second device of one image for the first."""

    def _is_second(self, message: Message) -> bool:
        return False


class NoLease(Election):
    """Drives until somebody tells it not to."""

    def drives(self, now: int) -> bool:
        return self._reign is not None and not self._unsaved


class TooLongALease(Election):
    """Counts its lease from when an answer arrives."""

    def _on_heartbeat_reply(self, message: Message) -> None:
        super()._on_heartbeat_reply(message)
        if self._reign is not None and message.granted and message.term == self.term:
            self._reign.acked[message.source] = self.now

    _HANDLERS: ClassVar[dict[Kind, Any]] = {**Election._HANDLERS, Kind.HEARTBEAT_REPLY: _on_heartbeat_reply}


class NoClock(Election):
    """Believes at the moment of acting what it knew at its last tick."""

    def drives(self, now: int) -> bool:
        return super().drives(min(now, self.now))


class VotesTwice(Election):
    """Gives its vote to whoever asks."""

    def _on_vote(self, message: Message) -> None:
        if message.term == self.term and not self.driver:
            self.vote = ""
        super()._on_vote(message)

    _HANDLERS: ClassVar[dict[Kind, Any]] = {**Election._HANDLERS, Kind.VOTE: _on_vote}


class KeepsNothing(Election):
    """Has neither its term nor its vote nor its household's stamp on disk."""

    @property
    def durable(self) -> Durable:
        return Durable(self.membership.stamped(0), 0, "")


class NoMajority(Election):
    """Is content with one vote."""

    def _count(self, round: Round) -> None:
        if round.pre:
            self._stand("it feels like it")
        else:
            self._win(round)


class KeepsDriving(Election):
    """Hands the seat over and drives on."""

    def _hand_over(self, successor: str, reason: str) -> None:
        reign = self._reign
        super()._hand_over(successor, reason)
        self._reign = reign


class AnyMembership(Election):
    """Votes for devices whose membership is older than its own, and changes it without asking a quorum."""

    def _may_vote(self, message: Message) -> bool:
        return not self.drives(self.now) and self.now >= self._bound_until(message.source)

    def _refusal(self, wanted: tuple[Voter, ...], now: int) -> str:
        return "" if self.drives(now) and self._wanted is None else "it does not drive"

    def _progress(self) -> None:
        if self._reign is not None:
            peers = self.membership.peers(self.me)
            self._reign.stamps = dict.fromkeys(peers, self.membership.stamp)
        super()._progress()


class NoStepBetween(Election):
    """Goes from two devices to three at once."""

    def _progress(self) -> None:
        wanted = self._wanted
        if self._reign is not None and wanted and len(wanted) > 2 and self.membership.rule is Rule.ONE:
            after = replace(
                self.membership, voters=wanted, rule=Rule.MAJORITY, version=self.membership.version + 1
            )
            self._install(after)
        super()._progress()


class KeepsReleases(Election):
    """Tells its new household that the terms it drove its own in are over."""

    def adopt(self, membership: Membership, now: int) -> Output:
        released = max(self.released, self._reign.term if self._reign else 0)
        output = super().adopt(membership, now)
        self._free(released)
        return output


class OneIsEnough(Membership):
    """Where a majority is required, one device will do."""

    @property
    def quorum(self) -> int:
        return 1


class AsksOnlyItself(Claiming):
    """Runs a slot when it has asked only itself."""

    def begin(self, term: int, membership: Membership, now: int) -> Outcome:
        lax = OneIsEnough(membership.voters, membership.term, membership.version, membership.rule)
        return super().begin(term, lax, now)


class KeepsNoClaims(Claiming):
    """Accepts whatever is offered."""

    def _answer(self, offered: Claim, term: int) -> Answer:
        self._keep(offered)
        return Answer(self.me, True, term)


class NeverDecides(Claiming):
    """Asks the others and heeds no answer."""

    def _decide(self, offer: _Offer) -> None:
        pass


ELECTIONS: tuple[type[Election], ...] = (
    NoPreVote,
    NoPromise,
    NoSilence,
    NoFirstStart,
    NoLease,
    TooLongALease,
    NoClock,
    KeepsNothing,
    NoMajority,
    KeepsDriving,
    AnyMembership,
    NoStepBetween,
    VotesTwice,
    KeepsReleases,
)
CLAIMINGS: tuple[type[Claiming], ...] = (AsksOnlyItself, KeepsNoClaims, NeverDecides)
