"""`/v1/seat` on a real seat behind a real socket."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
import pytest_asyncio
from starlette.applications import Starlette

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.seat import seat_routes
from tests.seat.neighbours import Neighbour, neighbours, together, until


def client(device: Neighbour) -> httpx.AsyncClient:
    app = Starlette(
        routes=seat_routes(device.seat, device.seat.view),
        exception_handlers={MuleteerError: replies.on_fault},
    )
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost")


@pytest_asyncio.fixture
async def two(tmp_path: Path) -> AsyncIterator[list[Neighbour]]:
    async with neighbours(tmp_path, 2) as devices:
        await until(lambda: all(each.drives() for each in devices))
        yield devices


async def test_a_household_is_made_looked_at_and_left_over_http(two: list[Neighbour]) -> None:
    first, second = two
    async with client(first) as one, client(second) as other:
        assert (await one.get("/v1/seat")).json()["role"] == "alone"
        shown = (await one.post("/v1/seat/invite")).json()
        assert shown["seconds"] > 60
        body = {"code": shown["code"], "address": first.address}
        assert (await other.post("/v1/seat/join", json=body)).status_code == 200
        await until(lambda: together(two))
        seat = (await other.get("/v1/seat")).json()
        assert seat["role"] == "follower"
        assert seat["driver"]["id"] == first.id
        assert seat["peers"][0] | {"last_contact_s": 0} == {
            "id": first.id,
            "name": seat["driver"]["name"],
            "connected": True,
            "address": "127.0.0.1",
            "last_contact_s": 0,
            "enrolled": True,
            "doubled": False,
        }
        members = (await one.get("/v1/seat/members")).json()["members"]
        assert {(each["id"], each["here"]) for each in members} == {(first.id, True), (second.id, False)}
        assert (await other.post("/v1/seat/take")).status_code == 200
        await until(lambda: second.drives() and together(two))
        assert (await other.post("/v1/seat/yield")).status_code == 200
        await until(lambda: first.drives() and together(two))
        refused = await other.post("/v1/seat/yield")
        assert (refused.status_code, refused.json()["error"]["code"]) == (409, "seat")
        gone = await one.post("/v1/seat/forget", json={"device": second.id[:10]})
        assert gone.status_code == 200
        await until(lambda: second.seat.view.now().role == "alone" and not second.seat.peers.links)
        assert (await other.get("/v1/seat/members")).json() == {"members": []}


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("join", {"code": "nonsense"}, "looks like 3f7a-482913"),
        ("join", {"code": "3f7a-482913", "address": "a b"}, "is no address"),
        ("join", {"code": "x" * 65}, "send a JSON object such as"),
        ("join", {"codes": "x"}, "send a JSON object such as"),
        ("forget", {"device": "nobody"}, "No device of the household is called 'nobody'"),
        ("forget", {"device": ""}, "send a JSON object such as"),
    ],
)
async def test_a_wrong_request_is_told(two: list[Neighbour], path: str, body: object, said: str) -> None:
    async with client(two[0]) as one:
        reply = await one.post(f"/v1/seat/{path}", json=body)
        assert reply.status_code in (400, 409)
        assert said in reply.json()["error"]["message"]
