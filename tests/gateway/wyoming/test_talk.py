"""What is said, and what is answered, with the protocol's own client."""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import replace
from pathlib import Path

import pytest
from wyoming.asr import Transcript
from wyoming.client import AsyncClient
from wyoming.handle import Handled
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong

from muleteer.engine.protocol import Message
from muleteer.errors import EngineError
from muleteer.gateway.wyoming.connection import Limits
from muleteer.harness.events import CallUse, TextDelta, TurnFinished
from muleteer.harness.phrases import phrases
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
from tests.gateway.wyoming.conftest import Voice, gone, heard, say, serving

DONE = replace(FINISHED, answer="Done.")


def finished(answer: str, *statuses: str) -> TurnFinished:
    calls = tuple(CallUse("switch", status, 1.0) for status in statuses)  # type: ignore[arg-type]
    return replace(FINISHED, answer=answer, calls=calls)


def clients(voice: Voice) -> list[AsyncClient]:
    return [voice.tcp(), voice.unix()]


@pytest.mark.parametrize("which", [0, 1], ids=["tcp", "unix"])
async def test_what_is_said_is_answered_whole_and_in_sentences(voice: Voice, which: int) -> None:
    voice.harness.script = (
        STARTED,
        TextDelta("It is noon. The la"),
        TextDelta("mp is on."),
        LEVEL,
        finished("It is noon. The lamp is on."),
    )
    async with clients(voice)[which] as client:
        events = await say(client, " What time is it? ", "kitchen")
    assert [each.type for each in events] == [
        "handled-start",
        "handled-chunk",
        "handled-chunk",
        "handled",
        "handled-stop",
    ]
    assert [each.data["text"] for each in events[1:4]] == [
        "It is noon. ",
        "The lamp is on.",
        "It is noon. The lamp is on.",
    ]
    assert events[0].data == {"context": {"conversation_id": "kitchen"}}
    assert events[3].data["context"] == {"conversation_id": "kitchen"}
    assert [message for message, _ in voice.harness.asked] == ["What time is it?"]


async def test_the_service_is_described_at_once_even_while_the_model_loads(voice: Voice) -> None:
    voice.health.enter("loading", "the model is loading")
    voice.health._settled.clear()
    async with voice.tcp() as client:
        await client.write_event(Describe().event())
        event = await heard(client)
        assert event is not None
        (program,) = Info.from_event(event).handle
        assert (program.name, program.installed) == ("Muleteer 3f7a", True)
        assert program.supports_handled_streaming
        assert program.supports_home_control
        assert [(each.name, each.languages[:2]) for each in program.models] == [("standard", ["en", "de"])]
        (refused,) = await say(client, "hello")
        assert refused.type == "not-handled"
        assert refused.data["text"] == "Not ready yet: the model is loading; ask again soon."


async def test_questions_about_the_service_do_not_wait_for_an_answer(voice: Voice) -> None:
    go_on = asyncio.Event()
    voice.harness.script = (STARTED, go_on, TEXT, FINISHED)
    async with voice.tcp() as client:
        saying = asyncio.create_task(say(client, "hello"))
        await within(voice.harness.waiting)
        saying.cancel()
        await asyncio.wait({saying})
        await client.write_event(Ping("still there?").event())
        event = await heard(client)
        assert event is not None
        assert Pong.from_event(event).text == "still there?"
        go_on.set()
        while not Handled.is_type(event.type):
            event = await heard(client)
            assert event is not None
        assert event.data["text"] == FINISHED.answer


@pytest.mark.parametrize(
    ("answer", "statuses", "handled"),
    [
        ("Hello!", (), True),
        ("The lamp is on.", ("ok",), True),
        ("There is no note about that.", ("empty",), True),
        ("One worked.", ("error", "ok"), True),
        ("The sensor does not answer.", ("unavailable",), False),
        ("It failed.", ("error", "error"), False),
        (phrases("de").no_skill, (), False),
        (phrases("en").floor, ("empty",), False),
        (phrases("tr").unmet.format(clause="x"), ("ok",), False),
    ],
)
async def test_handled_is_only_what_something_came_of(
    voice: Voice, answer: str, statuses: tuple[str, ...], handled: bool
) -> None:
    voice.harness.script = (STARTED, TextDelta(answer), finished(answer, *statuses))
    async with voice.tcp() as client:
        events = await say(client, "lamp on")
    last = [each for each in events if each.type in ("handled", "not-handled")]
    assert [(each.type, each.data["text"]) for each in last] == [
        ("handled" if handled else "not-handled", answer)
    ]


async def test_a_turn_that_fails_says_why_and_the_next_one_works(voice: Voice) -> None:
    voice.harness.script = (STARTED, TextDelta("It is. And"), EngineError("The engine is broken."))
    async with voice.tcp() as client:
        events = await say(client, "hello")
        assert [each.type for each in events] == [
            "handled-start",
            "handled-chunk",
            "not-handled",
            "handled-stop",
        ]
        assert events[2].data["text"] == "The engine is broken."
        voice.harness.script = ScriptedHarness().script
        assert (await say(client, "again"))[-2].data["text"] == FINISHED.answer


@pytest.mark.parametrize("said", ["", "  ", "\0", "a" * (64 * 1024 - 200) + "é" * 200])
async def test_nothing_and_too_much_is_no_turn(voice: Voice, said: str) -> None:
    async with voice.tcp() as client:
        (event,) = await say(client, said)
    assert event.type == "not-handled"
    assert voice.harness.asked == []


