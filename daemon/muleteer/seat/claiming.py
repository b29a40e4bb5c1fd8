"""One device's part in claiming: it keeps claims, answers offers, and while it drives makes its own. Pure.

Knows the rules (`claims`), who is asked and how often; neither who drives nor whether a run went well. Time
is a count of ticks (`timing`). Two things are exchanged: offers and their answers, and books, which
is what a driver needs to have seen from a quorum before it offers anything, and a quorum from it before the
membership changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from muleteer.seat.claims import Answer, Claim, Settled, State, Verdict, answer, merged, settle
from muleteer.seat.membership import Membership, Rule
from muleteer.seat.reign import FAR

RETRY = 50  # ticks: an unanswered offer or book is sent again
PATIENCE = 100  # ticks: of two devices, how long the one waits for the other's answer
MOST_IN_BOOK = 256  # claims, the newest, in one message: older slots are beyond every grace time
MOST_OPEN = 64  # offers at once: a day's slots of every skill, after a day off


class Talk(StrEnum):
    """What is said about claims."""

    OFFER = "offer"
    ANSWER = "answer"
    BOOK = "book"
    BOOK_REPLY = "book-reply"


@dataclass(frozen=True, slots=True)
class Saying:
    """One message about claims. Of an answer, `claims` is the offer, and `held` what stood in its way."""

    talk: Talk
    source: str
    target: str
    term: int
    claims: tuple[Claim, ...] = ()
    accepted: bool = False
    held: Claim | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What to do, in this order: make `store` durable; send; act on what is `settled`. Where the first fails,
    `Claiming.undo`; but a run that has `ended` has, whatever the disk says."""

    store: tuple[Claim, ...] = ()
    sayings: tuple[Saying, ...] = ()
    settled: tuple[Settled, ...] = ()
    ended: bool = False


@dataclass(slots=True)
class _Offer:
    claim: Claim
    asked: int
    quiet: bool
    answers: dict[str, Answer] = field(default_factory=dict)


