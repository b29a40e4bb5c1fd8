"""Looking at turns, following and stopping them: by whoever began one, the socket, or an administrator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from muleteer.gateway import peer
from muleteer.gateway.peer import EVERYTHING, LOCAL, Peer, Scope
from muleteer.gateway.recent import ENDED_SECONDS, MOST_ENDED, Recent
from muleteer.gateway.turns import Turns
from muleteer.harness.events import CallFinished, TextDelta, TurnFinished, TurnStarted
from muleteer.skills import Catalogue
from tests.gateway.networked import networked
from tests.gateway.scripted import (
    ASKED,
    DEADLINE,
    FINISHED,
    LEVEL,
    STARTED,
    TEXT,
    ScriptedHarness,
    within,
)
from tests.gateway.test_app import events

QUESTION = {"message": "What time is it?", "session": "mine"}


@dataclass
class Doors:
    """`local` asks over the Unix socket; ada and bob have a token each to chat, eve is an administrator."""

    harness: ScriptedHarness
    turns: Turns
    local: httpx.AsyncClient
    ada: httpx.AsyncClient
    bob: httpx.AsyncClient
    eve: httpx.AsyncClient


@pytest.fixture
async def doors(folder: Path, catalogue: Catalogue) -> AsyncIterator[Doors]:
    async with networked(folder, catalogue) as net, AsyncExitStack() as stack:
        scopes: dict[str, Scope] = {"ada": "chat", "bob": "chat", "eve": "admin"}
        clients = [net.client(await net.token(scope, name=name)) for name, scope in scopes.items()]
        for client in (local := net.local(), *clients):
            await stack.enter_async_context(client)
        yield Doors(net.harness, net.turns, local, *clients)


async def began(doors: Doors, client: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
    """A turn that waits after its first piece of text until `doors.harness.script` lets it go on."""
    asking = asyncio.create_task(client.post("/v1/turns", json=QUESTION))
    await within(doors.harness.waiting)
    return asking


async def test_a_finished_turn_is_shown_whole(doors: Doors) -> None:
    await doors.ada.post("/v1/turns", json=QUESTION)
    shown = (await doors.ada.get("/v1/turns/t1")).json()
    assert (shown["turn"], shown["state"], shown["session"]) == ("t1", "finished", "mine")
    assert (shown["message"], shown["text"]) == ("What time is it?", TEXT.text)
    assert shown["outcome"]["event"] == "turn.finished"
    assert shown["outcome"]["answer"] == TEXT.text
    assert [step["step"] for step in shown["steps"]] == ["level"]
    listed = (await doors.ada.get("/v1/turns")).json()["turns"]
    assert [each["turn"] for each in listed] == ["t1"]
    assert TEXT.text not in str(listed)
    assert "What time" not in str(listed)


async def test_only_its_owner_the_socket_and_an_administrator_see_it(doors: Doors) -> None:
    await doors.ada.post("/v1/turns", json=QUESTION)
    for client, sees in (
        (doors.ada, True),
        (doors.bob, False),
        (doors.eve, True),
        (doors.local, True),
    ):
        replies = [await client.get("/v1/turns/t1"), await client.post("/v1/turns/t1/cancel")]
        assert [reply.status_code for reply in replies] == [200 if sees else 404] * 2
        assert len((await client.get("/v1/turns")).json()["turns"]) == sees


async def test_what_the_socket_asked_is_not_for_a_token(doors: Doors) -> None:
    await doors.local.post("/v1/turns", json=QUESTION)
    reply = await doors.bob.get("/v1/turns/t1")
    assert reply.status_code == 404
    assert reply.json()["error"]["message"].startswith("There is no turn 't1' of yours")
    assert (await doors.eve.get("/v1/turns/t1")).status_code == 200


async def test_a_running_turn_shows_how_far_it_is_and_is_stopped(doors: Doors) -> None:
    never = asyncio.Event()
    doors.harness.script = (STARTED, LEVEL, TEXT, never)
    asking = await began(doors, doors.ada)
    shown = (await doors.ada.get("/v1/turns/t1")).json()
    assert (shown["state"], shown["text"], shown["outcome"]) == ("running", TEXT.text, None)
    stopped = await doors.ada.delete("/v1/turns/t1")
    assert stopped.json()["state"] == "cancelled"
    await within(doors.harness.freed)
    name, fields = events((await asking).text)[-1]
    assert (name, fields["code"]) == ("turn.failed", "cancelled")
    counts = doors.turns.counts()
    assert (counts["running"], counts["cancelled"], counts["failed"]) == (0, 1, 0)
    again = (await doors.ada.post("/v1/turns/t1/cancel")).json()
    assert again["state"] == "cancelled"


async def test_a_stopped_turn_that_sends_one_object_says_so(doors: Doors) -> None:
    doors.harness.script = (STARTED, asyncio.Event())
    asking = asyncio.create_task(doors.local.post("/v1/turns", json={**QUESTION, "stream": False}))
    await within(doors.harness.waiting)
    await doors.local.post("/v1/turns/t1/cancel")
    reply = await asking
    assert (reply.status_code, reply.json()["error"]["code"]) == (499, "cancelled")


async def test_somebody_else_follows_from_the_first_event_on(doors: Doors) -> None:
    go_on = asyncio.Event()
    doors.harness.script = (STARTED, LEVEL, TEXT, go_on, FINISHED)
    asking = await began(doors, doors.local)
    following = asyncio.create_task(doors.local.get("/v1/turns/t1/events"))
    gone = asyncio.create_task(doors.local.get("/v1/turns/t1/events"))
    async with asyncio.timeout(DEADLINE), doors.local.stream("GET", "/v1/turns/t1/events") as early:
        assert await anext(early.aiter_lines()) == "event: turn.started"
    gone.cancel()
    go_on.set()
    first, second = await asking, await following
    assert events(second.text) == events(first.text)
    late = await doors.local.get("/v1/turns/t1/events")
    assert [name for name, _ in events(late.text)] == ["turn.finished"]


async def test_a_turn_whose_client_left_has_ended_with_an_event(doors: Doors) -> None:
    doors.harness.script = (STARTED, TEXT, asyncio.Event())
    asking = await began(doors, doors.local)
    following = asyncio.create_task(doors.local.get("/v1/turns/t1/events"))
    asking.cancel()
    name, fields = events((await following).text)[-1]
    assert (name, fields["message"]) == ("turn.failed", "The turn was stopped: its client went away.")
    assert (await doors.local.get("/v1/turns/t1")).json()["state"] == "cancelled"


async def test_an_answered_question_goes_on_under_the_same_id(doors: Doors) -> None:
    doors.harness.script = (STARTED, ASKED)
    assert (await doors.ada.post("/v1/turns", json={**QUESTION, "stream": False})).status_code == 202
    assert (await doors.ada.get("/v1/turns/t1")).json()["state"] == "asked"
    doors.harness.script = (STARTED, TEXT, FINISHED)
    refused = await doors.bob.post("/v1/turns/t1/confirm", json={"confirm": True})
    assert refused.status_code == 404
    assert doors.harness.answered == []
    assert (await doors.ada.post("/v1/turns/t1/confirm", json={"confirm": True})).status_code == 200
    assert (await doors.ada.get("/v1/turns/t1")).json()["state"] == "finished"
    assert len((await doors.ada.get("/v1/turns")).json()["turns"]) == 1


async def test_they_are_bounded_in_number_and_age(doors: Doors) -> None:
    clock = 0.0
    turns = doors.turns
    turns.recent = Recent(lambda: clock)
    me = Peer("local", EVERYTHING, "unix", "", LOCAL)

    async def run(id: str) -> None:
        doors.harness.script = (TurnStarted(id), TextDelta("x"), TurnFinished(id, "x", (), (), (), 1.0))
        async with turns.start("x", ()) as turn:
            await turn.result()

    for number in range(MOST_ENDED + 1):
        await run(f"t{number}")
    kept = [each["turn"] for each in turns.recent.listed(me)]
    assert kept == [f"t{number}" for number in range(MOST_ENDED, 0, -1)]
    clock = ENDED_SECONDS + 1
    await run("late")
    assert [each["turn"] for each in turns.recent.listed(me)] == ["late"]


async def test_what_was_said_goes_when_something_is_forgotten(doors: Doors) -> None:
    await doors.ada.post("/v1/turns", json=QUESTION)
    doors.harness.script = (TurnStarted("t2"), TEXT, asyncio.Event())
    asking = await began(doors, doors.ada)
    doors.turns.recent.forget()
    assert [each["turn"] for each in (await doors.ada.get("/v1/turns")).json()["turns"]] == ["t2"]
    await doors.ada.delete("/v1/turns/t2")
    await asking


async def test_levels_and_calls_are_counted_once(doors: Doors) -> None:
    called: Any = CallFinished("clock", "ok", "It is noon.", 2.0)
    doors.harness.script = (STARTED, LEVEL, called, ASKED)
    peer.current.set(Peer("local", EVERYTHING, "unix", "", LOCAL))
    async with doors.turns.start("x", ()) as turn:
        await turn.result()
    doors.harness.script = (STARTED, LEVEL, TEXT, FINISHED)
    async with doors.turns.confirm("t1", True) as turn:
        await turn.result()
    tally = doors.turns.tally
    assert tally.calls == {"ok": 1}
    assert (tally.levels["plan"].count, tally.levels["plan"].decoded) == (2, 12)