async def test_a_conversation_goes_on_over_connections_and_is_its_clients_alone(voice: Voice) -> None:
    async with voice.tcp() as client:
        await say(client, "What time is it in Rome?", "c1")
    (session,) = voice.remembered
    assert len(session) == 16, "like that of a conversation without a name"
    voice.remembered[session].append(Message("user", "What time is it in Rome?"))
    async with voice.tcp() as client:
        await say(client, "And in Tokyo?", "c1")
        await say(client, "And in Tokyo?", "c2")
    async with voice.unix() as client:
        await say(client, "And in Tokyo?", "c1")
    told = [[each.content for each in history] for _, history in voice.harness.asked]
    assert told == [[], ["What time is it in Rome?"], [], []]


async def test_nobody_can_work_out_the_session_of_a_conversation(folder: Path) -> None:
    """Whoever has its name may read it; all that it is made of, but for the secret, is easily known."""
    sessions: list[str] = []
    for start in ("first", "second"):
        (folder / start).mkdir()
        async with serving(folder / start, Limits()) as voice, voice.tcp() as client:
            await say(client, "What time is it in Rome?", "c1")
            await say(client, "And in Tokyo?", "c1")
            sessions += voice.remembered
    first, second = sessions
    assert first != second
    assert hashlib.sha256(b"127.0.0.1\0c1").hexdigest()[:16] not in sessions


async def test_without_a_conversation_a_connection_is_one(voice: Voice) -> None:
    async with voice.tcp() as client:
        events = await say(client, "What time is it in Rome?")
        await say(client, "And in Tokyo?")
    assert len(voice.remembered) == 1
    async with voice.tcp() as client:  # the context that was answered leads on
        await say(client, "And in Paris?", events[0].data["context"]["conversation_id"])
        assert len(voice.remembered) == 1
        await say(client, "hello")
    assert len(voice.remembered) == 2


@pytest.mark.parametrize(("said", "yes"), [("Yes, please.", True), ("Nein.", False)])
async def test_a_question_is_asked_and_the_answer_taken_on_any_connection(
    voice: Voice, said: str, yes: bool
) -> None:
    voice.harness.script = (STARTED, ASKED)
    async with voice.tcp() as client:
        events = await say(client, "lamp on", "kitchen")
    assert [each.type for each in events] == ["handled-start", "handled-chunk", "handled", "handled-stop"]
    assert events[2].data["text"] == ASKED.question
    voice.harness.script = (STARTED, TextDelta("Done."), DONE)
    async with voice.tcp() as client:
        assert (await say(client, said, "kitchen"))[-2].data["text"] == "Done."
        assert voice.harness.answered == [("t1", yes)]
        await say(client, "Yes", "kitchen")  # it is answered: that is something new
    assert [message for message, _ in voice.harness.asked] == ["lamp on", "Yes"]


@pytest.mark.parametrize("before", ["The door is shut.", "The door is shut. ", "The door is shut.\n"])
async def test_what_was_done_before_the_question_is_said_with_it(voice: Voice, before: str) -> None:
    voice.harness.script = (STARTED, TextDelta(before), ASKED)
    async with voice.tcp() as client:
        events = await say(client, "shut the door and turn on the lamp")
    whole = events[-2].data["text"]
    assert whole.split() == ["The", "door", "is", "shut.", "Shall", "I?"]
    assert "".join(each.data["text"] for each in events[1:-2]) == whole


async def test_a_yes_elsewhere_and_another_request_leave_a_question_alone(voice: Voice) -> None:
    voice.harness.script = (STARTED, ASKED)
    async with voice.tcp() as client:
        await say(client, "lamp on", "kitchen")
        await say(client, "yes", "bathroom")
        await say(client, "What time is it?", "kitchen")
        await say(client, "yes, but the other lamp", "kitchen")
    assert voice.harness.answered == []
    assert [message for message, _ in voice.harness.asked][1:] == [
        "yes",
        "What time is it?",
        "yes, but the other lamp",
    ]


async def test_a_question_that_is_not_open_any_more_says_so(voice: Voice) -> None:
    voice.harness.script = (STARTED, ASKED)
    async with voice.tcp() as client:
        await say(client, "lamp on")
        voice.harness.open.clear()
        (event,) = await say(client, "yes")
    assert event.type == "not-handled"
    assert "open" in event.data["text"]


async def test_who_leaves_ends_the_turn(voice: Voice) -> None:
    voice.harness.script = (STARTED, asyncio.Event(), FINISHED)
    async with voice.tcp() as client:
        saying = asyncio.create_task(say(client, "hello"))
        await within(voice.harness.waiting)
        saying.cancel()
    await within(voice.harness.freed)


async def test_a_stop_in_the_middle_is_told(voice: Voice) -> None:
    voice.harness.script = (STARTED, TextDelta("One. Two"), asyncio.Event(), FINISHED)
    async with voice.tcp() as client:
        saying = asyncio.create_task(say(client, "count"))
        await within(voice.harness.waiting)
        voice.turns.stop()
        async with asyncio.timeout(DEADLINE):
            events = await saying
        assert [each.type for each in events][-2:] == ["not-handled", "handled-stop"]
        assert "stopping" in events[-2].data["text"]
        async with asyncio.timeout(DEADLINE):
            await voice.listening.stop(1000.0)  # nobody has to leave for it
            assert await heard(client) is None


async def test_a_fault_of_ours_ends_the_connection_and_is_logged(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def forgetful(session: str) -> list[Message]:
        raise LookupError("no such thing")

    async with serving(folder, Limits(), forgetful) as voice:
        async with voice.tcp() as client:
            await client.write_event(Transcript("hello").event())
            await gone(client)
        async with voice.tcp() as client:
            await client.write_event(Describe().event())
            assert await heard(client) is not None
    assert "no such thing" in caplog.text
