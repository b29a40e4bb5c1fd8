from __future__ import annotations

import asyncio
import json
import logging
import os
import re
from typing import Any

import httpx
import pytest

import muleteer
from muleteer.engine.protocol import EngineStatus, Message, Properties, Use
from muleteer.errors import EngineBusyError, EngineDiedError
from muleteer.harness.events import TurnFailed
from tests.gateway.conftest import LIMIT, Served
from tests.gateway.scripted import (
    ASKED,
    FINISHED,
    LEVEL,
    PENDING,
    STARTED,
    TEXT,
    connect,
    post,
    within,
)


def events(text: str) -> list[tuple[str, Any]]:
    """A stream without its comments."""
    blocks = [block.split("\n") for block in text.split("\n\n") if block and not block.startswith(":")]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in blocks]


async def ask(served: Served, **body: object) -> httpx.Response:
    return await served.client.post("/v1/turns", json={"message": "What time is it?", **body})


def wire(*fields: object) -> Any:
    return json.loads(json.dumps(fields))


async def test_stream_is_every_event_in_order(served: Served) -> None:
    reply = await ask(served)
    assert reply.status_code == 200
    assert reply.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert "no-cache" in reply.headers["cache-control"]
    sent = [(event.name, wire(event.as_dict())[0]) for event in (STARTED, LEVEL, TEXT, FINISHED)]
    assert events(reply.text) == sent
    counts = served.turns.counts()
    assert (counts.pop("finished"), set(counts.values())) == (1, {0})


async def test_object_is_the_finished_turn(served: Served) -> None:
    for reply in (
        await ask(served, stream=False),
        await served.client.post("/v1/turns", json={"message": "x"}, headers={"accept": "application/json"}),
    ):
        assert reply.status_code == 200
        assert reply.headers["content-type"] == "application/json"
        assert reply.json() == wire(FINISHED.as_dict())[0]


async def test_a_session_that_sends_no_history_has_what_is_kept_of_it(served: Served) -> None:
    await ask(served, session="party")
    await ask(served, session="party", history=[])
    await ask(served)
    kept = [[message.content for message in history] for _, history in served.harness.asked]
    assert kept == [["said in party"], [], []]


async def test_message_and_history_reach_the_harness(served: Served) -> None:
    history = [{"role": "user", "content": "I am Ada."}, {"role": "assistant", "content": "Hello Ada."}]
    await ask(served, history=history)
    expected = (Message("user", "I am Ada."), Message("assistant", "Hello Ada."))
    assert served.harness.asked == [("What time is it?", expected)]


async def test_comments_keep_a_silent_stream_alive(served: Served) -> None:
    hold = asyncio.Event()
    served.harness.script = (STARTED, hold, FINISHED)
    async with connect(served.path) as client:
        await client.send(post('{"message": "x"}'))
        await client.until(b": keep-alive\n\n")
        await client.until(b": keep-alive\n\n")
        hold.set()
        await client.until(b"event: turn.finished\n")


async def test_failed_turn_is_an_event_or_a_status(served: Served) -> None:
    served.harness.script = (STARTED, LEVEL, TurnFailed("t1", "too_long", "Too long.", 413, (LEVEL.level,)))
    assert events((await ask(served)).text)[-1] == (
        "turn.failed",
        {
            "turn": "t1",
            "code": "too_long",
            "message": "Too long.",
            "status": 413,
            "levels": wire(LEVEL.as_dict()["level"]),
        },
    )
    reply = await ask(served, stream=False)
    assert (reply.status_code, reply.json()) == (413, {"error": {"code": "too_long", "message": "Too long."}})
    counts = served.turns.counts()
    assert (counts["refused"], counts["failed"]) == (2, 0), "it was the request's fault"
    assert [outcome.turn for outcome in served.ended] == ["t1", "t1"]


async def test_a_turn_ends_with_its_message_in_its_session(served: Served) -> None:
    await ask(served, session="s1")
    await ask(served)
    served.harness.open = {"t1": PENDING}
    await served.client.post("/v1/turns/t1/confirm", json={"confirm": True, "session": "s1"})
    messages, sessions = zip(*served.said, strict=True)
    assert messages[2] == PENDING.message
    assert (sessions[0], sessions[2]) == ("s1", "s1")
    assert re.fullmatch(r"[0-9a-f]{16}", sessions[1])


async def test_a_question_ends_a_turn_as_an_event_or_as_an_object_of_its_own_status(served: Served) -> None:
    served.harness.script = (STARTED, LEVEL, ASKED)
    assert events((await ask(served, confirm=["physical"])).text)[-1] == ("confirm", wire(ASKED.as_dict())[0])
    reply = await ask(served, stream=False)
    assert (reply.status_code, reply.json()) == (202, wire(ASKED.as_dict())[0])
    assert served.harness.needs_yes == [("physical",), ()]
    assert served.turns.counts()["asked"] == 2


