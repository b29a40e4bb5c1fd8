"""Background turns over a seat, an inbox and turns that are scripted; the schedule is systemd's."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muleteer.background.deferring import Look
from muleteer.background.runner import Background, Ended
from muleteer.background.spending import Spending
from muleteer.errors import EngineError, RequestError
from muleteer.harness.events import LevelUse, Outcome, TurnFinished
from muleteer.services import Claim, Claimed, Driver, Inbox, InboxEntry, Seat, Services
from muleteer.settings.background import BackgroundSettings
from muleteer.skills import Catalogue, load_catalogue
from muleteer.store.database import StoreError
from muleteer.toolbox import Toolbox

pytestmark = pytest.mark.skipif(
    not shutil.which("systemd-analyze"), reason="systemd-analyze is not here: apt-get install systemd"
)

USED = (LevelUse("agent", 100, 90, 10, 5, 1.0),)
SEVEN = datetime(2026, 11, 30, 7, 0, 1, tzinfo=UTC).timestamp()
SLOT = "2026-11-30T07:00:00Z"


@dataclass
class Household:
    """The seat, the inbox and the engine of a test; what it says may be changed at any time."""

    here: bool = True
    counts: bool = True
    look: Look = field(default_factory=Look)
    claims: dict[tuple[str, str], str] = field(default_factory=dict)
    settled: list[tuple[str, str, bool]] = field(default_factory=list)
    kept: list[InboxEntry] = field(default_factory=list)
    passed_on: list[Ended] = field(default_factory=list)
    ran: list[str] = field(default_factory=list)
    hold: asyncio.Event = field(default_factory=asyncio.Event)
    began: asyncio.Event = field(default_factory=asyncio.Event)
    fault: Exception | None = None
    full: StoreError | None = None
    now: float = SEVEN
    private: list[bool] = field(default_factory=list)
    pauses: int = 0
    paused: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    async def driver(self) -> Driver:
        return Driver(self.here, "driver" if self.here else "follower", "kitchen drives.")

    async def claim(self, skill: str, slot: str, again: bool = False) -> Claimed:
        if (skill, slot) in self.claims:
            return Claimed(None, f"{skill} at {slot} was run on this device.")
        self.claims[skill, slot] = "claimed"
        return Claimed(Claim(skill, slot, 1, "me"))

    async def may_finish(self, claim: Claim) -> bool:
        return self.counts

    async def settle(self, claim: Claim, text: str, done: bool = True, private: bool = False) -> None:
        if self.full:
            raise self.full
        self.settled.append((claim.slot, text, done))
        self.private.append(private)

    async def entries(self, limit: int = 50, unread: bool = False) -> list[InboxEntry]:
        return self.kept

    async def read(self, ids: object) -> int:
        return 0

    @asynccontextmanager
    async def begin(self, skill: str) -> AsyncIterator[Household]:
        if self.fault:
            raise self.fault
        self.ran.append(skill)
        self.began.set()
        yield self

    id: str = "t1"

    async def result(self) -> Outcome:
        await self.hold.wait()
        return TurnFinished("t1", "It is seven.", ("morning",), (), USED, 10.0)

    async def pause(self, seconds: float) -> None:
        self.pauses += 1
        self.paused.set()
        await self.go_on.wait()


def made(
    house: Household,
    catalogue: Catalogue,
    folder: Path,
    seat: Seat | None = None,
    inbox: Inbox | None = None,
    **settings: int,
) -> Background:
    return Background(
        BackgroundSettings(**settings),
        seat or house,
        inbox or house,
        lambda: catalogue,
        house.begin,
        lambda: _look(house),
        house.passed_on.append,
        Spending(folder / "background.json"),
        house.pause,
        lambda: house.now,
    )


async def _look(house: Household) -> Look:
    return house.look


@pytest.fixture
def house() -> Household:
    household = Household()
    household.hold.set()
    return household


async def test_a_slot_is_run_once_settled_and_passed_on(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    background = made(house, catalogue, tmp_path)
    first = await background.run("morning")
    assert (first.state, first.slot, first.text, first.tokens) == ("done", SLOT, "It is seven.", 15)
    assert house.settled == [(SLOT, "It is seven.", True)]
    assert house.passed_on == [first]
    again = await background.run("morning")
    assert (again.state, again.reason) == ("skipped", f"morning at {SLOT} was run on this device.")
    assert house.ran == ["morning"]
    assert background.report()["tokens_today"] == 15


async def test_a_slot_of_long_ago_is_too_late_and_that_is_in_the_inbox_once(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    skill = tmp_path / "skills/morning/SKILL.md"
    skill.write_text(skill.read_text().replace("*-*-* 07:00", "*-01-15 07:00"))
    tools = Path(__file__).parents[2] / "tools"
    yearly = load_catalogue([tmp_path / "skills"], Toolbox.load([tools], Services()))
    background = made(house, yearly, tmp_path)
    ended = await background.run("morning")
    assert (ended.state, ended.slot, house.ran) == ("skipped", "2026-01-15T07:00:00Z", [])
    said = "it is too late for 2026-01-15T07:00:00Z; muleteer turn morning --now runs it."
    assert house.settled == [("2026-01-15T07:00:00Z", f"morning was not run: {said}", False)]
    await background.run("morning")
    assert len(house.settled) == 1
    assert (await background.run("morning", by_hand=True)).state == "done"
    house.now = datetime(2027, 1, 16, 6, 59, tzinfo=UTC).timestamp()
    assert (await background.run("morning")).state == "done", "a board that was off for the night"


async def test_what_a_private_skill_came_to_is_told_to_nobody_else(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    skill = tmp_path / "skills/errand/SKILL.md"
    skill.write_text(skill.read_text().replace("metadata:", "metadata:\n  private: true"))
    tools = Path(__file__).parents[2] / "tools"
    background = made(
        house, load_catalogue([tmp_path / "skills"], Toolbox.load([tools], Services())), tmp_path
    )
    ended = await background.run("errand")
    assert (ended.text, house.settled, house.private) == (
        "It is seven.",
        [(SLOT, "It is seven.", True)],
        [True],
    )
    [told] = house.passed_on
    assert (told.state, told.text) == ("done", "")
    assert "private" in told.reason
    await background.run("morning")
    assert (house.private, house.passed_on[-1].text) == ([True, False], "It is seven.")
    house.claims.clear()
    house.fault = EngineError("It is about Anna.")
    await background.run("errand")
    assert "Anna" not in house.passed_on[-1].reason
    house.fault, house.counts = None, False
    house.claims.clear()
    await background.run("errand")
    assert house.private == [True, False, True, True]


async def test_of_many_that_are_asked_for_during_a_turn_one_runs_after_it(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    background = made(house, catalogue, tmp_path)
    house.hold.clear()
    first = asyncio.create_task(background.run("morning", by_hand=True))
    await house.began.wait()
    others = [asyncio.create_task(background.run("morning")) for _ in range(11)]
    merged = [await each for each in others[1:]]
    assert {each.state for each in merged} == {"merged"}
    house.hold.set()
    assert [(await first).state, (await others[0]).state] == ["done", "done"]
    assert house.ran == ["morning", "morning"]


async def test_it_waits_visibly_while_something_is_against_it(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    background = made(house, catalogue, tmp_path)
    house.look = Look(strain="the processor is hot (85 °C)")
    run = asyncio.create_task(background.run("morning"))
    await house.paused.wait()
    waiting = background.report()["waiting"]
    assert isinstance(waiting, list)
    assert [each["reason"] for each in waiting] == ["the processor is hot (85 °C)"]
    house.look = Look()
    house.go_on.set()
    assert (await run).state == "done"
    assert background.report()["waiting"] == []


async def test_after_its_limit_it_is_skipped_and_that_is_in_the_inbox(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    house.look = Look(strain="the device runs on battery")
    ended = await made(house, catalogue, tmp_path, wait=0).run("morning")
    assert (ended.state, ended.reason) == ("skipped", "The device runs on battery.")
    assert house.settled == [(SLOT, "morning was not run: the device runs on battery.", False)]
    assert (house.ran, house.pauses) == ([], 0)


async def test_where_another_device_drives_its_result_ends_the_waiting(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    house.look = Look(driver="kitchen drives")
    run = asyncio.create_task(made(house, catalogue, tmp_path).run("morning"))
    await house.paused.wait()
    when = datetime.now(UTC)
    house.kept = [InboxEntry("k-1", "kitchen", "morning", SLOT, when, "It is seven.")]
    house.go_on.set()
    assert (await run).state == "elsewhere"
    assert (house.ran, house.claims) == ([], {})


async def test_where_another_device_drives_and_says_nothing_the_slot_is_left_to_it(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    house.look = Look(driver="kitchen drives")
    ended = await made(house, catalogue, tmp_path, wait=0).run("morning")
    assert (ended.state, ended.reason, house.claims) == ("skipped", "kitchen drives", {})


async def test_the_days_tokens_end_and_are_kept_over_a_restart(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    await made(house, catalogue, tmp_path, tokens=15).run("morning")
    spending = Spending(tmp_path / "background.json")
    await spending.open()
    assert spending.tokens == 15
    house.claims.clear()
    background = made(house, catalogue, tmp_path, tokens=15)
    background._spending = spending
    ended = await background.run("morning")
    assert (ended.state, house.ran) == ("skipped", ["morning"])
    assert ended.reason == "The 15 tokens of today's background turns are used up."


async def test_what_ran_has_run_whatever_the_disk_says(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    house.full = StoreError("the disk of inbox.db is full; free some space.")
    background = made(house, catalogue, tmp_path)
    ended = await background.run("morning")
    assert (ended.state, ended.text) == ("done", "It is seven.")
    assert ended.reason == (
        "It ran, but its result could not be kept: the disk of inbox.db is full; free some space."
    )
    assert house.passed_on == [ended]
    house.look = Look(strain="the device runs on battery")
    ended = await made(house, catalogue, tmp_path, wait=0).run("errand")
    assert ended.state == "skipped"
    assert ended.reason.startswith("The device runs on battery. This could not be kept: the disk of")


async def test_a_turn_that_fails_is_settled_as_failed(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    house.fault = EngineError("The engine is down.")
    ended = await made(house, catalogue, tmp_path).run("morning")
    assert (ended.state, ended.reason) == ("failed", "The engine is down.")
    assert house.settled == [(SLOT, "The engine is down.", False)]


@pytest.mark.parametrize("skill", ["morning", "errand"])
async def test_a_run_whose_device_loses_the_seat_counts_nowhere(
    house: Household, catalogue: Catalogue, tmp_path: Path, skill: str
) -> None:
    background = made(house, catalogue, tmp_path)
    house.hold.clear()
    run = asyncio.create_task(background.run(skill))
    await house.began.wait()
    house.counts = False
    house.hold.set()
    ended = await run
    assert (ended.state, ended.reason) == ("elsewhere", "It ended after this device had lost the seat.")
    assert house.passed_on == []
    said = f"{skill} ended after this device had lost the seat: It is seven."
    # The next driver repeats what only reads; of what it does not repeat, people read here what was done.
    assert house.settled == ([] if skill == "morning" else [(SLOT, said, False)])


async def test_what_an_earlier_driver_began_waits_for_the_model_and_is_dropped_with_the_seat(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    background = made(house, catalogue, tmp_path)
    claim = Claim("morning", SLOT, 1, "me")
    house.look = Look(strain="the model is being loaded")
    run = asyncio.create_task(background.again(claim))
    await house.paused.wait()
    assert house.ran == []
    house.look = Look()
    house.go_on.set()
    await run
    assert [each.state for each in house.passed_on] == ["done"]
    house.counts = False
    await background.again(claim)
    assert house.ran == ["morning"]


async def test_only_a_skill_with_a_schedule_has_slots(
    house: Household, catalogue: Catalogue, tmp_path: Path
) -> None:
    background = made(house, catalogue, tmp_path)
    with pytest.raises(RequestError, match="no schedule"):
        await background.run("unplanned")
    with pytest.raises(RequestError, match="There is no skill"):
        await background.run("unknown")
    assert (await background.run("unplanned", by_hand=True)).state == "done"
