"""Devices become a household, one of them drives, slots are run once, and everybody hears what came of it."""

from __future__ import annotations

import asyncio
import json
import stat
from pathlib import Path

import pytest

from muleteer.discovery.mdns import Discovery
from muleteer.errors import SeatError
from muleteer.seat import pairing
from muleteer.seat.link import Address
from muleteer.seat.roster import Member
from muleteer.seat.service import SeatService
from muleteer.services import Claim
from tests.seat.neighbours import Neighbour, household, neighbours, pair, together, until


async def texts(device: Neighbour) -> list[str]:
    return [entry.text for entry in await device.seat.results.entries()]


async def until_texts(device: Neighbour, wanted: list[str]) -> None:
    async def there() -> bool:
        return sorted(await texts(device)) == sorted(wanted)

    await until(there)


async def test_a_device_without_a_household_drives_alone_and_opens_no_port(tmp_path: Path) -> None:
    async with neighbours(tmp_path, 1) as [device]:
        await until(device.drives)
        assert device.seat.view.now().role == "alone"
        assert device.seat.peers.port == 0
        assert not device.seat.network.is_open
        claimed = await device.seat.slots.claim("daily-brief", "2026-11-30T07:00")
        assert claimed.claim is not None
        again = await device.seat.slots.claim("daily-brief", "2026-11-30T07:00")
        assert again.claim is None
        assert "is being run on this device" in again.reason