@pytest.mark.parametrize("yes", [True, False])
async def test_the_answer_to_a_question_is_a_turn_and_is_taken_once(served: Served, yes: bool) -> None:
    served.harness.open["t1"] = PENDING
    reply = await served.client.post("/v1/turns/t1/confirm", json={"confirm": yes})
    assert [name for name, _ in events(reply.text)] == ["turn.started", "level", "text", "turn.finished"]
    assert served.harness.answered == [("t1", yes)]
    for stream in (True, False):
        reply = await served.client.post("/v1/turns/t1/confirm", json={"confirm": yes, "stream": stream})
        assert (reply.status_code, reply.json()["error"]["code"]) == (404, "not_open")
    assert served.turns.counts()["running"] == 0


@pytest.mark.parametrize(
    "body", ["{}", '{"confirm": 1}', '{"confirm": "yes"}', '{"confirm": true, "tool": 1}', "x"]
)
async def test_an_answer_is_a_plain_yes_or_no(served: Served, body: str) -> None:
    served.harness.open["t1"] = PENDING
    headers = {"content-type": "application/json"}
    reply = await served.client.post("/v1/turns/t1/confirm", content=body, headers=headers)
    assert (reply.status_code, reply.json()["error"]["code"]) == (400, "bad_request")
    assert '{"confirm": true}' in reply.json()["error"]["message"]
    assert served.harness.open, "the question stays open"


async def test_what_needs_a_yes_is_named_by_effect(served: Served) -> None:
    reply = await ask(served, confirm=["everything"])
    assert reply.status_code == 400
    assert "confirm" in reply.json()["error"]["message"]


async def test_engine_that_dies_is_a_503_and_the_next_turn_works(served: Served) -> None:
    served.harness.script = (STARTED, EngineDiedError("The engine was killed. Try again."))
    reply = await ask(served, stream=False)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "engine_died")
    assert int(reply.headers["retry-after"]) > 0
    served.harness.script = (STARTED, FINISHED)
    assert (await ask(served, stream=False)).status_code == 200


async def test_busy_engine_is_a_503_with_retry_after(served: Served) -> None:
    served.harness.script = (EngineBusyError("The queue is full.", 7.0),)
    reply = await ask(served, stream=False)
    assert (reply.status_code, reply.json()["error"]) == (
        503,
        {"code": "busy", "message": "The queue is full."},
    )
    assert "retry-after" in reply.headers


@pytest.mark.parametrize("stream", [True, False])
async def test_fault_in_the_harness_leaks_nothing_and_is_logged(
    served: Served, stream: bool, caplog: pytest.LogCaptureFixture
) -> None:
    served.harness.script = (STARTED, LEVEL, ZeroDivisionError("secret"))
    reply = await ask(served, stream=stream)
    assert "secret" not in reply.text
    if stream:
        name, last = events(reply.text)[-1]
        assert (name, last["code"], last["status"]) == ("turn.failed", "internal", 500)
        assert last["levels"] == wire(LEVEL.as_dict()["level"])
    else:
        assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert "ZeroDivisionError: secret" in caplog.text


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("error", [SystemExit(3), asyncio.CancelledError(), BaseException("b")], ids=repr)
async def test_turn_that_ends_by_any_exception_has_failed_and_was_not_left_by_its_client(
    served: Served, stream: bool, error: BaseException
) -> None:
    served.harness.script = (STARTED, error)
    reply = await ask(served, stream=stream)
    if stream:
        name, last = events(reply.text)[-1]
        assert (name, last["code"]) == ("turn.failed", "internal")
    else:
        assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    counts = served.turns.counts()
    assert (counts["running"], counts["failed"], counts["cancelled"]) == (0, 1, 0)


