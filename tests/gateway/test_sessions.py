"""`/v1/sessions`, and the history that a turn gets when it only names its session."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette

from muleteer.errors import MuleteerError
from muleteer.gateway import replies
from muleteer.gateway.sessions import Conversations
from muleteer.session import LOOKED_UP
from muleteer.store.memory import TurnMemory


class Kept:
    def __init__(self, memory: TurnMemory, days: int = 7) -> None:
        self.memory, self.forgotten = memory, 0
        self.conversations = Conversations(memory, days, self.forget_talks)
        app = Starlette(
            routes=self.conversations.routes(), exception_handlers={MuleteerError: replies.on_fault}
        )
        self.client = httpx.AsyncClient(
            transport=httpx.ASGITransport(app=app), base_url="http://localhost/v1"
        )

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