class Claiming:
    """The claims of one device. `book` is what its store holds."""

    def __init__(self, me: str, book: Iterable[Claim] = ()) -> None:
        self.me = me
        self.book = {claim.key: claim for claim in book}
        self._membership: Membership | None = None  # while this device drives
        self._term = 0
        self._offers: dict[tuple[str, str], _Offer] = {}
        self._books_from: set[str] = set()
        self._extra = ""  # a device about to be enrolled
        self._retry_at = FAR
        self._now = 0
        self._fence = 0  # the latest term in which a driver was heard
        self._store: dict[tuple[str, str], Claim] = {}
        self._sayings: list[Saying] = []
        self._settled: list[Settled] = []
        self._changed: dict[tuple[str, str], Claim | None] = {}  # what the last input has replaced
        self._before: tuple[dict[tuple[str, str], _Offer], set[str]] = {}, set()

    @property
    def wake_at(self) -> int:
        """The tick at which `tick` must be called, unless something comes first."""
        return self._retry_at

    def drives_in(self, term: int) -> bool:
        """Whether `claim` takes claims of that term."""
        return self._membership is not None and self._term == term

    def begin(self, term: int, membership: Membership, now: int) -> Outcome:
        """This device drives; or, while it drives, its membership has changed."""
        self._begin(now)
        if term != self._term or self._membership is None:
            self._offers, self._books_from = {}, set()
        changed = membership != self._membership
        self._term, self._membership = term, membership
        if changed:
            self._books_from.intersection_update(membership.ids)
            self._ask_books()
        return self._out()

    def stop(self) -> None:
        """It drives no more: what it has claimed is for the next driver to settle."""
        self._membership, self._offers, self._retry_at = None, {}, FAR

    def share(self, newcomer: str, now: int) -> Outcome:
        """Before the membership changes: exchange books anew, with `newcomer` too; see `is_shared`."""
        self._begin(now)
        self._extra, self._books_from = newcomer, set()
        self._ask_books()
        return self._out()

    def is_shared(self, membership: Membership) -> bool:
        """Whether a quorum of that membership has exchanged books with this driver since it was asked to."""
        return len(self._books_from & set(membership.ids) | {self.me}) >= membership.quorum

    def claim(self, wanted: Claim, now: int) -> Outcome:
        """Claim a slot. Raises `ValueError` when this device does not drive or too many are open."""
        if self._membership is None or wanted.term != self._term:
            raise ValueError("only the driver claims, in its own term")
        if len(self._offers) >= MOST_OPEN:
            raise ValueError(f"{MOST_OPEN} slots are being claimed already")
        self._begin(now)
        self._offer(wanted, quiet=False)
        return self._out()

    def finish(self, claim: Claim, state: State, now: int) -> Outcome:
        """A run of this device has ended."""
        self._begin(now)
        ended = claim.ended(state)
        self._keep(merged(self.book.get(claim.key), ended))
        if self._membership is not None and claim.term == self._term:
            self._offer(ended, quiet=True)
        return replace(self._out(), ended=True)

    def undo(self) -> None:
        """The last outcome could not be made durable: its input has not happened, like a lost message."""
        for key, claim in self._changed.items():
            if claim is None:
                self.book.pop(key, None)
            else:
                self.book[key] = claim
        self._changed = {}
        if self._membership is not None:
            self._offers, self._books_from = self._before
            self._retry_at = self._now + RETRY

    def tick(self, now: int) -> Outcome:
        """Time has passed: ask those again that have not answered."""
        self._begin(now)
        if self._membership is not None and now >= self._retry_at:
            self._retry_at = FAR
            self._ask_books()
            for offer in list(self._offers.values()):
                self._ask(offer)
        return self._out()

    def step(self, saying: Saying, term: int, now: int) -> Outcome:
        """A member has said something; `term` is this device's own."""
        self._begin(now)
        self._fence = term = max(self._fence, term)
        if saying.talk is Talk.BOOK:
            self._fence = term = max(term, saying.term)
        if saying.talk is Talk.OFFER:
            for offered in saying.claims:
                reply = self._answer(offered, term)
                self._say(Talk.ANSWER, saying.source, (offered,), term, reply)
        elif saying.talk is Talk.ANSWER:
            self._on_answer(saying)
        else:
            for claim in saying.claims:
                self._keep(merged(self.book.get(claim.key), claim))
            if saying.talk is Talk.BOOK:
                self._say(Talk.BOOK_REPLY, saying.source, self._newest(), term)
            elif self._membership is not None:
                self._books_from.add(saying.source)
                for offer in list(self._offers.values()):
                    self._ask(offer)
        return self._out()

    # What the driver does

    def is_caught_up(self) -> bool:
        """Whether this driver knows every claim: then it may settle what others left."""
        return self._membership is not None and self.is_shared(self._membership)

    def _ask_books(self) -> None:
        if self._membership is None:
            return
        for peer in {*self._membership.ids, self._extra} - {self.me, ""} - self._books_from:
            self._say(Talk.BOOK, peer, self._newest(), self._term)
        if not self.is_caught_up():
            self._wake()

    def _offer(self, claim: Claim, quiet: bool) -> None:
        self._offers[claim.key] = offer = _Offer(claim, self._now, quiet)
        self._ask(offer)

    def _ask(self, offer: _Offer) -> None:
        membership = self._membership
        if membership is None:
            return
        self._wake()
        if not self.is_caught_up():
            return
        if self.me not in offer.answers:
            offer.answers[self.me] = self._answer(offer.claim, self._term)
        for peer in membership.peers(self.me):
            if peer not in offer.answers:
                self._say(Talk.OFFER, peer, (offer.claim,), self._term)
        self._decide(offer)

    def _on_answer(self, saying: Saying) -> None:
        offer = self._offers.get(saying.claims[0].key) if saying.claims else None
        if offer is None or self._membership is None or offer.claim != saying.claims[0]:
            return
        if saying.source in self._membership.ids:
            offer.answers[saying.source] = Answer(saying.source, saying.accepted, saying.term, saying.held)
            self._decide(offer)

    def _decide(self, offer: _Offer) -> None:
        membership = self._membership
        if membership is None:
            return
        answers = [each for each in offer.answers.values() if each.device in membership.ids]
        size = len(membership.voters)
        waits = membership.rule is Rule.ONE and len(answers) < size and self._now < offer.asked + PATIENCE
        settled = settle(answers, offer.claim, size=size, quorum=size if waits else membership.quorum)
        if settled.verdict is Verdict.WAIT:
            return
        del self._offers[offer.claim.key]
        if settled.verdict is Verdict.OFFER:
            self._offer(settled.claim, offer.quiet)
            return
        if settled.verdict is Verdict.SKIP:
            self._keep(merged(self.book.get(settled.claim.key), settled.claim))
        if not offer.quiet:
            self._settled.append(settled)

    # What every device does

    def _answer(self, offered: Claim, term: int) -> Answer:
        reply = answer(self.book.get(offered.key), offered, term, self.me)
        if reply.accepted:
            self._keep(offered)
        return reply

    def _keep(self, claim: Claim) -> None:
        if self.book.get(claim.key) != claim:
            self._changed.setdefault(claim.key, self.book.pop(claim.key, None))  # the newest stand last
            self.book[claim.key] = self._store[claim.key] = claim

    def _begin(self, now: int) -> None:
        self._now, self._changed = now, {}
        offers = {key: replace(each, answers=dict(each.answers)) for key, each in self._offers.items()}
        self._before = offers, set(self._books_from)

    def _newest(self) -> tuple[Claim, ...]:
        return tuple(self.book.values())[-MOST_IN_BOOK:]

    def _wake(self) -> None:
        self._retry_at = min(self._retry_at, self._now + RETRY)

    def _say(
        self, talk: Talk, target: str, claims: tuple[Claim, ...], term: int, reply: Answer | None = None
    ) -> None:
        accepted, held = (reply.accepted, reply.held) if reply is not None else (False, None)
        self._sayings.append(Saying(talk, self.me, target, term, claims, accepted, held))

    def _out(self) -> Outcome:
        outcome = Outcome(tuple(self._store.values()), tuple(self._sayings), tuple(self._settled))
        self._store, self._sayings, self._settled = {}, [], []
        return outcome
