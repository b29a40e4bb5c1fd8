"""The offline switch over HTTP."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.offline import offline_route
from muleteer.offline import Switch


@pytest.fixture
def switch(tmp_path: Path) -> Switch:
    return Switch(tmp_path / "offline.json", "auto", lambda: True)


@pytest.fixture
async def client(switch: Switch) -> AsyncIterator[httpx.AsyncClient]:
    app = Starlette(routes=[offline_route(switch)], exception_handlers={MuleteerError: replies.on_fault})
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as made:
        yield made


async def test_read_and_set(client: httpx.AsyncClient, switch: Switch) -> None:
    report = {"mode": "auto", "offline": False, "reason": ""}
    assert (await client.get("/v1/offline")).json() == report
    expected = {"mode": "on", "offline": True, "reason": "Offline mode is on"}
    assert (await client.put("/v1/offline", json={"mode": "on"})).json() == expected
    assert (await client.get("/v1/offline")).json() == expected
    assert switch.mode == "on"


@pytest.mark.parametrize(
    "body", ['{"mode": "perhaps"}', "{}", "", "[]", '{"mode": "on", "for": 5}', '{"mode": true}', "{"]
)
async def test_what_is_no_mode_is_refused_with_an_example(
    client: httpx.AsyncClient, switch: Switch, body: str
) -> None:
    reply = await client.put(
        "/v1/offline", content=body.encode(), headers={"content-type": "application/json"}
    )
    assert reply.status_code == 400
    assert reply.json()["error"]["message"].endswith('send a JSON object such as {"mode": "on"}.')
    assert switch.mode == "auto"


async def test_a_form_from_a_web_page_is_refused(client: httpx.AsyncClient, switch: Switch) -> None:
    reply = await client.put(
        "/v1/offline", content=b'{"mode": "off"}', headers={"content-type": "text/plain"}
    )
    assert reply.status_code == 415
    assert switch.mode == "auto"


async def test_a_choice_that_cannot_be_kept_is_said(tmp_path: Path) -> None:
    lost = Switch(tmp_path / "gone" / "offline.json", "auto", lambda: True)
    app = Starlette(routes=[offline_route(lost)], exception_handlers={MuleteerError: replies.on_fault})
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app), base_url="http://localhost"
    ) as client:
        reply = await client.put("/v1/offline", json={"mode": "on"})
    assert reply.status_code == 503
    assert reply.json()["error"] == {
        "code": "storage",
        "message": "The choice could not be kept (No such file or directory), so nothing has changed; look "
        "at the state folder.",
    }
