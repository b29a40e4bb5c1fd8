"""`/mcp` as bytes, sessions and ends: what breaks the protocol, who is bounded, what a stop tells."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httpx
import pytest
from mcp import MCPError

from muleteer.errors import ShuttingDownError
from muleteer.gateway.mcp.route import MISSING
from muleteer.gateway.requests import LONGEST_BODY
from tests.gateway.mcp.conftest import AGENT, House, called
from tests.gateway.scripted import FINISHED, STARTED, within


async def raw(house: House, method: str = "POST", **request: Any) -> httpx.Response:
    transport = httpx.AsyncHTTPTransport(uds=str(house.path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        return await client.request(method, "/mcp", **request)


async def test_a_lost_connection_of_the_older_era_frees_the_engine(house: House) -> None:
    """That era's client says that it cancels; one that was killed says nothing."""
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
    headers = {"accept": "application/json, text/event-stream"}
    opened = await raw(house, json=message("initialize", hello), headers=headers)
    headers["mcp-session-id"] = opened.headers["mcp-session-id"]
    house.harness.script = (STARTED, asyncio.Event(), FINISHED)
    call = message("tools/call", {"name": "ask", "arguments": {"message": "x"}})
    asking = asyncio.create_task(raw(house, json=call, headers=headers))
    await within(house.harness.waiting)
    asking.cancel()
    await within(house.harness.freed)


def message(method: str, params: object, number: int = 1) -> dict[str, object]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        ({"content": b"", "headers": {"content-type": "application/json"}}, 400),
        ({"json": {}, "headers": {"accept": "text/plain"}}, 406),
        ({"content": b"{}", "headers": {"content-type": "text/plain"}}, 415),
        ({"content": b"x" * (LONGEST_BODY + 1), "headers": {"content-type": "application/json"}}, 413),
        ({"json": [1, 2]}, 400),
        ({"json": {"jsonrpc": "1.0"}}, 400),
        ({"json": {"jsonrpc": "2.0", "id": {}, "method": 3}}, 400),
        ({"content": b"[" * 100_000, "headers": {"content-type": "application/json"}}, 400),
        ({"json": message("tools/call", {"name": ["x"]})}, 400),
        ({"json": message("initialize", {"protocolVersion": 7})}, 200),
        ({"json": message("tools/list", {}), "headers": {"mcp-session-id": "made-up"}}, 404),
    ],
)
async def test_what_breaks_the_protocol_is_refused_in_its_own_shape(
    house: House, request_: dict[str, Any], status: int
) -> None:
    accept = {"accept": "application/json, text/event-stream"}
    reply = await raw(house, **{**request_, "headers": accept | request_.get("headers", {})})
    assert reply.status_code == status
    assert '"error"' in reply.text
    assert '"jsonrpc":"2.0"' in reply.text


async def test_a_session_is_its_owners(house: House) -> None:
    async with house.client("legacy") as client:
        await client.list_tools()
        house.peer = AGENT
        with pytest.raises(MCPError):
            await client.list_tools()


async def test_no_id_of_a_session_and_nothing_said_is_logged(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        async with house.client("legacy") as client:
            await called(client, "ask", {"message": "open sesame"})
    told = [each.getMessage() for each in caplog.records if not each.name.startswith(("httpx", "mcp.client"))]
    assert not any("sesame" in each or "session ID" in each for each in told)


async def test_a_stop_tells_clients_how_their_turns_ended_and_lets_listeners_go(house: House) -> None:
    house.harness.script = (STARTED, asyncio.Event(), FINISHED)
    async with house.client("legacy") as older, house.client() as newer:
        await older.list_tools()
        asking = asyncio.create_task(called(older, "ask", {"message": "x"}))
        await within(house.harness.waiting)
        async with newer.listen(tools_list_changed=True) as news:
            house.server.close()
            house.turns.stop()
            await asyncio.gather(house.route.close(), ended(news))
        result = await asking
    assert (result.is_error, result.content[0].text) == (True, str(ShuttingDownError(STOPPING)))


STOPPING = "The daemon is stopping; ask again when it is back."


async def ended(news: Any) -> None:
    async with asyncio.timeout(10):
        async for _ in news:
            pass


async def test_without_the_package_the_path_says_what_to_install(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name="mcp")

    monkeypatch.setattr("muleteer.gateway.mcp.route.importlib.import_module", missing)
    reply = await raw(house, json={})
    assert (reply.status_code, reply.json()["error"]["message"]) == (501, MISSING)
