"""What a token began is that token's alone: not of the next one that gets its name, nor of anybody once the
turn is no longer kept."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.engine.protocol import Message
from muleteer.gateway.guests import Guests
from muleteer.gateway.openai.routes import openai_routes
from muleteer.gateway.peer import NOBODY, Peer
from muleteer.gateway.recent import MOST_ENDED
from muleteer.harness.events import TurnFinished, TurnStarted
from muleteer.skills import Catalogue
from tests.gateway.networked import Networked, networked
from tests.gateway.scripted import ASKED, FINISHED, STARTED, TEXT
from tests.gateway.visiting import CONTEXT, status, visit
from tests.harness.scripted import Choose, Fill, Write

TURN = {"message": "x", "stream": False}
YES = {"confirm": True, "stream": False}


@pytest.fixture
async def net(folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async with networked(folder, catalogue) as net:
        yield net


async def revoke(net: Networked, name: str) -> None:
    async with net.local() as local:
        assert (await local.delete(f"/v1/tokens/{name}")).status_code == 200


def test_nobody_owns_what_nobody_began() -> None:
    assert not NOBODY.owns("")
    assert not Peer("x", frozenset({"chat"}), "tcp", "").owns("")
    assert Peer("x", frozenset({"chat"}), "tcp", "", "a1").owns("a1")
    assert not Peer("x", frozenset({"chat", "tools"}), "tcp", "", "a1").owns("b2")
    assert Peer("x", frozenset({"admin"}), "tcp", "", "a1").owns("b2")


async def test_who_gets_the_name_of_a_revoked_token_gets_nothing_of_it(net: Networked) -> None:
    net.harness.script = (STARTED, ASKED)
    async with net.client(await net.token(name="dan")) as dan:
        assert (await dan.post("/v1/turns", json=TURN)).status_code == 202
    await revoke(net, "dan")
    net.harness.script = (STARTED, TEXT, FINISHED)
    async with net.client(await net.token(name="dan")) as other, net.local() as local:
        assert (await other.get("/v1/turns")).json()["turns"] == []
        for reply in (
            await other.get("/v1/turns/t1"),
            await other.get("/v1/turns/t1/events"),
            await other.delete("/v1/turns/t1"),
            await other.post("/v1/turns/t1/cancel"),
        ):
            assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_found")
        refused = await other.post("/v1/turns/t1/confirm", json=YES)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_open")
        assert net.harness.answered == []
        assert (await local.post("/v1/turns/t1/confirm", json=YES)).status_code == 200


async def test_a_session_is_the_tokens_that_began_it(folder: Path, catalogue: Catalogue) -> None:
    asked: list[str] = []

    async def history(key: str) -> list[Message]:
        asked.append(key)
        return [Message("user", f"said in {key}")]

    trip = TURN | {"session": "trip"}
    async with networked(folder, catalogue, history=history) as net:
        ada, bob = await net.token(name="ada"), await net.token(name="bob")
        own = await net.token("admin", name="own")
        for secret in (ada, bob, own):
            async with net.client(secret) as client:
                assert (await client.post("/v1/turns", json=trip)).status_code == 200
                assert (await client.get("/v1/turns")).json()["turns"][0]["session"] == "trip"
        async with net.local() as local:
            assert (await local.post("/v1/turns", json=trip)).status_code == 200
        keys = [found.id for found in map(net.tokens.find, (ada, bob)) if found]
        assert asked == [f"{keys[0]}:trip", f"{keys[1]}:trip", "trip", "trip"]
        assert [said[1][0].content for said in net.harness.asked] == [f"said in {key}" for key in asked]


async def test_a_token_owns_its_turns_after_a_start_of_the_daemon(net: Networked) -> None:
    secret = await net.token(name="dan")
    before = net.tokens.find(secret)
    await net.tokens.open()
    after = net.tokens.find(secret)
    assert before
    assert after
    assert (before.id, before.name) == (after.id, "dan")
    assert before.id not in str(before.as_dict())


@pytest.mark.parametrize("how", ["forgotten", "crowded out"])
async def test_a_question_whose_turn_is_kept_no_longer_stays_whose_it_was(net: Networked, how: str) -> None:
    net.harness.script = (STARTED, ASKED)
    async with (
        net.client(await net.token(name="ada")) as ada,
        net.client(await net.token(name="bob")) as bob,
        net.local() as local,
    ):
        await ada.post("/v1/turns", json=TURN)
        if how == "forgotten":
            net.turns.recent.forget()
        for number in range(MOST_ENDED + 1 if how == "crowded out" else 0):
            net.harness.script = (TurnStarted(f"n{number}"), TurnFinished(f"n{number}", "x", (), (), (), 1.0))
            await local.post("/v1/turns", json=TURN)
        assert (await local.get("/v1/turns/t1")).status_code == 404
        net.harness.script = (STARTED, TEXT, FINISHED)
        refused = await bob.post("/v1/turns/t1/confirm", json=YES)
        assert (refused.status_code, refused.json()["error"]["code"]) == (404, "not_open")
        unknown = await bob.post("/v1/turns/t9/confirm", json=YES)
        assert unknown.json() == refused.json(), "nor is it told that there is one"
        assert net.harness.answered == []
        assert (await ada.post("/v1/turns/t1/confirm", json=YES)).status_code == 200
        assert net.harness.answered == [("t1", True)]


async def test_a_guests_question_is_not_for_the_next_of_its_name(folder: Path, catalogue: Catalogue) -> None:
    at = visit(Choose({"keep": 1.0}), Fill({"note": "tea"}), confirm=("write",))
    said = [{"role": "user", "content": "Keep tea"}]
    async with networked(
        folder,
        catalogue,
        guests=lambda turns: openai_routes(Guests(turns, at.harness, status, "standard", CONTEXT)),
    ) as net:
        async with net.client(await net.token(name="dan")) as dan:
            reply = await dan.post("/v1/chat/completions", json={"model": "muleteer", "messages": said})
        said += [reply.json()["choices"][0]["message"], {"role": "user", "content": "Yes"}]
        assert "keep" in said[1]["content"]
        await revoke(net, "dan")
        at.script(Choose({"reply": 1.0}), Write(("Hm?",)))
        async with net.client(await net.token(name="dan")) as other:
            reply = await other.post("/v1/chat/completions", json={"model": "muleteer", "messages": said})
        assert reply.json()["choices"][0]["message"]["content"] == "Hm?"
        assert at.house.ran == []
