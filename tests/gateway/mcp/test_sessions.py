"""Sessions and listeners are bounded for each peer: who takes many takes them from itself."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

import httpx
import pytest
from mcp import MCPError

from muleteer.gateway.mcp.sessions import EACH, IDLE_SECONDS, LOCAL, NETWORK, Owner, Sessions
from muleteer.gateway.peer import Peer
from tests.gateway.mcp.conftest import OWNER, House
from tests.gateway.mcp.test_protocol import message

HELLO = message(
    "initialize",
    {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}},
)
ACCEPT = {"accept": "application/json, text/event-stream"}
TOKENS = NETWORK // EACH


def token(number: int) -> Peer:
    return Peer(f"agent-{number}", frozenset({"chat"}), "tls", f"192.0.2.{number}", f"{number:x}")


@asynccontextmanager
async def http(house: House) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.AsyncHTTPTransport(uds=str(house.path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=10) as client:
        yield client


async def opened(client: httpx.AsyncClient, count: int) -> list[str]:
    """The ids of so many new sessions."""
    replies = [await client.post("/mcp", json=HELLO, headers=ACCEPT) for _ in range(count)]
    assert [each.status_code for each in replies] == [200] * count
    return [each.headers["mcp-session-id"] for each in replies]


async def alive(client: httpx.AsyncClient, sessions: list[str]) -> list[bool]:
    asked = message("ping", {})
    replies = [
        await client.post("/mcp", json=asked, headers=ACCEPT | {"mcp-session-id": each}) for each in sessions
    ]
    assert {each.status_code for each in replies} <= {200, 404}
    return [each.status_code == 200 for each in replies]


async def test_a_token_that_opens_sessions_without_end_shuts_out_nobody(house: House) -> None:
    async with http(house) as client:
        (owners,) = await opened(client, 1)
        house.peer = token(1)
        (anothers,) = await opened(client, 1)
        house.peer = token(2)
        flood = await opened(client, NETWORK + LOCAL + 2)
        assert await alive(client, flood) == [False] * (len(flood) - EACH) + [True] * EACH
        house.peer = token(1)
        assert await alive(client, [anothers]) == [True]
        await opened(client, 1)
        house.peer = OWNER
        assert await alive(client, [owners]) == [True]
        async with house.client("legacy") as official:
            assert (await official.list_tools()).tools


async def test_the_oldest_idle_one_makes_room(house: House) -> None:
    house.peer = token(1)
    async with http(house) as client:
        first, second, *more = await opened(client, EACH)
        assert await alive(client, [first]) == [True]
        await opened(client, 1)
        assert await alive(client, [second, first, *more]) == [False] + [True] * (EACH - 1)


async def test_what_is_in_use_makes_no_room_and_others_do_not_wait_for_it(house: House) -> None:
    house.peer = token(1)
    async with http(house) as client, AsyncExitStack() as streams:
        sessions = await opened(client, EACH)
        for each in sessions:
            headers = {"accept": "text/event-stream", "mcp-session-id": each}
            stream = await streams.enter_async_context(client.stream("GET", "/mcp", headers=headers))
            assert stream.status_code == 200
        refused = await client.post("/mcp", json=HELLO, headers=ACCEPT)
        assert refused.status_code == 429
        assert refused.json()["error"]["message"] == (
            "8 sessions are open already, and all of them are in use; end one of them first."
        )
        assert await alive(client, sessions) == [True] * EACH
        house.peer = token(2)
        await opened(client, 1)
        house.peer = OWNER
        await opened(client, 1)
        house.peer = token(1)
        ended = await client.delete("/mcp", headers={"mcp-session-id": sessions[0]})
        assert ended.status_code == 200
        await opened(client, 1)


async def test_many_tokens_leave_places_to_a_new_one_and_to_the_socket(house: House) -> None:
    async with http(house) as client:
        held = {}
        for number in range(TOKENS):
            house.peer = token(number)
            held[number] = await opened(client, EACH)
        house.peer = token(TOKENS)
        (newest,) = await opened(client, 1)
        house.peer = OWNER
        owners = await opened(client, LOCAL + 1)
        assert await alive(client, owners) == [False] + [True] * LOCAL
        for number, sessions in held.items():
            house.peer = token(number)
            assert await alive(client, sessions) == [number != 0] + [True] * (EACH - 1)
        house.peer = token(TOKENS)
        assert await alive(client, [newest]) == [True]


async def test_what_opens_nothing_holds_no_place(house: House) -> None:
    house.peer = token(1)
    async with http(house) as client:
        (session,) = await opened(client, 1)
        for _ in range(EACH):
            wrong = await client.post("/mcp", json=message("tools/list", {}), headers=ACCEPT)
            assert wrong.status_code == 400
        assert await alive(client, [session]) == [True]
        for one in [session, *await opened(client, EACH - 1)]:
            assert (await client.delete("/mcp", headers={"mcp-session-id": one})).status_code == 200
        assert all(await alive(client, await opened(client, EACH)))


async def test_a_token_that_listens_without_end_leaves_others_an_ear(house: House) -> None:
    house.peer = token(1)
    async with AsyncExitStack() as stack:
        for _ in range(EACH):
            client = await stack.enter_async_context(house.client())
            await stack.enter_async_context(client.listen(tools_list_changed=True))
        client = await stack.enter_async_context(house.client())
        with pytest.raises(MCPError, match="8 streams listen for changes already; end one of them first"):
            async with client.listen(tools_list_changed=True):
                pass
        for peer in (token(2), OWNER):
            house.peer = peer
            client = await stack.enter_async_context(house.client())
            async with asyncio.timeout(10), client.listen(tools_list_changed=True):
                pass


def test_one_that_the_library_has_ended_counts_no_more() -> None:
    now = [0.0]
    sessions = Sessions[None](lambda: now[0])
    old, other = Owner("old", False), Owner("other", False)
    with sessions.asking(stays := sessions.enter(old)[0]):
        stays.id = "stays"
        for number in range(EACH - 1):
            with sessions.asking(session := sessions.enter(old)[0]):
                session.id = str(number)
        now[0] = IDLE_SECONDS + 1
        assert sessions.enter(old)[1] is None
        assert [each.id for each in sessions][:-1] == ["stays"]
    assert sessions.find(other, "stays") is None
    assert sessions.find(old, "stays") is stays


async def test_a_session_is_not_for_the_next_token_of_its_name(house: House) -> None:
    async with http(house) as client:
        house.peer = token(1)
        sessions = await opened(client, 1)
        house.peer = replace(token(1), id="another")
        assert await alive(client, sessions) == [False]
        house.peer = token(1)
        assert await alive(client, sessions) == [True]
