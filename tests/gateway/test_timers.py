"""Timers over HTTP, over a real file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.timers import timer_routes
from muleteer.ringing import DeviceTimers
from muleteer.store.timers import TimerStore
from muleteer.timers import Missed


@pytest.fixture
async def timers(tmp_path: Path) -> AsyncIterator[DeviceTimers]:
    made = DeviceTimers(TimerStore(tmp_path / "timers.db"), Broadcast(), Chime((), 1.0))
    yield made
    await made.close()


@pytest.fixture
async def client(timers: DeviceTimers) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=timer_routes(timers), exception_handlers={MuleteerError: replies.on_fault})
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as made:
        yield made


async def test_what_is_set_is_listed_the_next_first(client: httpx.AsyncClient, timers: DeviceTimers) -> None:
    assert (await client.get("/v1/timers")).json() == {"timers": [], "missed": [], "unreadable": 0}
    at = datetime.now().replace(microsecond=0) + timedelta(days=2)
    alarm = await timers.set_alarm(at, frozenset((0, 4)), "up")
    tea = await timers.set_timer(300, "tea")
    first, second = (await client.get("/v1/timers")).json()["timers"]
    assert 299 < first.pop("left_s") <= 300
    assert first == {
        "id": tea.id,
        "kind": "timer",
        "label": "tea",
        "due": tea.due.astimezone().isoformat(timespec="seconds"),
        "seconds": 300,
        "repeat": [],
    }
    due = datetime.fromisoformat(second["due"])
    assert due.utcoffset() is not None
    assert (due.replace(tzinfo=None), second["id"], second["kind"]) == (at, alarm.id, "alarm")
    assert second["repeat"] == [0, 4]


async def test_listing_does_not_count_as_being_told_of_what_was_missed(
    client: httpx.AsyncClient, tmp_path: Path
) -> None:
    store = TimerStore(tmp_path / "timers.db")
    await store.save({}, [Missed(7, "tea", datetime(2026, 11, 30, 8))])
    await store.close()
    for _ in range(2):
        (missed,) = (await client.get("/v1/timers")).json()["missed"]
        assert (missed["id"], missed["label"]) == (7, "tea")
        assert missed["due"].startswith("2026-11-30T08:00:00")


async def test_cancelling_one(client: httpx.AsyncClient, timers: DeviceTimers) -> None:
    tea = await timers.set_timer(300, "tea")
    reply = await client.delete(f"/v1/timers/{tea.id}")
    assert (reply.status_code, reply.json()["cancelled"]["label"]) == (200, "tea")
    reply = await client.delete(f"/v1/timers/{tea.id}")
    assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
    assert str(tea.id) in reply.json()["error"]["message"]
    for given in ("99999999999999999999999", "9" * 5000, "tea", "-1", "1.5", "\u0663", "\u00b2"):
        reply = await client.delete(f"/v1/timers/{given}")
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
        assert len(reply.json()["error"]["message"]) < 120


async def test_a_file_that_cannot_be_used_is_told(client: httpx.AsyncClient, tmp_path: Path) -> None:
    (tmp_path / "timers.db").write_bytes(b"garbage" * 1000)
    for reply in (await client.get("/v1/timers"), await client.delete("/v1/timers/1")):
        assert reply.status_code == 503
        assert "damaged" in reply.json()["error"]["message"]


async def test_what_rings_is_silenced_everywhere(tmp_path: Path) -> None:
    broadcast = Broadcast()
    timers = DeviceTimers(TimerStore(tmp_path / "timers.db"), broadcast, Chime((), 1.0))
    app = Starlette(routes=timer_routes(timers, timers.silence))
    transport = httpx.ASGITransport(app=app)
    with broadcast.listen() as listener:
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            assert (await client.post("/v1/timers/silence")).json() == {"silenced": True}
        notice = await listener.next()
    assert notice is not None
    assert notice.name == "timer.silenced"
    await timers.close()
