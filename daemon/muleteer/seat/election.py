"""Who drives the household: Raft's leader election, and nothing else of Raft. A pure state machine.

Messages and the time go in (`step`, `tick`), messages and role changes come out. Time is a count of ticks
(`timing`); randomness is seeded; the role changes only in `become_*` (`roles`); what a driver does is
`tenure`'s. After Ongaro and Ousterhout, In Search of an Understandable Consensus Algorithm (2014), and
Ongaro's thesis (2014) for pre-vote, leases and hand-over.

Why at most one device drives at one instant where a majority is required:
1. One vote a device a term, durable before it is told: one driver a term.
2. Who answers a heartbeat votes for nobody else for `promise` ticks; who starts votes for nobody for as long,
   because it may have answered just before it stopped. Two quorums share a device. So a newer driver is
   elected only after the older one's lease, counted from when it *sent* what a quorum answered, has ended.
3. A driver that stops by itself says so (`released`), and never drives in that term again: the promises made
   to it are void.
4. Of two starts of one device, as two cards of one image are, only the one that was heard first gets votes
   and is followed, until it has been silent for a promise. A device that was started again is silent for as
   long by itself.
5. Memberships change one device at a time, in steps whose quorums overlap (`membership`).
`drives` asks the clock at the moment of acting, so a board that was suspended acts no more.

With two devices there is no majority to ask. A device that hears the other refuse does not take the seat; of
two that drive and hear each other, the one that ranks first keeps it. While they cannot hear each other both
may drive, and say that they are alone; one takes the even terms and one the odd ones.

Not promised: a device whose memory is older than it was (a restored image) may vote in one term again. It is
silent first, so no two drive at one instant, but the term may have two drivers, one after the other. Peers
that can see it warn. And two devices of one image that never reach the same third one are each a quorum with
those they reach; whom both reach finds them out (`twins`).
"""

from __future__ import annotations

from typing import ClassVar

from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Kind, Message, Output, Role
from muleteer.seat.reign import FAR, Reign
from muleteer.seat.roles import Round
from muleteer.seat.tenure import Tenure

ASKED_AHEAD = (Kind.PRE_VOTE, Kind.PRE_VOTE_REPLY)  # their term may be one that nobody has reached


