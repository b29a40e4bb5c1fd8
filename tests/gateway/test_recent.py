"""Looking at turns, following and stopping them: by whoever began one, the socket, or an administrator."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.recent import ENDED_SECONDS, MOST_ENDED
from muleteer.gateway.turns import Turns
from muleteer.harness.events import CallFinished, TextDelta, TurnFinished, TurnStarted
from muleteer.skills import Catalogue
from tests.gateway.conftest import Served
from tests.gateway.doors import Doors, open_doors
from tests.gateway.scripted import ASKED, DEADLINE, FINISHED, LEVEL, PENDING, STARTED, TEXT, within
from tests.gateway.test_app import events

QUESTION = {"message": "What time is it?", "session": "mine"}


@pytest.fixture
async def doors(served: Served, folder: Path, catalogue: Catalogue) -> AsyncIterator[Doors]:
    gateway = Gateway(
        served.turns,
        served.health,
        served.engine,
        lambda: catalogue,
        "standard",
        folder / "d",
        keep_alive=0.01,
    )
    async with open_doors(build_app(gateway), folder / "d") as doors:
        yield doors


async def began(served: Served, client: httpx.AsyncClient) -> asyncio.Task[httpx.Response]:
    """A turn that waits after its first piece of text until `served.harness.script` lets it go on."""
    asking = asyncio.create_task(client.post("/v1/turns", json=QUESTION))
    await within(served.harness.waiting)
    return asking


async def test_a_finished_turn_is_shown_whole(doors: Doors) -> None:
    ada = await doors.remote("ada")
    await ada.post("/v1/turns", json=QUESTION)
    shown = (await ada.get("/v1/turns/t1")).json()
    assert (shown["turn"], shown["state"], shown["session"]) == ("t1", "finished", "mine")
    assert (shown["message"], shown["text"]) == ("What time is it?", TEXT.text)
    assert shown["outcome"]["event"] == "turn.finished"
    assert shown["outcome"]["answer"] == TEXT.text
    assert [step["step"] for step in shown["steps"]] == ["level"]
    listed = (await ada.get("/v1/turns")).json()["turns"]
    assert [each["turn"] for each in listed] == ["t1"]
    assert TEXT.text not in str(listed)
    assert "What time" not in str(listed)


async def test_only_its_owner_the_socket_and_an_administrator_see_it(doors: Doors) -> None:
    await (await doors.remote("ada")).post("/v1/turns", json=QUESTION)
    for client, sees in (
        (await doors.remote("ada"), True),
        (await doors.remote("bob"), False),
        (await doors.remote("eve"), True),
        (doors.local, True),
    ):
        replies = [await client.get("/v1/turns/t1"), await client.post("/v1/turns/t1/cancel")]
        assert [reply.status_code for reply in replies] == [200 if sees else 404] * 2
        assert len((await client.get("/v1/turns")).json()["turns"]) == sees


async def test_what_the_socket_asked_is_not_for_a_token(doors: Doors) -> None:
    await doors.local.post("/v1/turns", json=QUESTION)
    reply = await (await doors.remote("bob")).get("/v1/turns/t1")
    assert reply.status_code == 404
    assert reply.json()["error"]["message"].startswith("There is no turn 't1' of yours")
    assert (await (await doors.remote("eve")).get("/v1/turns/t1")).status_code == 200


async def test_a_running_turn_shows_how_far_it_is_and_is_stopped(served: Served, doors: Doors) -> None:
    never = asyncio.Event()
    served.harness.script = (STARTED, LEVEL, TEXT, never)
    ada = await doors.remote("ada")
    asking = await began(served, ada)
    shown = (await ada.get("/v1/turns/t1")).json()
    assert (shown["state"], shown["text"], shown["outcome"]) == ("running", TEXT.text, None)
    stopped = await ada.delete("/v1/turns/t1")
    assert stopped.json()["state"] == "cancelled"
    await within(served.harness.freed)
    name, fields = events((await asking).text)[-1]
    assert (name, fields["code"]) == ("turn.failed", "cancelled")
    await served.counts(running=0, cancelled=1, failed=0)
    assert served.ended == []
    again = (await ada.post("/v1/turns/t1/cancel")).json()
    assert again["state"] == "cancelled"


async def test_a_stopped_turn_that_sends_one_object_says_so(served: Served, doors: Doors) -> None:
    served.harness.script = (STARTED, asyncio.Event())
    asking = asyncio.create_task(doors.local.post("/v1/turns", json={**QUESTION, "stream": False}))
    await within(served.harness.waiting)
    await doors.local.post("/v1/turns/t1/cancel")
    reply = await asking
    assert (reply.status_code, reply.json()["error"]["code"]) == (499, "cancelled")


async def test_somebody_else_follows_from_the_first_event_on(served: Served, doors: Doors) -> None:
    go_on = asyncio.Event()
    served.harness.script = (STARTED, LEVEL, TEXT, go_on, FINISHED)
    asking = await began(served, doors.local)
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


async def test_a_turn_whose_client_left_has_ended_with_an_event(served: Served, doors: Doors) -> None:
    served.harness.script = (STARTED, TEXT, asyncio.Event())
    asking = await began(served, doors.local)
    following = asyncio.create_task(doors.local.get("/v1/turns/t1/events"))
    asking.cancel()
    name, fields = events((await following).text)[-1]
    assert (name, fields["message"]) == ("turn.failed", "The turn was stopped: its client went away.")
    assert (await doors.local.get("/v1/turns/t1")).json()["state"] == "cancelled"


async def test_an_answered_question_goes_on_under_the_same_id(served: Served, doors: Doors) -> None:
    served.harness.script, served.harness.open = (STARTED, ASKED), {"t1": PENDING}
    ada = await doors.remote("ada")
    assert (await ada.post("/v1/turns", json={**QUESTION, "stream": False})).status_code == 202
    assert (await ada.get("/v1/turns/t1")).json()["state"] == "asked"
    served.harness.script = (STARTED, TEXT, FINISHED)
    refused = await (await doors.remote("bob")).post("/v1/turns/t1/confirm", json={"confirm": True})
    assert refused.status_code == 404
    assert served.harness.answered == []
    assert (await ada.post("/v1/turns/t1/confirm", json={"confirm": True})).status_code == 200
    assert (await ada.get("/v1/turns/t1")).json()["state"] == "finished"
    assert len((await ada.get("/v1/turns")).json()["turns"]) == 1


async def test_they_are_bounded_in_number_and_age(served: Served) -> None:
    clock = 0.0
    turns = Turns(served.harness, served.health, 2)
    turns.recent._now = lambda: clock
    from muleteer.gateway.peer import EVERYTHING, Peer

    me = Peer("local", EVERYTHING, "unix", "")

    async def run(id: str) -> None:
        served.harness.script = (TurnStarted(id), TextDelta("x"), TurnFinished(id, "x", (), (), (), 1.0))
        async with turns.start("x", ()) as turn:
            await turn.result()

    for number in range(MOST_ENDED + 1):
        await run(f"t{number}")
    kept = [each["turn"] for each in turns.recent.listed(me)]
    assert kept == [f"t{number}" for number in range(MOST_ENDED, 0, -1)]
    clock = ENDED_SECONDS + 1
    await run("late")
    assert [each["turn"] for each in turns.recent.listed(me)] == ["late"]


async def test_levels_and_calls_are_counted_once(served: Served) -> None:
    called: Any = CallFinished("clock", "ok", "It is noon.", 2.0)
    served.harness.script = (STARTED, LEVEL, called, ASKED)
    served.harness.open = {"t1": PENDING}
    async with served.turns.start("x", ()) as turn:
        await turn.result()
    served.harness.script = (STARTED, LEVEL, TEXT, FINISHED)
    async with served.turns.confirm("t1", True) as turn:
        await turn.result()
    tally = served.turns.tally
    assert tally.calls == {"ok": 1}
    assert (tally.levels["plan"].count, tally.levels["plan"].decoded) == (2, 12)
