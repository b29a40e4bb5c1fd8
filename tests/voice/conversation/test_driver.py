"""The conversation on scripted parts, in virtual time: what is heard, asked, said and stopped."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from muleteer.errors import SocketError
from muleteer.voice.conversation.deeds import Chime
from muleteer.voice.conversation.house import Told
from muleteer.voice.parts import FRAME_SECONDS, PartGone
from tests.voice.conversation.scripted import Scene, running, says

QUESTION: Told = ("confirm", {"turn": "t1", "question": "Shall I open the gate?"})


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    async with running(Scene()) as made:
        yield made


async def test_from_the_wake_word_to_the_answer_and_a_follow_up(scene: Scene) -> None:
    scene.home.turns = [says("It is noon."), says("It is seven.")]
    await scene.microphone.wake()
    await scene.says("What time is it in Rome?")
    await scene.until("speaking")
    await scene.until("listening")
    await scene.says("And in Tokyo?")
    await scene.until("speaking")
    await scene.until("listening")
    await scene.until("waiting")
    assert scene.home.asked == ["What time is it in Rome?", "And in Tokyo?"]
    assert scene.speaker.heard == ["It is noon.", "It is seven."]
    assert scene.home.warmed == 2
    assert scene.recognizer.names == ["Hey Jarvis", "garden pump"], "its end is in what is heard"
    assert scene.home.stopped == 0


async def test_the_wake_word_begins_anew_when_the_conversation_is_over(scene: Scene) -> None:
    """A satellite that hears its own wake word waits for that before it stops sending sound."""
    scene.home.turns = [says("It is noon.")]
    await scene.microphone.wake()
    await scene.says("What time is it in Rome?")
    await scene.until("listening")
    assert scene.wake_word.resets == 0
    await scene.until("waiting")
    assert scene.wake_word.resets == 1


async def test_the_text_is_there_when_the_utterance_ends(scene: Scene) -> None:
    """Recognition takes as long as what is left of the pause, and costs nothing."""
    scene.home.turns = [says("It is noon.")]
    scene.recognizer.seconds = 0.4
    await scene.microphone.wake()
    scene.recognizer.script.append("What time is it?")
    await scene.microphone.hears((2, 1.0), (0, scene.conversation.manners.limits.pause + FRAME_SECONDS))
    await asyncio.sleep(0.02)
    assert scene.home.asked == ["What time is it?"]


async def test_the_next_sentence_follows_without_a_gap(scene: Scene) -> None:
    scene.home.turns = [says("One two three.", "Four five six.", "Seven.")]
    await scene.microphone.wake()
    await scene.says("Count to seven, please.")
    await scene.until("speaking")
    began = asyncio.get_running_loop().time()
    await scene.until("listening")
    assert asyncio.get_running_loop().time() - began == pytest.approx(7 * 0.3, abs=0.1)
    assert scene.speaker.heard == ["One two three.", "Four five six.", "Seven."]


async def test_the_wake_word_stops_the_answer_at_once_and_frees_the_engine(scene: Scene) -> None:
    scene.home.turns = [[*says("Once upon a time there was a mule.")[:-1], 60.0], says("It is noon.")]
    await scene.microphone.wake()
    await scene.says("Tell me a story.")
    await scene.until("speaking")
    await scene.microphone.wake()
    await asyncio.sleep(0.05)
    assert scene.speaker.cut == ["Once upon a time there was a mule."]
    assert scene.home.stopped == 1
    await scene.says("What time is it?")
    await scene.until("speaking")
    await scene.until("listening")
    assert scene.speaker.heard == ["It is noon."]


async def test_speech_stops_it_where_that_is_wished() -> None:
    async with running(Scene(replace(Scene().manners, barge_in="speech"))) as scene:
        scene.home.turns = [[*says("Once upon a time there was a mule.")[:-1], 60.0], says("It is noon.")]
        await scene.microphone.wake()
        await scene.says("Tell me a story.")
        await scene.until("speaking")
        await scene.says("What time is it?")
        assert scene.speaker.cut == ["Once upon a time there was a mule."]
        await scene.until("speaking")
        await scene.until("listening")
    assert scene.home.asked == ["Tell me a story.", "What time is it?"]


async def test_a_question_is_answered_by_voice(scene: Scene) -> None:
    scene.home.turns = [[QUESTION], says("The gate is open.")]
    await scene.microphone.wake()
    await scene.says("Open the gate.")
    await scene.until("speaking")
    await scene.until("listening")
    await scene.says("Yes, please.", 0.4)
    await scene.until("speaking")
    await scene.until("listening")
    assert scene.home.confirmed == [("t1", True)]
    assert scene.speaker.heard == ["Shall I open the gate?", "The gate is open."]


async def test_a_timer_rings_and_is_stopped_by_a_word(scene: Scene) -> None:
    scene.home.happens.put_nowait(("timer.rang", {"kind": "timer", "label": "pasta"}))
    await asyncio.sleep(4.0)
    assert scene.speaker.heard == ["(tone)", "Your timer is up: pasta."]
    await scene.says("Stop!", 0.3)
    await asyncio.sleep(60.0)
    assert scene.home.silenced == 1
    assert len(scene.speaker.heard) <= 4


async def test_muted_the_microphone_is_let_go_and_no_frame_is_taken(scene: Scene) -> None:
    await scene.microphone.wake()
    scene.recognizer.script.append("never")
    listening = asyncio.create_task(scene.microphone.hears((2, 0.5)))
    await listening
    scene.driver.mute(True)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    taken = scene.microphone.taken
    assert not scene.microphone.open
    await asyncio.sleep(30.0)
    assert scene.microphone.taken == taken
    assert scene.microphone.opened == 1
    scene.driver.mute(False)
    await asyncio.sleep(1.0)
    assert scene.microphone.open
    assert not scene.recognizer.heard, "what was being said before is gone"
    scene.home.turns = [says("It is noon.")]
    scene.recognizer.script.clear()
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("speaking")
    assert {3} & set(scene.recognizer.heard[-1]) == set()


async def test_a_microphone_that_vanishes_is_waited_for(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    await asyncio.sleep(1.0)
    scene.microphone.gone = True
    await asyncio.sleep(300.0)
    assert scene.driver.microphone_gone == "The microphone was unplugged."
    assert caplog.text.count("Nothing is heard") == 1, "said once"
    assert scene.microphone.opened < 20, "tried more and more seldom"
    scene.microphone.gone = False
    await asyncio.sleep(60.0)
    assert scene.driver.microphone_gone == ""
    scene.home.turns = [says("It is noon.")]
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("speaking")


async def test_a_speaker_that_vanishes_does_not_end_the_conversation(scene: Scene) -> None:
    scene.home.turns = [says("It is noon."), says("It is one.")]
    scene.speaker.gone = True
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("waiting")
    scene.speaker.gone = False
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("speaking")
    await scene.until("listening")
    assert scene.speaker.heard == ["It is one."]


async def test_a_recogniser_that_dies_is_asked_again_when_it_is_back(scene: Scene) -> None:
    scene.home.turns = [says("It is noon.")]
    await scene.microphone.wake()
    scene.recognizer.script = [PartGone("It died.")]
    await scene.says("What time is it?")
    await scene.until("speaking")
    await scene.until("listening")
    assert scene.speaker.heard == ["It is noon."]


async def test_a_recogniser_that_stays_away_is_said(scene: Scene) -> None:
    await scene.microphone.wake()
    scene.recognizer.script = [PartGone("It died.")] * 3
    await scene.microphone.utterance()
    await scene.until("speaking")
    await scene.until("waiting")
    assert scene.speaker.heard == ["I cannot understand speech right now."]


async def test_a_daemon_that_is_gone_is_said(scene: Scene) -> None:
    scene.home.turns = [[SocketError("No daemon answers on /run/x; start one with `muleteer serve`.")]]
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("speaking")
    await scene.until("listening")
    (said,) = scene.speaker.heard
    assert "muleteer serve" not in said
    assert said.startswith("I cannot think right now")


async def test_a_voice_that_fails_is_no_end(scene: Scene) -> None:
    scene.home.turns = [says("It is noon.")]
    scene.speech.gone = True
    await scene.microphone.wake()
    await scene.says("What time is it?")
    await scene.until("speaking")
    await scene.until("waiting")


async def test_a_turn_that_takes_long_is_heard_to_be_going_on() -> None:
    async with running(Scene(replace(Scene().manners, tones=True))) as scene:
        scene.home.turns = [[3.0, *says("It is noon.")]]
        await scene.microphone.wake()
        await scene.says("What time is it?")
        await scene.until("speaking")
        await scene.until("listening")
        tones = [each.tone for each in scene.deeds if isinstance(each, Chime)]
    assert tones == ["thinking"]
    assert scene.speaker.heard == ["(tone)", "It is noon."]


async def test_what_was_said_is_kept_only_by_who_is_given_it(scene: Scene) -> None:
    scene.home.turns = [says("It is noon.")]
    await scene.microphone.hears((2, 3.0), (0, 1.0))
    assert not scene.kept, "what nobody asked for"
    await scene.microphone.wake()
    await scene.says("What time is it?")
    assert len(scene.kept) == 1


async def test_two_minutes_of_silence_are_quiet(scene: Scene) -> None:
    began = time.perf_counter()
    await asyncio.sleep(120.0)
    assert not scene.deeds
    assert time.perf_counter() - began < 60.0, "6,000 frames"
