"""A disk that takes nothing for a moment: no work is lost, done twice, or told of wrongly, and the seat goes
to a device whose disk does."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from muleteer.errors import StorageError
from muleteer.seat import hearsay, results, work
from muleteer.seat import machine as machines
from muleteer.seat.claiming import Saying, Talk
from muleteer.seat.claims import Claim, Settled, State, Verdict
from muleteer.seat.codec import saying_frame, saying_from
from muleteer.seat.membership import Membership, Voter
from muleteer.seat.messages import Durable, Role
from muleteer.seat.work import Work
from muleteer.store.claims import ClaimStore
from muleteer.store.database import StoreError
from tests.seat.neighbours import household, neighbours, together, until
from tests.seat.test_machine import Around as Votes
from tests.seat.test_machine import running

ME, OTHER = "a" * 32, "b" * 32
SLOT = "2026-11-30T07:00:00Z"


@contextlib.contextmanager
def failing(path: Path) -> Iterator[None]:
    """Every use of the file at `path` fails: a folder stands there."""
    aside = path.with_name(f"{path.name}.aside")
    if there := path.exists():
        path.rename(aside)
    path.mkdir()
    try:
        yield
    finally:
        path.rmdir()
        if there:
            aside.rename(path)


class Around:
    """The seat of a device, of whom the work asks and whom it tells."""

    def __init__(self) -> None:
        self.said: list[Saying] = []
        self.ailing: list[str] = []
        self.found: list[Settled] = []
        self.clock = 0

    def ticks(self) -> int:
        self.clock += 10
        return self.clock

    def term(self) -> int:
        return 5

    def say(self, peer: str, body: Mapping[str, object]) -> None:
        self.said.append(saying_from(dict(body), ME, peer))

    def left(self, settled: Settled) -> None:
        self.found.append(settled)

    def ails(self, reason: str) -> None:
        self.ailing.append(reason)


@asynccontextmanager
async def working(folder: Path, around: Around, *known: Claim) -> AsyncIterator[tuple[Work, ClaimStore]]:
    store = ClaimStore(folder / "claims.db")
    await store.keep(known)
    at_work = Work(ME, store, await store.load(), around)
    task = asyncio.create_task(at_work.run())
    try:
        yield at_work, store
        assert not task.done()
    finally:
        task.cancel()
        await asyncio.wait([task])
        await store.close()


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(work, "DISK_SECONDS", 0.1)


async def test_what_is_not_on_disk_is_not_accepted_however_often_it_is_offered(tmp_path: Path) -> None:
    around = Around()
    offer = Saying(Talk.OFFER, OTHER, ME, 5, (Claim("brief", SLOT, 5, OTHER),))
    async with working(tmp_path, around) as (at_work, store):
        with failing(tmp_path / "claims.db"):
            for _ in range(3):
                at_work.heard(OTHER, saying_frame(offer))
            await until(lambda: around.ailing)
            assert around.said == []
            assert at_work.held("brief", SLOT) is None
        at_work.heard(OTHER, saying_frame(offer))
        await until(lambda: around.said)
        assert [(each.talk, each.accepted) for each in around.said] == [(Talk.ANSWER, True)]
        assert [each.key for each in await store.load()] == [("brief", SLOT)]
        await until(lambda: around.ailing[-1] == "")


async def test_what_a_device_tells_is_asked_for_again_until_it_is_on_disk(tmp_path: Path) -> None:
    around = Around()
    told = Saying(Talk.BOOK_REPLY, OTHER, ME, 5, (Claim("brief", SLOT, 4, OTHER, state=State.DONE),))
    two = Membership((Voter(ME), Voter(OTHER), Voter("c" * 32)), 5, 1)
    async with working(tmp_path, around) as (at_work, store):
        at_work.driving(5, two)
        await until(lambda: len(around.said) == 2)
        with failing(tmp_path / "claims.db"):
            at_work.heard(OTHER, saying_frame(told))
            await until(lambda: around.ailing)
            assert at_work.held("brief", SLOT) is None
        asked = len(around.said)
        await until(lambda: len(around.said) > asked)
        assert {each.talk for each in around.said} == {Talk.BOOK}
        at_work.heard(OTHER, saying_frame(told))
        await until(lambda: at_work.held("brief", SLOT))
        assert [each.state for each in await store.load()] == [State.DONE]


async def test_a_claim_that_cannot_be_kept_was_never_made(tmp_path: Path) -> None:
    around = Around()
    async with working(tmp_path, around) as (at_work, store):
        at_work.driving(5, Membership.alone(Voter(ME)))
        with failing(tmp_path / "claims.db"):
            with pytest.raises(StoreError):
                await at_work.claim(Claim("brief", SLOT, 5, ME))
            assert at_work.held("brief", SLOT) is None
        settled = await at_work.claim(Claim("brief", SLOT, 5, ME))
        assert settled
        assert settled.verdict is Verdict.RUN
        assert [each.state for each in await store.load()] == [State.CLAIMED]


async def test_a_run_that_has_ended_is_on_disk_as_soon_as_there_is_room(tmp_path: Path) -> None:
    around = Around()
    async with working(tmp_path, around) as (at_work, store):
        at_work.driving(5, Membership.alone(Voter(ME)))
        settled = await at_work.claim(Claim("brief", SLOT, 5, ME))
        assert settled
        with failing(tmp_path / "claims.db"):
            await at_work.finish(settled.claim, State.DONE)
            held = at_work.held("brief", SLOT)
            assert held
            assert held.state is State.DONE
            await until(lambda: around.ailing)
        await until(lambda: around.ailing[-1] == "")
        assert [each.state for each in await store.load()] == [State.DONE]


async def test_what_was_left_is_settled_when_there_is_room_again(tmp_path: Path) -> None:
    around = Around()
    left = [Claim("brief", slot, 4, OTHER, repeatable=True) for slot in ("06:00", "07:00")]
    async with working(tmp_path, around, *left) as (at_work, store):
        with failing(tmp_path / "claims.db"):
            at_work.driving(5, Membership.alone(Voter(ME)))
            await until(lambda: around.ailing)
            assert around.found == []
        await until(lambda: len(around.found) == 2)
        assert {(each.verdict, each.claim.slot) for each in around.found} == {
            (Verdict.RUN, "06:00"),
            (Verdict.RUN, "07:00"),
        }
        assert {(each.term, each.device, each.attempt) for each in await store.load()} == {(5, ME, 2)}


async def test_nobody_waits_for_ever_where_nothing_is_carried_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(work, "GIVE_SECONDS", 0.1)
    store = ClaimStore(tmp_path / "claims.db")
    idle = Work(ME, store, [], Around())
    with pytest.raises(StoreError, match="has not answered"):
        await idle.claim(Claim("brief", SLOT, 5, ME))
    with pytest.raises(ValueError, match="has not answered"):
        await idle.share(OTHER, Membership.alone(Voter(ME)))
    await idle.finish(Claim("brief", SLOT, 5, ME), State.DONE)


async def test_a_driver_that_can_keep_nothing_hands_the_seat_over_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with household(tmp_path, 2) as [first, second]:
        with failing(first.folder / "claims.db"):
            with pytest.raises(StoreError):
                await first.seat.slots.claim("brief", SLOT)
            await until(lambda: second.drives() and not first.drives())
            assert "leaves the driving to others: no claim can be kept" in caplog.text
        await until(lambda: "may drive again" in caplog.text)
        assert (await second.seat.slots.claim("brief", SLOT)).claim


async def test_a_claim_that_failed_once_is_granted_the_next_time(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 1) as [device]:
        await until(device.drives)
        with failing(device.folder / "claims.db"), pytest.raises(StoreError):
            await device.seat.slots.claim("brief", SLOT)
        assert (await device.seat.slots.claim("brief", SLOT)).claim


async def test_who_takes_the_seat_with_a_full_disk_is_told_at_once_and_it_is_not_shown_as_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machines, "DISK_SECONDS", 0.1)
    around = Votes()
    around.failures = 10**6
    two = Membership((Voter(ME), Voter(OTHER)), 1, 1)
    async with running(Durable(two, 1), around) as machine:
        began = machine.standing
        alone = Membership.alone(Voter(ME))
        for wish in (lambda now: machine.election.adopt(alone, now), machine.election.take):
            with pytest.raises(StorageError, match="the disk is full"):
                await asyncio.wait_for(machine.tell(wish), machines.TELL_SECONDS / 2)
        assert (machine.standing.role, machine.standing.term) == (Role.FOLLOWER, 1)
        assert machine.standing == began
        assert not machine.drives()
        assert machine.trouble == "the disk is full"
        around.failures = 0
        await until(machine.drives)
        assert machine.standing.role is Role.ALONE
        assert machine.standing.term == around.kept[-1].term
        assert machine.trouble == ""


@pytest.mark.parametrize("body", [{"k": "here", "port": float("inf")}, {"k": "met", "port": float("inf")}])
async def test_a_number_without_end_is_a_bad_frame_and_the_member_is_dialed_again(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, body: dict[str, object]
) -> None:
    caplog.set_level(logging.INFO)
    async with household(tmp_path, 2) as [first, second]:
        for device, other in ((first, second), (second, first)):  # one of them has dialed, the other answered
            link = device.seat.peers.links[other.id]
            link.send(body)
            await until(lambda: other.seat.peers.links.get(device.id) not in (None, link))  # noqa: B023
            await until(lambda: "cannot be understood" in caplog.text)
            caplog.clear()
            await until(lambda: together([first, second]) and first.id in second.seat.peers.links)
        assert all(not task.done() for each in (first, second) for task in each.seat.peers._dialers.values())


async def test_a_list_of_members_that_cannot_be_kept_is_heard_again_and_costs_no_connection(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hearsay, "HEAR_SECONDS", 0.1)
    async with household(tmp_path, 3) as [first, second, third]:
        link = second.seat.peers.links[first.id]
        with failing(second.folder / "household.json"):
            await first.seat.forget(third.id)
            await until(lambda: "cannot be kept yet" in caplog.text)
            assert second.seat.enrolment.roster
            assert second.seat.enrolment.roster.get(third.id)
            for _ in range(3):
                second.seat.heard(first.id, first.seat.enrolment.told())
        await until(lambda: second.seat.enrolment.roster and not second.seat.enrolment.roster.get(third.id))
        assert second.seat.peers.links[first.id] is link
        assert caplog.text.count(f"that {second.seat.enrolment.name_of(first.id)} tells cannot be kept") == 1


async def test_a_result_that_cannot_be_kept_is_in_every_inbox_when_there_is_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(results, "OWED_SECONDS", 0.1)
    async with household(tmp_path, 2) as [first, second]:
        granted = (await first.seat.slots.claim("brief", SLOT)).claim
        assert granted
        with failing(first.folder / "inbox.db"):
            with pytest.raises(StoreError):
                await first.seat.slots.settle(granted, "It will rain.")
            assert "was run" in (await first.seat.slots.claim("brief", SLOT)).reason

        async def there() -> bool:
            texts = [[each.text for each in await each.seat.results.entries()] for each in (first, second)]
            return texts == [["It will rain."]] * 2

        await until(there)
        assert [each.state for each in await first.seat._claims.load()] == [State.DONE]


async def test_a_result_that_is_owed_is_written_at_the_end(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 1) as [device]:
        await until(device.drives)
        granted = (await device.seat.slots.claim("brief", SLOT)).claim
        assert granted
        with failing(device.folder / "inbox.db"), pytest.raises(StoreError):
            await device.seat.slots.settle(granted, "It will rain.")
    async with neighbours(tmp_path, 1) as [device]:
        assert [each.text for each in await device.seat.results.entries()] == ["It will rain."]
