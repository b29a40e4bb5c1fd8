"""The seat in a real etcd of three members, one of which is killed."""

from __future__ import annotations

import asyncio
import shutil
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from muleteer.broadcast import Broadcast
from muleteer.errors import SeatError
from muleteer.seat import etcd, etcd_service
from muleteer.seat.claims import Claim, State
from muleteer.seat.etcd import EtcdSeat
from muleteer.seat.etcd_client import Answered, EtcdClient, EtcdError
from muleteer.seat.etcd_service import EtcdSeatService
from muleteer.seat.messages import Role, RoleChange
from muleteer.services import Claim as Ticket
from muleteer.settings.seat import SeatSettings

START_SECONDS = 60.0  # three members on a busy machine
TURN_SECONDS = 30.0  # for what takes five on a quiet one


class Cluster:
    """Three members on this machine, in memory as far as the folder is."""

    def __init__(self, folder: Path) -> None:
        ports = _free_ports(6)
        self.urls = [f"http://127.0.0.1:{port}" for port in ports[:3]]
        peers = [f"http://127.0.0.1:{port}" for port in ports[3:]]
        names = ",".join(f"m{number}={url}" for number, url in enumerate(peers))
        self.members = [
            subprocess.Popen(
                [
                    "etcd",
                    f"--name=m{number}",
                    f"--data-dir={folder / str(number)}",
                    f"--listen-client-urls={self.urls[number]}",
                    f"--advertise-client-urls={self.urls[number]}",
                    f"--listen-peer-urls={peers[number]}",
                    f"--initial-advertise-peer-urls={peers[number]}",
                    f"--initial-cluster={names}",
                    "--unsafe-no-fsync",
                    "--logger=zap",
                ],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            for number in range(3)
        ]

    def wait(self) -> None:
        until = time.monotonic() + START_SECONDS
        while not all(_is_healthy(url) for url in self.urls):
            assert time.monotonic() < until, "etcd does not start"

    def stop(self) -> None:
        for member in self.members:
            member.kill()
            member.wait()


def _is_healthy(url: str) -> bool:
    try:
        return bool(httpx.get(f"{url}/health", timeout=1.0, trust_env=False).json()["health"] == "true")
    except (httpx.HTTPError, ValueError, KeyError):
        return False


def _free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    assert shutil.which("etcd"), "etcd is missing; on Debian: sudo apt install etcd-server"
    cluster = Cluster(tmp_path)
    try:
        cluster.wait()
        yield cluster
    finally:
        cluster.stop()


class Devices:
    """Three devices that use the cluster, and what they were told: roles, and runs that were left."""

    def __init__(self, urls: list[str]) -> None:
        self.changed = asyncio.Event()
        self.heard: list[tuple[str, RoleChange]] = []
        self.left: list[Claim] = []
        self.seats = {
            name: EtcdSeat(name, EtcdClient(urls), told=self._told(name), left=self._was_left)
            for name in "abc"
        }
        for seat in self.seats.values():
            seat.start()

    def _told(self, name: str) -> Callable[[RoleChange], None]:
        def told(change: RoleChange) -> None:
            self.heard.append((name, change))
            self.changed.set()

        return told

    def _was_left(self, claim: Claim) -> None:
        self.left.append(claim)
        self.changed.set()

    def driving(self) -> list[EtcdSeat]:
        return [seat for seat in self.seats.values() if seat.drives()]

    async def until(self, holds: Callable[[], bool]) -> None:
        """Until that holds; it is looked at whenever one was told."""
        async with asyncio.timeout(TURN_SECONDS):
            while not holds():
                self.changed.clear()
                await self.changed.wait()

    async def driver(self, other_than: str = "") -> EtcdSeat:
        await self.until(lambda: any(seat.me != other_than for seat in self.driving()))
        assert len(self.driving()) == 1
        return self.driving()[0]


@pytest.fixture
async def devices(cluster: Cluster) -> AsyncIterator[Devices]:
    devices = Devices(cluster.urls)
    yield devices
    for seat in devices.seats.values():
        await seat.close()


async def _kept(cluster: Cluster, key: str) -> str:
    client = EtcdClient(cluster.urls)
    try:
        (held,) = (await client.read(key)).read
        assert held
        return held.value
    finally:
        await client.close()


async def test_one_device_drives_and_a_slot_runs_once(cluster: Cluster, devices: Devices) -> None:
    driver = await devices.driver()
    await devices.until(lambda: all(seat.driver_id == driver.me for seat in devices.seats.values()))
    claimed = await driver.claim("daily-brief", "2026-11-30T07:00")
    assert claimed.claim
    assert not (await driver.claim("daily-brief", "2026-11-30T07:00")).claim
    follower = next(seat for seat in devices.seats.values() if seat is not driver)
    assert not (await follower.claim("daily-brief", "2026-11-30T07:00")).claim

    cluster.members[0].kill()
    await driver.settle(claimed.claim, "done")
    assert '"state": "done"' in await _kept(cluster, "/muleteer/claims/daily-brief/2026-11-30T07:00")
    await devices.until(lambda: len(devices.driving()) == 1)


async def test_a_device_that_leaves_is_followed_and_what_it_left_is_settled(devices: Devices) -> None:
    first = await devices.driver()
    assert (await first.claim("a", "1")).claim
    assert (await first.claim("b", "1", again=True)).claim
    began = first.term
    await first.close()
    second = await devices.driver(first.me)
    assert second.term > began
    await devices.until(lambda: len(devices.left) == 2)
    settled = {(each.skill, each.state, each.term, each.device) for each in devices.left}
    assert settled == {
        ("a", State.LOST, second.term, second.me),
        ("b", State.CLAIMED, second.term, second.me),
    }
    for skill in ("a", "b"):
        assert not (await second.claim(skill, "1", again=True)).claim
    assert await second.may_finish(Ticket("b", "1", second.term, second.me))
    assert not await first.may_finish(Ticket("b", "1", began, first.me))


async def test_a_device_that_falls_silent_stops_before_it_is_followed(devices: Devices) -> None:
    first = await devices.driver()
    term, task = first.term, first._task
    assert task
    task.cancel()  # as a suspended process: it renews nothing and keeps what it believes
    second = await devices.driver(first.me)
    assert not first.drives()
    assert second.term > term
    assert first.role is Role.DRIVER


async def test_the_seat_is_given_and_taken(devices: Devices) -> None:
    first = await devices.driver()
    other = next(seat for seat in devices.seats.values() if seat is not first)
    await other.take()
    await devices.until(other.drives)
    await other.give("a person wants it")
    await devices.driver(other.me)


async def test_without_a_majority_of_the_cluster_nobody_drives(cluster: Cluster, devices: Devices) -> None:
    await devices.driver()
    for member in cluster.members[:2]:
        member.kill()
    await devices.until(lambda: all(seat.role is Role.NO_MAJORITY for seat in devices.seats.values()))
    assert not devices.driving()
    with pytest.raises(EtcdError):
        await _kept(cluster, "x")


async def test_the_daemons_seat_in_etcd(cluster: Cluster, tmp_path: Path) -> None:
    settings = SeatSettings(backend="etcd", etcd=tuple(cluster.urls))
    broadcast = Broadcast()
    service = EtcdSeatService(settings, tmp_path, broadcast)
    with broadcast.listen() as events:
        await service.open()
        try:
            async with asyncio.timeout(TURN_SECONDS):
                while not (await service.driver()).here:
                    await events.next()
            claim = (await service.claim("daily-brief", "2026-11-30T07:00")).claim
            assert claim
            await service.settle(claim, "It rains.")
            assert [entry.text for entry in await service.results.entries()] == ["It rains."]
            assert service.report()["role"] == "driver"
            with pytest.raises(SeatError, match="etcd"):
                await service.invite()
        finally:
            await service.close()


async def test_a_daemon_repeats_what_it_began_before_it_was_killed(cluster: Cluster, tmp_path: Path) -> None:
    settings = SeatSettings(backend="etcd", etcd=tuple(cluster.urls))
    first = EtcdSeatService(settings, tmp_path, Broadcast())
    await first.open()
    async with asyncio.timeout(TURN_SECONDS):
        while not (await first.driver()).here:  # noqa: ASYNC110  # it tells nobody else here
            await asyncio.sleep(0.05)
    assert (await first.claim("daily-brief", "2026-11-30T07:00", again=True)).claim
    assert (await first.claim("errand", "2026-11-30T07:00")).claim
    await first.close()
    repeated: asyncio.Queue[Ticket] = asyncio.Queue()
    broadcast = Broadcast()
    second = EtcdSeatService(settings, tmp_path, broadcast)
    with broadcast.listen() as events:
        await second.open()
        try:
            async with asyncio.timeout(TURN_SECONDS):
                while (notice := await events.next()) and notice.name != "inbox.new":
                    pass
                second.repeats.by(repeated.put)  # what runs it opens later than the seat
                claim = await repeated.get()
            assert (claim.skill, claim.slot) == ("daily-brief", "2026-11-30T07:00")
            assert await second.may_finish(claim)
            (entry,) = await second.results.entries()
            assert (entry.skill, entry.done) == ("errand", False)
        finally:
            await second.close()


def test_the_backend_needs_members() -> None:
    with pytest.raises(ValueError, match=r"seat\.etcd"):
        SeatSettings(backend="etcd")
    with pytest.raises(ValueError, match="no URL"):
        SeatSettings(backend="etcd", etcd=("10.0.0.7",))


async def test_a_member_that_is_killed_in_the_middle_of_claims_costs_no_slot(
    cluster: Cluster, devices: Devices
) -> None:
    """What a member had written before it died, without saying so, is claimed and not lost."""
    driver = await devices.driver()
    slots = [f"2026-11-30T07:{minute:02}" for minute in range(40)]
    claims = [asyncio.create_task(driver.claim("look", slot)) for slot in slots]
    await asyncio.wait(claims, return_when=asyncio.FIRST_COMPLETED)
    cluster.members[cluster.urls.index(driver._client._members[0])].kill()  # the one that is asked
    claimed = {slot for slot, task in zip(slots, claims, strict=True) if (await task).claim}
    for slot in slots:
        async with asyncio.timeout(TURN_SECONDS):
            while slot not in claimed:
                assert (await devices.driver()).me == driver.me
                if (await driver.claim("look", slot)).claim:
                    claimed.add(slot)
    again = [await driver.claim("look", slot) for slot in slots]
    assert not any(each.claim for each in again), "a slot is claimed once"


class Deaf(EtcdClient):
    """While `deaf`, what it asks for is done, and the answer is lost."""

    deaf = False

    async def transact(self, *given: Any) -> Answered:
        answer = await super().transact(*given)
        if self.deaf:
            raise EtcdError("the member has died")
        return answer


async def test_a_claim_whose_answer_was_lost_is_given_once(cluster: Cluster) -> None:
    client, told = Deaf(cluster.urls), asyncio.Event()
    seat = EtcdSeat("a", client, told=lambda change: told.set())
    seat.start()
    async with asyncio.timeout(TURN_SECONDS):
        while not seat.drives():
            told.clear()
            await told.wait()
    client.deaf = True
    assert not (await seat.claim("look", "1")).claim
    client.deaf = False
    assert (await seat.claim("look", "1")).claim
    assert not (await seat.claim("look", "1")).claim
    await seat.close()


async def test_a_device_that_would_rather_not_drive_keeps_the_seat_that_nobody_else_takes(
    cluster: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(etcd_service, "STRAIN_SECONDS", 0.1)
    monkeypatch.setattr(etcd, "YIELD_SECONDS", 1)
    settings = SeatSettings(backend="etcd", etcd=tuple(cluster.urls))
    broadcast = Broadcast()
    service = EtcdSeatService(settings, tmp_path, broadcast)
    looks = iter(range(20))  # while it drives; longer than a seat that is given away at each look is kept
    enough = asyncio.Event()

    async def strain() -> str:
        if service.report()["drives"] and next(looks, None) is None:
            enough.set()
        return "it is hot"

    roles: list[object] = []
    with broadcast.listen() as events:
        await service.open()
        watching = asyncio.create_task(service.watch(strain))
        async with asyncio.timeout(TURN_SECONDS):
            await enough.wait()
        watching.cancel()
        broadcast.close()
        while notice := await events.next():
            roles.append(notice.fields["role"])
        await service.close()
    assert roles.count("driver") == 2, "it has given the seat away, once"
