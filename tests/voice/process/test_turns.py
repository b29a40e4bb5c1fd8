"""A conversation with a real gateway: what is said becomes turns, and what ends them frees the engine."""

from __future__ import annotations

import asyncio

from muleteer.harness.events import TextDelta
from tests.gateway.scripted import ASKED, FINISHED, STARTED, within
from tests.voice.conversation.scripted import Scene, running
from tests.voice.process.conftest import Daemon

NOON = TextDelta("It is noon. ")


async def test_what_is_said_is_a_turn_and_its_answer_is_heard(daemon: Daemon, scene: Scene) -> None:
    daemon.harness.script = (STARTED, NOON, TextDelta("Have a nice meal."), FINISHED)
    async with running(scene):
        await scene.microphone.wake()
        await scene.says("What time is it?")
        await scene.until("speaking")
        await scene.until("listening")
    assert daemon.harness.asked == [("What time is it?", ())]
    assert scene.speaker.heard == ["It is noon.", "Have a nice meal."]
    assert len(daemon.brain.warmed) == 1, "the planner's prompt, while somebody spoke"
    assert daemon.turns.counts()["finished"] == 1


async def test_the_first_sentence_is_heard_before_the_answer_is_whole(daemon: Daemon, scene: Scene) -> None:
    never = asyncio.Event()
    daemon.harness.script = (STARTED, NOON, never, FINISHED)
    async with running(scene):
        await scene.microphone.wake()
        await scene.says("What time is it?")
        await scene.until("speaking")
        assert not daemon.harness.freed.is_set()
        await scene.microphone.wake()
        await within(daemon.harness.freed)
    assert scene.speaker.cut == ["It is noon."] or scene.speaker.heard == ["It is noon."]
    assert daemon.turns.counts()["cancelled"] == 1


async def test_a_turn_that_has_said_nothing_is_stopped_as_well(daemon: Daemon, scene: Scene) -> None:
    daemon.harness.script = (STARTED, asyncio.Event(), FINISHED)
    async with running(scene):
        await scene.microphone.wake()
        await scene.says("What is the meaning of life?")
        await within(daemon.harness.waiting)
        await scene.microphone.wake()
        await within(daemon.harness.freed)
        await scene.says("Stop.")
        await scene.until("waiting")
    assert len(daemon.harness.asked) == 1


async def test_a_question_is_answered_over_the_confirm_route(daemon: Daemon, scene: Scene) -> None:
    daemon.harness.script = (STARTED, ASKED)
    async with running(scene):
        await scene.microphone.wake()
        await scene.says("Turn on the lamp.")
        await scene.until("speaking")
        await scene.until("listening")
        daemon.harness.script = (STARTED, NOON, FINISHED)
        await asyncio.sleep(0.3)  # the room's own tail, by the clock
        await scene.says("Yes, please.", 0.4)
        await scene.until("speaking")
        await scene.until("listening")
    assert daemon.harness.answered == [("t1", True)]
    assert scene.speaker.heard == ["Shall I?", "It is noon."]


async def test_a_timer_rings_here_and_is_silenced_everywhere(daemon: Daemon, scene: Scene) -> None:
    async with running(scene):
        with daemon.broadcast.listen() as listener:
            while len(daemon.broadcast._listeners) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
            daemon.broadcast.publish("timer.rang", {"kind": "timer", "label": "tea"})
            notice = await listener.next()
            while len(scene.speaker.heard) < 2:  # noqa: ASYNC110  (the tone, and what it is)
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.3)
            await scene.says("Stop!", 0.3)
            notice = await listener.next()
    assert notice is not None
    assert notice.name == "timer.silenced"
    assert scene.speaker.heard == ["(tone)", "Your timer is up: tea."]


async def test_a_daemon_that_is_away_is_said_and_found_again(daemon: Daemon, scene: Scene) -> None:
    async with running(scene):
        await daemon.stop()
        await scene.microphone.wake()
        await scene.says("What time is it?")
        await scene.until("speaking")
        await scene.until("listening")
        assert scene.speaker.heard[0].startswith("I cannot think right now")
        await daemon.start()
        daemon.harness.script = (STARTED, NOON, FINISHED)
        await scene.microphone.wake()
        await scene.says("What time is it?")
        await scene.until("speaking")
        await scene.until("listening")
    assert scene.speaker.heard[-1] == "It is noon."