async def test_turn_whose_answer_cannot_be_passed_on_has_failed(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.gateway.replies.encode_event", None)
    with pytest.raises(httpx.RemoteProtocolError):
        await ask(served, stream=True)
    counts = served.turns.counts()
    assert (counts["running"], counts["finished"] + counts["failed"], counts["cancelled"]) == (0, 1, 0)


async def test_anything_raised_outside_a_turn_has_the_one_shape(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def status() -> EngineStatus:
        raise asyncio.CancelledError

    monkeypatch.setattr(served.engine, "status", status)
    reply = await served.client.get("/v1/status")
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")


async def test_harness_that_ends_without_an_outcome_is_a_fault(served: Served) -> None:
    served.harness.script = (STARTED,)
    assert (await ask(served, stream=False)).json()["error"]["code"] == "internal"


async def test_fault_outside_a_turn_is_a_500_without_details(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(served.engine, "status", None)
    reply = await served.client.get("/v1/status")
    assert (reply.status_code, reply.json()["error"]["code"]) == (500, "internal")
    assert "NoneType" not in reply.text
    assert "NoneType" in caplog.text


async def test_turns_beyond_the_limit_are_refused_and_a_free_place_is_used(served: Served) -> None:
    hold = asyncio.Event()
    served.harness.script = (STARTED, hold, FINISHED)
    async with asyncio.TaskGroup() as group:
        running = [group.create_task(ask(served, stream=False)) for _ in range(LIMIT)]
        await served.counts(running=LIMIT)
        for stream in (True, False):
            refused = await ask(served, stream=stream)
            assert (refused.status_code, refused.json()["error"]["code"]) == (503, "busy")
            assert int(refused.headers["retry-after"]) > 0
        hold.set()
    assert [each.result().status_code for each in running] == [200] * LIMIT
    assert (await ask(served, stream=False)).status_code == 200


@pytest.mark.parametrize("stream", [True, False])
async def test_while_loading_a_turn_waits_a_while_and_is_told_to_come_back(
    served: Served, stream: bool
) -> None:
    served.health.__init__(served.engine)  # type: ignore[misc]  # a daemon that has just started
    served.health.enter("loading", "the model is loading")
    reply = await ask(served, stream=stream)
    assert (reply.status_code, reply.json()["error"]["code"]) == (503, "loading")
    assert int(reply.headers["retry-after"]) > 0
    assert served.harness.asked == []


async def test_status_says_everything_while_it_runs(served: Served) -> None:
    status = (await served.client.get("/v1/status")).json()
    assert status["engine"]["state"] == "ready"
    assert status["prompts"] == {"ready": 9, "all": 14}, "what other parts add"
    assert status["uptime_s"] >= 0
    fixed = {key: status[key] for key in ("version", "state", "reason", "pid", "socket", "model", "turns")}
    assert fixed == {
        "version": muleteer.__version__,
        "state": "ready",
        "reason": "",
        "pid": os.getpid(),
        "socket": str(served.path),
        "model": "standard",
        "turns": dict.fromkeys(
            ("running", "waiting", "finished", "asked", "refused", "failed", "cancelled"), 0
        ),
    }


async def test_status_names_the_loaded_model(served: Served) -> None:
    properties = Properties("qwen", "/m.gguf", 1, 4096, 32768, 9, True, True, 1, 4, "AVX2", True, 1.0)
    assert (await served.client.get("/v1/status")).json()["reuse"] is None
    totals = Use(prompt=1000, reused=875, decoded=125)
    served.engine.now = EngineStatus("ready", properties=properties, totals=totals)
    status = (await served.client.get("/v1/status")).json()
    assert status["reuse"] == 0.875
    assert (status["model"], status["engine"]["properties"]["build"]) == ("qwen", "AVX2")


async def test_healthz_is_200_only_when_a_turn_can_be_served(served: Served) -> None:
    assert (await served.client.get("/healthz")).json() == {"state": "ready"}
    served.engine.now = EngineStatus("restarting", reason="The engine was killed.")
    reply = await served.client.get("/healthz")
    assert reply.status_code == 503
    assert reply.json()["error"]["message"] == "No turn can be served now (degraded): The engine was killed."


async def test_skills_with_their_tools_and_the_disabled_with_their_reason(served: Served) -> None:
    hours, lost = (await served.client.get("/v1/skills")).json()["skills"]
    assert hours == {
        "name": "hours",
        "handle": "hours",
        "origin": str(served.path.parent / "skills"),
        "on_disk": "hours",
        "tokens": {"planner": 30, "follower": 200, "agent": 0},
        "description": "About hours.",
        "state": "enabled",
        "reason": "",
        "examples": ["when is it"],
        "tools": ["clock"],
        "schedule": "",
    }
    assert (lost["name"], lost["state"]) == ("lost", "disabled")
    assert "nowhere" in lost["reason"]


async def test_tools_and_the_disabled_with_their_reason(served: Served) -> None:
    broken, clock = (await served.client.get("/v1/tools")).json()["tools"]
    assert clock == {
        "name": "clock",
        "origin": str(served.path.parent / "tools"),
        "on_disk": "clock",
        "tokens": None,
        "handle": "clock",
        "description": "Tell the time.",
        "effect": "read",
        "menu": True,
        "hidden": False,
        "network": False,
        "state": "enabled",
        "reason": "",
    }
    assert (broken["name"], broken["handle"], broken["state"]) == ("broken", "broken", "disabled")
    assert (broken["origin"], broken["tokens"]) == (clock["origin"], None)
    assert "nothing_of_that_name" in broken["reason"]


async def test_stop_gives_every_stream_a_last_event_and_every_object_a_status(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.harness.script = (STARTED, LEVEL, asyncio.Event())
    async with connect(served.path) as stream, connect(served.path) as single:
        await stream.send(post('{"message": "x"}'))
        await stream.until(b"event: level\n")
        await single.send(post('{"message": "x", "stream": false}'))
        await within(served.harness.waiting)
        await served.counts(running=2)
        served.health.enter("stopping", "the daemon is stopping")
        served.turns.stop()
        with caplog.at_level(logging.WARNING):
            await served.server.stop(5.0)
        ending = (await stream.rest()).decode()
        assert '"code":"shutting_down"' in ending
        assert '"levels":[{"name":"plan"' in ending
        assert ending.endswith("}\n\n\r\n0\r\n\r\n")
        status, _, body = await single.reply()
        assert (status, await single.rest()) == (503, b"")
        assert body == {
            "error": {
                "code": "shutting_down",
                "message": "The daemon is stopping; ask again when it is back.",
            }
        }
    assert "cut off" not in caplog.text
