"""`/v1/sessions`, and the history that a turn gets when it only names its session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.peer import EVERYTHING, KEY, LOCAL, NOBODY, Peer
from muleteer.gateway.sessions import Conversations
from muleteer.session import LOOKED_UP, key_of
from muleteer.store.memory import TurnMemory

HOUSE = Peer("local", EVERYTHING, "unix", "", LOCAL)
ADMIN = Peer("own", frozenset({"admin"}), "tcp", "", "0a" * 8)
ADA = Peer("ada", frozenset({"tools"}), "tcp", "", "a1" * 8)
BOB = Peer("bob", frozenset({"tools"}), "tcp", "", "b2" * 8)


class Kept:
    def __init__(self, memory: TurnMemory, days: int = 7) -> None:
        self.memory, self.forgotten = memory, 0
        self.conversations = Conversations(memory, days, self.forget_talks)
        self.peer = HOUSE
        app = Starlette(
            routes=self.conversations.routes(), exception_handlers={MuleteerError: replies.on_fault}
        )

        async def asked(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, KEY: self.peer}, receive, send)

        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=asked), base_url="http://localhost/v1"
        )

    async def listed(self) -> list[str]:
        return [each["name"] for each in (await self.client.get("/sessions")).json()["sessions"]]

    async def said(self, name: str) -> list[str]:
        body = (await self.client.get(f"/sessions/{name}")).json()
        return [each["content"] for each in body["messages"] if each["role"] == "user"]

    async def forget_talks(self) -> None:
        self.forgotten += 1


@pytest.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    memory = TurnMemory(tmp_path / "memory.db", days=30, turns=100)
    await memory.open()
    made = Kept(memory)
    async with made.client:
        yield made
    await memory.close()


async def test_what_a_tool_returned_is_not_told_again(kept: Kept) -> None:
    kept.memory.add("we are six", "Six it is.", "party")
    kept.memory.add("what time is it", "It is noon.", "party", looked_up=True)
    said = [(message.role, message.content) for message in await kept.conversations.history("party")]
    assert said == [
        ("user", "we are six"),
        ("assistant", "Six it is."),
        ("user", "what time is it"),
        ("assistant", LOOKED_UP),
    ]
    body = (await kept.client.get("/sessions/party")).json()
    assert body["messages"] == [{"role": role, "content": content} for role, content in said]


async def test_a_turn_without_a_name_has_no_history(kept: Kept) -> None:
    kept.memory.add("m", "a", "")
    assert await kept.conversations.history("") == ()


@pytest.mark.parametrize(("keep_days", "days"), [(0, 7), (30, 0)])
async def test_where_nothing_is_kept_nothing_is_told(tmp_path: Path, keep_days: int, days: int) -> None:
    memory = TurnMemory(tmp_path / "none.db", days=keep_days, turns=100)
    await memory.open()
    memory.add("m", "a", "s")
    made = Kept(memory, days)
    async with made.client:
        assert await made.conversations.history("s") == ()
        assert (await made.client.get("/sessions")).json()["kept"] is bool(keep_days)
    await memory.close()


async def test_a_memory_that_cannot_be_read_costs_the_history_and_not_the_turn(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "memory.db"
    path.write_text("this is no database, and it is long enough to be read as one" * 100)
    made = Kept(TurnMemory(path, days=30, turns=100))
    async with made.client:
        assert await made.conversations.history("s") == ()
        assert "does not know what was said before" in caplog.text
        assert (await made.client.get("/sessions")).status_code == 503
    await made.memory.close()


async def test_forgetting_a_session_forgets_it_in_the_engine_too(kept: Kept) -> None:
    kept.memory.add("m", "a", "party")
    assert (await kept.client.get("/sessions")).json()["sessions"][0]["name"] == "party"
    assert (await kept.client.delete("/sessions/party")).json() == {"turns": 1}
    assert (await kept.client.get("/sessions")).json()["sessions"] == []
    assert kept.forgotten == 1


async def test_a_name_that_can_be_none_is_one_sentence(kept: Kept) -> None:
    reply = await kept.client.get("/sessions/a%20b")
    assert reply.status_code == 400
    assert "at most 64 letters" in reply.json()["error"]["message"]


async def test_two_tokens_mean_two_sessions_by_one_name(kept: Kept) -> None:
    kept.memory.add("from before tokens had their own", "a", "trip")
    kept.memory.add("said by ada", "a", key_of("trip", ADA.keeper))
    kept.memory.add("said by bob", "b", key_of("trip", BOB.keeper))
    for kept.peer, said in (
        (ADA, "said by ada"),
        (BOB, "said by bob"),
        (HOUSE, "from before tokens had their own"),
        (ADMIN, "from before tokens had their own"),
    ):
        assert await kept.said("trip") == [said]
    kept.peer = ADA
    assert await kept.listed() == ["trip"]
    kept.peer = NOBODY
    assert await kept.listed() == []
    assert await kept.said("trip") == []


async def test_the_household_sees_all_and_forgets_a_tokens_by_its_key(kept: Kept) -> None:
    key = key_of("trip", ADA.keeper)
    kept.memory.add("old", "a", "trip")
    kept.memory.add("said by ada", "a", key)
    for kept.peer in (HOUSE, ADMIN):
        assert await kept.listed() == [key, "trip"]
        assert await kept.said(key) == ["said by ada"]
    assert (await kept.client.delete(f"/sessions/{key}")).json() == {"turns": 1}
    assert await kept.listed() == ["trip"]


async def test_a_token_cannot_name_anothers_session(kept: Kept) -> None:
    key = key_of("trip", ADA.keeper)
    kept.memory.add("said by ada", "a", key)
    kept.peer = BOB
    for reply in (await kept.client.get(f"/sessions/{key}"), await kept.client.delete(f"/sessions/{key}")):
        assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")
    assert (await kept.client.delete("/sessions/trip")).json() == {"turns": 0}
    kept.peer = ADA
    assert await kept.said("trip") == ["said by ada"]


async def test_what_nobody_gave_a_name_is_listed_to_nobody(kept: Kept) -> None:
    for owner in ("", ADA.keeper):
        kept.memory.add("m", "a", key_of("0123456789abcdef", owner))
    for kept.peer in (HOUSE, ADA):
        assert await kept.listed() == []