class Election(Tenure):
    """One device's part in the election. After an `Output` with `durable`, the next call must be `saved`."""

    def saved(self) -> None:
        """The last output's `durable` is durable."""
        self._unsaved = False

    def tick(self, now: int) -> Output:
        """Time has passed: `now` in ticks since a fixed moment, suspend included."""
        self._begin(now)
        if self._reign is not None:
            self._beat(self._reign)
        elif self._round is not None:
            self._ask(self._round)
        elif self.now >= self._deadline:
            self._campaign("no driver is heard")
        return self._end()

    def step(self, message: Message, now: int) -> Output:
        """An authentic message, not seen before, has arrived."""
        self._begin(now)
        if message.target == self.me and self._is_known(message):
            self._notice(message)
            self._HANDLERS[message.kind](self, message)
        return self._end()

    def take(self, now: int) -> Output:
        """A person wants this device to drive: it asks the driver, or for votes."""
        self._begin(now)
        if self._reign is None:
            if self.driver:
                self._send(Kind.ASK, self.driver)
            else:
                self._campaign("a person wants it to drive")
        return self._end()

    def give(self, reason: str, now: int, to: str = "") -> Output:
        """If this device drives: stop, and name a successor (`to`, or the first that is heard)."""
        self._begin(now)
        if self._reign is not None:
            self._hand_over(to or self._successor(self._reign), reason)
        return self._end()

    def set_reluctance(self, why: str, now: int) -> Output:
        """One that is hot, on battery or busy, or has no model, lets another drive that is willing; ""
        makes it willing itself."""
        self._begin(now)
        self.reluctance = why
        self._relieve()
        return self._end()

    def change(self, wanted: tuple[Voter, ...], now: int) -> Output:
        """Add, remove or re-rank one device; only at the driver. Done when `membership.settled(wanted)`; if
        the driver changes before that, it must be asked again.

        Raises `ValueError` with a sentence for people when it cannot be done now.
        """
        if refusal := self._refusal(wanted, now):
            raise ValueError(refusal)
        self._begin(now)
        self._wanted = wanted
        self._progress()
        return self._end()

    def adopt(self, membership: Membership, now: int) -> Output:
        """This device enters another household. Or a person insists that the missing devices will never come
        back: if they do, two may drive."""
        self._begin(now)
        if self._peers and self.vote == self.me:  # it may have driven apart from these, in their term
            self._raise_term(self.term + 1)
        self._install(membership)
        self._raise_term(membership.term)
        self.become_follower("", "its household is another one now")
        self.released = 0  # the terms of another household free nobody here
        self._deadline = self.now + (self._time_out() if self._peers else 0)
        return self._end()

    # Messages

    def _is_known(self, message: Message) -> bool:
        """From an enrolled device; or, unless this one drives, from one whose newer membership has both."""
        offered = message.membership
        if message.source in self.membership.ids:
            return True
        if offered is not None and self._reign is None and offered.stamp > self.membership.stamp:
            return {message.source, self.me} <= set(offered.ids)
        if message.kind is Kind.HEARTBEAT and self._reign is not None and message.term > self.term:
            self._retake(message)  # a device that was removed drives: from now on this membership is newer
        elif message.kind in (Kind.PRE_VOTE, Kind.HEARTBEAT):
            self._refuse(message)  # it may not know that it was removed
        return False

    def _notice(self, message: Message) -> None:
        """What any message tells: who has stopped driving, and whose memory is older than it was."""
        self._free(message.released)
        self._heed(message)
        boot, term = self._met.setdefault(message.source, (message.boot, 0))
        if message.kind in ASKED_AHEAD:
            return
        if boot != message.boot and message.term < term:
            self._warnings.append(
                f"{message.source} came back with an older memory: term {message.term} after {term}."
            )
        self._met[message.source] = (message.boot, max(term, message.term))

    def _on_pre_vote(self, message: Message) -> None:
        if self._may_vote(message) and message.term > self.term:
            self._send(
                Kind.PRE_VOTE_REPLY, message.source, term=message.term, clock=message.clock, granted=True
            )
        else:
            self._refuse(message)

    def _on_vote(self, message: Message) -> None:
        if not self._may_vote(message):
            self._refuse(message)
            return
        if message.term > self.term:
            self._obey(message.term, f"{message.source} asks for votes")
        if message.term == self.term and self.vote in ("", message.source) and not self.driver:
            if not self.vote:
                self.vote, self._dirty = message.source, True
            self._round = None
            self._deadline = self.now + self.timing.round + self._delay()
            self._send(Kind.VOTE_REPLY, message.source, clock=message.clock, granted=True)
        else:
            self._refuse(message)

    def _may_vote(self, message: Message) -> bool:
        """Whether nothing but the term stands against a vote for the sender."""
        return (
            message.stamp >= self.membership.stamp
            and not self._is_second(message)
            and not self.drives(self.now)
            and self.now >= self._bound_until(message.source)
        )

    def _refuse(self, message: Message) -> None:
        replies = {Kind.PRE_VOTE: Kind.PRE_VOTE_REPLY, Kind.VOTE: Kind.VOTE_REPLY}
        self._send(
            replies.get(message.kind, Kind.HEARTBEAT_REPLY),
            message.source,
            clock=message.clock,
            enclose=message.stamp < self.membership.stamp,
        )

    def _on_answer(self, message: Message) -> None:
        """A vote, or the prospect of one, or a refusal of either."""
        round = self._round
        if message.granted and round and round.pre == (message.kind is Kind.PRE_VOTE_REPLY):
            if (message.term, message.clock) == (round.term, round.started):
                round.granted.add(message.source)
                self._count(round)
            return
        if message.granted:
            return
        if round and message.clock == round.started:
            round.refused.add(message.source)
        self._learn(message)
        if message.term > self.term:
            if self._reign is not None:
                self._retake(message)
            else:
                self._obey(message.term, f"{message.source} knows a later term")
                self._deadline = min(self._deadline, self.now + self.timing.again + self._delay())

    def _learn(self, message: Message) -> None:
        offered = message.membership
        if offered is None or offered.stamp <= self.membership.stamp:
            return
        if self.me not in offered.ids:
            self.become_follower("", "it is no longer enrolled")
        if self._reign is None:
            self._install(offered)
            self._deadline = min(self._deadline, self.now + self.timing.again + self._delay())

    def _on_heartbeat(self, message: Message) -> None:
        if self._is_second(message):
            self._refuse(message)
            return
        if message.term > self.term and self._keeps_it():
            self._retake(message)
            return
        if message.term < self.term or self._is_another(message):
            if self._reign is None:
                self._refuse(message)
            else:
                self._send(Kind.HEARTBEAT, message.source, clock=self.now, enclose=True)
            return
        self._raise_term(message.term)
        self._failed, self.driver_is_willing = 0, message.willing
        self.become_follower(message.source, f"{message.source} drives")
        self._learn(message)
        if self._is_enrolled:
            self._promise(message.source)
            self._deadline = self.now + self._time_out()
            self._send(Kind.HEARTBEAT_REPLY, message.source, clock=message.clock, granted=True)

    def _keeps_it(self) -> bool:
        """Of two that drive because they could not hear each other, the first in rank keeps the seat."""
        return (
            self._reign is not None
            and self.membership.rule is Rule.ONE
            and self.membership.rank(self.me) == 0
        )

    def _is_another(self, message: Message) -> bool:
        """Whether a term has two drivers, which takes a device whose memory is older than it was."""
        another = message.term == self.term and self.driver not in ("", message.source)
        if another:
            self._warnings.append(f"{self.driver} and {message.source} both drive in term {self.term}.")
        return another

    def _on_heartbeat_reply(self, message: Message) -> None:
        reign = self._reign
        if not message.granted:
            self._on_answer(message)
        elif reign is not None and message.term == self.term and message.source in self._peers:
            reign.answered(message, self.now)
            if message.stamp < self.membership.stamp:
                self._send(Kind.HEARTBEAT, message.source, clock=self.now, enclose=True)
            if self.role is Role.ALONE:
                self.become_driver(f"{message.source} agrees")
            self._progress()
            self._relieve()

    def _on_release(self, message: Message) -> None:
        if message.term < self.term or self._reign is not None:
            return
        self._raise_term(message.term)
        self.become_follower("", f"{message.source} has left the seat")
        if message.successor == self.me and self._is_enrolled and self.now >= self._bound_until(self.me):
            self._stand(f"{message.source} hands it the seat")
        else:
            self._deadline = min(self._deadline, self.now + self.timing.soon + self._delay())

    def _on_ask(self, message: Message) -> None:
        if self._reign is not None:
            self._hand_over(message.source, f"{message.source} was told to drive")

    _HANDLERS: ClassVar = {
        Kind.PRE_VOTE: _on_pre_vote,
        Kind.PRE_VOTE_REPLY: _on_answer,
        Kind.VOTE: _on_vote,
        Kind.VOTE_REPLY: _on_answer,
        Kind.HEARTBEAT: _on_heartbeat,
        Kind.HEARTBEAT_REPLY: _on_heartbeat_reply,
        Kind.RELEASE: _on_release,
        Kind.ASK: _on_ask,
    }

    # Getting the seat

    def _campaign(self, reason: str) -> None:
        """First ask whether there would be votes, so that nobody's term is raised in vain."""
        bound = self._bound_until(self.me)
        if not self._is_enrolled or self.now < bound:
            self._deadline = bound if self._is_enrolled else FAR
            return
        if not self._peers:
            self._stand("no other device is enrolled")
            return
        if self.role is not Role.NO_MAJORITY:
            self.become_candidate(reason)
        self._open_round(pre=True, term=self._next_term())

    def _stand(self, reason: str) -> None:
        """Take the next term, vote for oneself, and ask for votes."""
        self._raise_term(self._next_term())
        self.vote = self.me
        if self._peers:
            self.become_candidate(reason)
        self._open_round(pre=False, term=self.term)

    def _open_round(self, pre: bool, term: int) -> None:
        self._round = Round(pre, term, self.now, self.now, self.now + self.timing.round, {self.me})
        if not pre and self.membership.quorum == 1:
            self._win(self._round)
        else:
            self._ask(self._round)

    def _ask(self, round: Round) -> None:
        if self.now >= round.retry_at:
            round.retry_at = self.now + self.timing.retry
            for peer in self._peers:
                if peer not in round.granted | round.refused:
                    kind = Kind.PRE_VOTE if round.pre else Kind.VOTE
                    self._send(kind, peer, term=round.term, clock=round.started)

    def _count(self, round: Round) -> None:
        everybody = len(self.membership.voters)
        needed = everybody if self.membership.rule is Rule.ONE else self.membership.quorum
        if round.pre and len(round.granted) >= needed:
            self._stand(f"{len(round.granted)} of {everybody} would vote for it")
        elif not round.pre and len(round.granted) >= self.membership.quorum:
            self._win(round)

    def _win(self, round: Round) -> None:
        consent = len(round.granted)
        self._round, self._failed = None, 0
        self._reign = Reign(self.term, self.now, self.timing, beat_at=self.now)
        self._install(self.membership.stamped(self.term))
        if self.membership.rule is Rule.MAJORITY:
            self.become_driver(f"{consent} of {len(self.membership.voters)} voted for it")
        else:
            self.become_alone("no other device is enrolled" if not self._peers else "nobody else drives")
        self._beat(self._reign)

    def _close_round(self, round: Round) -> None:
        """The round has ended without success."""
        self._round = None
        reached = len(round.granted | round.refused)
        self._deadline = self.now + self._back_off()
        if self.membership.rule is Rule.MAJORITY:
            if reached < self.membership.quorum:
                self.become_no_majority(f"{reached} of {len(self.membership.voters)} devices answer")
            else:
                self.become_candidate(f"{reached} of {len(self.membership.voters)} devices answer")
        elif not round.refused and (self._met or self.now >= self._started + self.timing.patience):
            self._stand(f"{self._peers[0]} does not answer")

    def _retake(self, message: Message) -> None:
        """A later term is known, though this device holds the seat: stop, and ask for one after that."""
        self._lay_down()
        self._raise_term(message.term)
        self._stand(f"{message.source} knows a later term")

    def _obey(self, term: int, reason: str) -> None:
        """A later term ends what was going on in this one."""
        self._raise_term(term)
        self._round = None
        if self.role is not Role.NO_MAJORITY:
            self.become_follower("", reason)
