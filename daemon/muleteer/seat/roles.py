"""One device's state in the election: its role, term, vote, promise and reign, and the only ways to change
them. Pure.

Knows what each change entails and writes it down for the next `Output`; which message entails which change is
`election`'s.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable, Kind, Message, Output, Role, RoleChange
from muleteer.seat.reign import FAR, Reign
from muleteer.seat.timing import Timing


@dataclass(slots=True)
class Round:
    """One round of asking for votes, or (`pre`) for whether there would be votes, in `term`."""

    pre: bool
    term: int
    started: int
    retry_at: int
    end: int
    granted: set[str]
    refused: set[str] = field(default_factory=set)


class Roles:
    """The state, and `become_*`."""

    def __init__(
        self,
        me: str,
        durable: Durable,
        *,
        seed: int,
        boot: int = 0,
        now: int = 0,
        timing: Timing | None = None,
    ) -> None:
        """A device that has just started, at tick `now`. `boot` is drawn anew at each start."""
        self.me = me
        self.timing = timing or Timing()
        self.term, self.vote, self.membership = durable.term, durable.vote, durable.membership
        self.role, self.driver, self.reason = Role.FOLLOWER, "", "it has just started"
        self.now = self.since = self._started = now
        self.reluctance = ""  # why this device would rather not drive, if it would not
        self.driver_is_willing = True  # by its last heartbeat
        self.released = 0  # the last term whose driver is known to have stopped
        self._boot = boot
        self._random = random.Random(seed)  # noqa: S311  # spreads time-outs, guards nothing
        self._start_term = durable.term
        self._promised_to, self._promised_term, self._promised_until = "", 0, now
        self._reign: Reign | None = None
        self._round: Round | None = None
        self._failed = 0  # rounds since the last driver
        self._wanted: tuple[Voter, ...] | None = None
        self._met: dict[str, tuple[int, int]] = {}  # what each peer has shown: its boot, its greatest term
        self._heeded: dict[
            str, tuple[int, int]
        ] = {}  # which start of each peer counts, and when it was heard
        self._unsaved = self._dirty = False
        self._messages: list[Message] = []
        self._changes: list[RoleChange] = []
        self._warnings: list[str] = []
        self._deadline = now + self._time_out() if self._peers else now

    def drives(self, now: int) -> bool:
        """Whether this device may run the household's work at this tick. Ask right before each deed."""
        if self._reign is None or self._unsaved:
            return False
        if self.membership.rule is Rule.MAJORITY:
            until = self._reign.lease_until(self.membership, self.me)
            return until is not None and now < until
        return not self._peers or now < self.now + self.timing.lease

    @property
    def wake_at(self) -> int:
        """The tick at which `tick` must be called, unless a message comes first."""
        if self._reign is not None:
            reign = self._reign
            over = reign.over_at(self.membership, self.me) if self.role is Role.DRIVER else FAR
            return min(reign.beat_at, reign.retry_at, over)
        if self._round is not None:
            return min(self._round.retry_at, self._round.end)
        return self._deadline

    @property
    def durable(self) -> Durable:
        """What must survive a crash."""
        return Durable(self.membership, self.term, self.vote)

    def last_heard(self) -> dict[str, int]:
        """At the driver: for each peer that answered it, the tick."""
        return {} if self._reign is None else dict(self._reign.heard)

    def become_follower(self, driver: str, reason: str) -> None:
        """Follow `driver`, or nobody yet."""
        self._lay_down()
        self._turn(Role.FOLLOWER, driver, reason)

    def become_candidate(self, reason: str) -> None:
        """Ask for the seat."""
        self._lay_down()
        self._turn(Role.CANDIDATE, "", reason)

    def become_no_majority(self, reason: str) -> None:
        """Too few devices answer for anybody here to drive."""
        self._lay_down()
        self._turn(Role.NO_MAJORITY, "", reason)

    def become_driver(self, reason: str) -> None:
        """Drive with the others' consent, while the lease lasts."""
        self._turn(Role.DRIVER, self.me, reason)

    def become_alone(self, reason: str) -> None:
        """Drive because nobody else answers and nobody else must."""
        self._turn(Role.ALONE, self.me, reason)

    def _lay_down(self) -> None:
        """Whatever was going on is over; a reign that ends is told to all who are asked for votes."""
        if self._reign is not None:
            self._free(self._reign.term)
        self._reign = self._round = self._wanted = None

    def _turn(self, role: Role, driver: str, reason: str) -> None:
        if (role, driver) != (self.role, self.driver):
            self.role, self.driver, self.reason, self.since = role, driver, reason, self.now
            self._changes.append(RoleChange(role, self.term, driver, reason))

    @property
    def _peers(self) -> tuple[str, ...]:
        return self.membership.peers(self.me)

    @property
    def _is_enrolled(self) -> bool:
        return self.me in self.membership.ids

    def _next_term(self) -> int:
        """The next term this device may take. Of two devices that ask nobody, one takes the even terms."""
        term = self.term + 1
        if self.membership.rule is Rule.ONE and self._peers:
            term += (term + sorted(self.membership.ids).index(self.me)) % 2
        return term

    def _delay(self) -> int:
        """Who comes first waits least; the jitter is for those who do not agree on who comes first."""
        count = len(self.membership.voters)
        if not self._is_enrolled or count < 2:
            return 0
        slot = self.timing.ranks if count == 2 else min(self.timing.slot, self.timing.ranks // (count - 1))
        reluctance = self.timing.reluctance if self.reluctance else 0
        jitter = self._random.randrange(self.timing.jitter)
        return slot * self.membership.rank(self.me) + reluctance + jitter

    def _time_out(self) -> int:
        """How long a follower waits for its driver."""
        return self.timing.promise + self._delay()

    def _back_off(self) -> int:
        """How long to wait before the next round."""
        longest = min(self.timing.again << min(self._failed, 8), self.timing.seldom)
        self._failed += 1
        return self._random.randrange(self.timing.again, longest + 1) + self._delay()

    def _raise_term(self, term: int) -> None:
        if term > self.term:
            self.term, self.vote, self._dirty = term, "", True

    def _install(self, membership: Membership) -> None:
        self.membership, self._dirty, self._round = membership, True, None
        self._met = {id: met for id, met in self._met.items() if id in membership.ids}
        self._heeded = {id: heeded for id, heeded in self._heeded.items() if id in membership.ids}

    def _promise(self, driver: str) -> None:
        self._promised_to, self._promised_term = driver, self.term
        self._promised_until = self.now + self.timing.promise

    def _free(self, released: int) -> None:
        """The driver of that term, and each before it, has stopped: what it was promised is void."""
        self.released = max(self.released, released)
        if self._promised_term <= self.released:
            self._promised_until = self.now

    def _bound_until(self, to: str) -> int:
        """Until when this device may not vote for `to`. What it promised before its start is forgotten."""
        promised = self._promised_until if self._promised_to != to else self.now
        if self.membership.rule is Rule.ONE or self.released >= self._start_term:
            return promised
        return max(promised, self._started + self.timing.promise)

    def _heed(self, message: Message) -> None:
        """Its sender's start counts, unless another start of that device has been heard within a promise."""
        boot, heard = self._heeded.get(message.source, (message.boot, self.now))
        if boot == message.boot or self.now >= heard + self.timing.promise:
            self._heeded[message.source] = message.boot, self.now

    def _is_second(self, message: Message) -> bool:
        """Whether another start of its sender counts: one that may still drive."""
        return self._heeded[message.source][0] != message.boot

    def _send(
        self,
        kind: Kind,
        target: str,
        *,
        term: int | None = None,
        clock: int = 0,
        granted: bool = False,
        successor: str = "",
        enclose: bool = False,
    ) -> None:
        self._messages.append(
            Message(
                kind,
                self.me,
                target,
                self.term if term is None else term,
                self.membership.stamp,
                clock,
                granted,
                self.released,
                successor,
                not self.reluctance,
                self._boot,
                self.membership if enclose else None,
            )
        )

    def _begin(self, now: int) -> None:
        """What time alone has ended is over before anything else counts."""
        if self._unsaved:
            raise RuntimeError("the last output is not saved yet")
        before, self.now = self.now, max(self.now, now)
        if self._reign is not None:
            self._look_at_lease(self._reign, self.now - before)
        if self._round is not None and self.now >= self._round.end:
            self._close_round(self._round)

    def _look_at_lease(self, reign: Reign, passed: int) -> None:
        raise NotImplementedError

    def _close_round(self, round: Round) -> None:
        raise NotImplementedError

    def _end(self) -> Output:
        durable = self.durable if self._dirty else None
        output = Output(durable, tuple(self._messages), tuple(self._changes), tuple(self._warnings))
        self._unsaved, self._dirty = self._dirty, False
        self._messages, self._changes, self._warnings = [], [], []
        return output