async def test_two_devices_become_one_household_with_one_driver(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        assert first.drives()
        assert not second.drives()
        assert second.seat.view.now().role == "follower"
        assert second.seat.view.now().device == first.id
        for device in (first, second):
            file = device.folder / "household.json"
            assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert {each.seat.machine.election.released for each in (first, second)} == {0}, (
            "that a device drove in a household of its own frees nobody of a promise in this one"
        )
        keys = {
            json.loads((each.folder / "household.json").read_text())["household_key"]
            for each in (first, second)
        }
        assert len(keys) == 1


async def test_a_newcomer_is_enrolled_when_it_has_kept_what_it_was_handed(tmp_path: Path) -> None:
    (rest := tmp_path / "newcomer").mkdir()
    async with household(tmp_path, 2) as [first, second], neighbours(rest, 1) as [third]:
        code = str((await first.seat.invite())["code"])
        visited = await third.seat.peers.visit(Address("127.0.0.1", first.seat.peers.port))
        assert visited
        newcomer = Member(third.id, third.seat.identity.public, "shed")
        await pairing.ask_in(visited[1], visited[2], code, first.id, newcomer)
        for device in (first, second):
            device.seat.enrolment.look()
        await asyncio.sleep(0.3)  # it is slow to keep it
        assert set(first.seat.machine.election.membership.ids) == {first.id, second.id}
        further = await first.seat.invite()
        visited[2].transport.abort()
        await until(lambda: third.id in first.seat.machine.election.membership.ids)
        shown = first.seat.enrolment.invitation
        assert shown
        assert shown.code == further["code"], "a code that is shown meanwhile, for another device, is good"


async def test_the_seat_is_handed_over_when_a_device_is_stopped_and_by_hand(tmp_path: Path) -> None:
    async with household(tmp_path, 3) as devices:
        first, second, third = devices
        await second.seat.take()
        await until(lambda: second.drives() and together(devices))
        with pytest.raises(SeatError, match="does not drive"):
            await first.seat.give()
        await second.seat.give()
        await until(lambda: not second.drives() and together(devices))
        leaving = first if first.drives() else third
        await leaving.seat.close()
        await until(lambda: any(each.drives() for each in devices if each is not leaving))


async def test_a_slot_is_claimed_once_in_the_household(tmp_path: Path) -> None:
    async with household(tmp_path, 3) as [first, second, _]:
        refused = await second.seat.slots.claim("daily-brief", "07:00")
        assert refused.claim is None
        assert "drives" in refused.reason
        granted = (await first.seat.slots.claim("daily-brief", "07:00")).claim
        assert granted is not None
        assert await first.seat.slots.may_finish(granted)
        await first.seat.slots.settle(granted, "It will rain.")
        await second.seat.take()
        await until(second.drives)
        later = await second.seat.slots.claim("daily-brief", "07:00")
        assert later.claim is None
        assert "was run" in later.reason
        assert not await first.seat.slots.may_finish(granted)


async def test_every_device_hears_what_a_turn_came_to_and_one_that_was_away_catches_up(
    tmp_path: Path,
) -> None:
    async with household(tmp_path, 3) as [first, second, third]:
        with third.broadcast.listen() as listener:
            await first.seat.slots.settle(Claim("daily-brief", "07:00", 1, first.id), "It will rain.")
            while (notice := await listener.next()) and notice.name != "inbox.new":
                pass
            assert notice
            assert notice.fields["skill"] == "daily-brief"
        await until_texts(second, ["It will rain."])
        await third.seat.network.close()
        await first.seat.slots.settle(Claim("daily-brief", "08:00", 1, first.id), "It does rain.")
        await second.seat.slots.settle(Claim("device-health", "08:00", 1, second.id), "All is well.")
        await third.start_again(first, second)
        await until_texts(third, ["It will rain.", "It does rain.", "All is well."])
        entry = (await third.seat.results.entries(unread=True))[0]
        assert await third.seat.results.read([entry.id]) == 1
        assert await third.seat.results.read([entry.id, "nonsense", "-"]) == 0
        assert len(await third.seat.results.entries(unread=True)) == 2
        assert len(await first.seat.results.entries(unread=True)) == 3


@pytest.mark.parametrize("again", [False, True])
async def test_a_run_that_its_driver_did_not_finish_is_settled_by_the_next(
    tmp_path: Path, again: bool
) -> None:
    async with household(tmp_path, 3) as [first, second, third]:
        repeated: list[Claim] = []

        async def repeat(claim: Claim) -> None:
            repeated.append(claim)

        for device in (second, third):
            device.seat.slots.repeats.by(repeat)
        assert (await first.seat.slots.claim("daily-brief", "07:00", again=again)).claim
        await first.seat.network.close()  # its cable is pulled in the middle of the run
        await until(lambda: second.drives() or third.drives())
        driver = second if second.drives() else third
        if again:
            await until(lambda: repeated)
            assert [(each.skill, each.slot, each.device) for each in repeated] == [
                ("daily-brief", "07:00", driver.id)
            ]
        else:
            await until(lambda: texts(driver))
            assert "whether it was done is not known" in (await texts(driver))[0]
            assert repeated == []


async def test_a_forgotten_device_is_alone_again_and_cannot_come_back_without_a_code(tmp_path: Path) -> None:
    async with household(tmp_path, 3) as [first, second, third]:
        stolen = (third.folder / "household.json").read_bytes()
        assert await first.seat.forget(third.id[:8])
        await until(lambda: together([first, second]) and third.seat.view.now().role == "alone")
        assert not (third.folder / "household.json").exists()
        (third.folder / "household.json").write_bytes(stolen)  # as if it had been away and not heard of it
        await third.start_again(first, second)
        await until(lambda: not (third.folder / "household.json").exists())
        assert third.id not in first.seat.machine.election.membership.ids
        assert third.id not in first.seat.peers.links
        await pair(first, third)
        await until(lambda: together([first, second, third]))


async def test_who_has_forgotten_its_vote_takes_no_part(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, _]:
        (first.folder / "vote.json").unlink()
        with pytest.raises(OSError, match="vote is missing"):
            SeatService(first.settings, first.folder, first.broadcast, Discovery("", enabled=False))


async def test_who_takes_no_part_for_a_while_finds_its_household_again(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        settings = second.settings
        second.settings = settings.model_copy(update={"enabled": False})
        await second.start_again(first)
        await until(second.drives)
        assert second.seat.view.now().role == "alone"
        assert not second.seat.network.is_open
        with pytest.raises(SeatError, match=r"seat\.enabled is false"):
            await second.seat.invite()
        second.settings = settings
        await second.start_again(first)
        await until(lambda: together([first, second]))


async def test_a_run_that_ends_after_its_device_has_left_is_not_lost(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        granted = (await first.seat.slots.claim("daily-brief", "07:00")).claim
        assert granted
        await first.seat.leave()
        await first.seat.leave()
        assert not first.drives()
        assert not await first.seat.slots.may_finish(granted)
        await first.seat.slots.settle(granted, "It will rain.")
        assert await texts(first) == ["It will rain."]
        await until(second.drives)


async def test_a_restart_forgets_neither_household_nor_vote_nor_claims(tmp_path: Path) -> None:
    async with household(tmp_path, 2) as [first, second]:
        granted = (await first.seat.slots.claim("daily-brief", "07:00")).claim
        assert granted
        await first.seat.slots.settle(granted, "It will rain.")
        term = first.seat.view.now().term
        await first.start_again()
        await second.start_again(first)
        await until(lambda: first.seat.view.now().device or second.seat.view.now().device)
        assert first.seat.machine.election.term >= term
        await until(lambda: first.drives() or second.drives())
        driver = first if first.drives() else second
        refused = await driver.seat.slots.claim("daily-brief", "07:00")
        assert refused.claim is None
        assert "was run" in refused.reason
