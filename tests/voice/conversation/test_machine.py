"""What the conversation does, in virtual time: no part, no clock, no daemon."""

from __future__ import annotations

import pytest

from muleteer.voice.conversation import times
from muleteer.voice.conversation.deeds import (
    Answer,
    Ask,
    Cancel,
    Chime,
    Hush,
    Keep,
    Recognize,
    Speak,
    Warm,
)
from muleteer.voice.conversation.ear import BEFORE, EARLY
from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS
from tests.voice.conversation.talk import Talk, voice

QUESTION = {"turn": "t7", "question": "Shall I open the gate?"}


@pytest.fixture
def talk() -> Talk:
    return Talk()


def test_nothing_that_is_said_before_the_wake_word_is_recognised(talk: Talk) -> None:
    talk.speaks(5.0)
    talk.pass_(2.0)
    assert not talk.deeds
    assert talk.machine.due is None, "an idle conversation waits for nothing"


def test_a_turn_from_the_wake_word_to_the_answer_that_is_heard_out(talk: Talk) -> None:
    talk.wake()
    talk.says("What time is it?")
    talk.told("text", text="It is noon. ")
    talk.told("text", text="Have a nice meal.")
    assert talk.spoken() == ["It is noon."], "a sentence is said before the answer is whole"
    talk.told("turn.finished", answer="")
    assert [type(each) for each in talk.new()] == [Recognize, Ask, Speak, Speak]
    assert talk.spoken() == ["It is noon.", "Have a nice meal."]
    assert talk.phase == "speaking"
    talk.pass_(1.2)
    assert talk.phase == "listening"
    talk.pass_(talk.manners.follow_up + 1)
    assert talk.phase == "waiting"


def test_the_first_word_after_the_wake_word_is_not_cut(talk: Talk) -> None:
    """Somebody speaks on without a pause, and the detector is late by a quarter of a second."""
    talk.speaks(0.6, mark=1)
    talk.pass_(0.24, 0.9, voice(2), "hey_jarvis")
    talk.speaks(1.0, mark=3)
    talk.pass_(0.8)
    (heard,) = talk.all(Recognize)
    assert heard.pcm.count(2) == 12 * FRAME_BYTES, "what was said while the detector thought"
    assert heard.pcm.count(1) <= 2 * FRAME_BYTES, "and next to nothing of the wake word"
    assert heard.pcm.count(3) == 50 * FRAME_BYTES
    assert len(heard.pcm) <= (1.0 + BEFORE + EARLY + 0.05) / FRAME_SECONDS * FRAME_BYTES
    talk.recognized("Hey Jervis, what time is it?")
    assert talk.all(Ask)[0].text == "what time is it?"


def test_recognition_begins_in_the_pause_and_counts_if_nobody_goes_on(talk: Talk) -> None:
    talk.wake()
    talk.speaks()
    talk.pass_(EARLY + 0.05)
    (heard,) = talk.all(Recognize)
    talk.recognized("Turn on the lamp.")
    assert not talk.all(Ask), "somebody may still go on"
    talk.pass_(0.5)
    assert [each.text for each in talk.all(Ask)] == ["Turn on the lamp."]
    assert talk.all(Recognize) == [heard], "what there is was not recognised twice"
    assert talk.all(Keep)[0].pcm.startswith(heard.pcm)


def test_who_goes_on_after_a_pause_is_recognised_whole(talk: Talk) -> None:
    talk.wake()
    talk.speaks(mark=2)
    talk.pass_(0.4)
    talk.recognized("Turn on the lamp")
    talk.speaks(mark=3)
    talk.pass_(0.8)
    talk.recognized("Turn on the lamp and the heater.")
    assert [each.text for each in talk.all(Ask)] == ["Turn on the lamp and the heater."]
    assert {2, 3} <= set(talk.all(Recognize)[-1].pcm)


def test_who_goes_on_after_the_end_takes_back_what_was_begun(talk: Talk) -> None:
    talk.wake()
    talk.says("Set a timer for ten")
    talk.speaks(mark=3)
    assert [type(each) for each in talk.new()] == [Recognize, Ask, Cancel]
    talk.pass_(0.8)
    talk.recognized("Set a timer for ten minutes")
    assert talk.all(Ask)[-1].text == "Set a timer for ten minutes"


def test_who_calls_right_after_the_end_and_says_stop_has_stopped_it(talk: Talk) -> None:
    talk.wake()
    talk.says("Tell me a story")
    talk.wake()
    assert len(talk.all(Cancel)) == 1
    talk.says("Stop!")
    assert len(talk.all(Ask)) == 1
    assert talk.phase == "waiting"


def test_what_was_done_is_not_taken_back(talk: Talk) -> None:
    talk.wake()
    talk.says("Set a timer for ten minutes")
    talk.told("call.started", tool="timer")
    talk.speaks()
    assert not talk.all(Cancel)


def test_a_sentence_that_breaks_off_is_waited_for(talk: Talk) -> None:
    talk.wake()
    talk.says("Set a timer for.")
    assert not talk.all(Ask)
    talk.pass_(times.PATIENCE)
    assert [each.text for each in talk.all(Ask)] == ["Set a timer for."], "and taken as it is in the end"


def test_an_utterance_without_an_end_has_one(talk: Talk) -> None:
    talk.wake()
    talk.speaks(talk.manners.limits.longest + 1)
    (heard,) = talk.all(Recognize)
    assert len(heard.pcm) == talk.manners.limits.longest / FRAME_SECONDS * FRAME_BYTES


def test_who_says_nothing_after_the_wake_word_is_not_waited_for(talk: Talk) -> None:
    talk = talk.with_(tones=True)
    talk.wake()
    talk.pass_(times.WAKE + 0.1)
    assert [each.tone for each in talk.all(Chime)] == ["listening", "over"]
    assert talk.phase == "waiting"
    assert not talk.all(Recognize)


def test_a_noise_gets_one_more_try(talk: Talk) -> None:
    talk.wake()
    talk.says("")
    assert talk.phase == "listening"
    talk.says("")
    assert talk.phase == "waiting"
    assert not talk.all(Ask)


def test_a_follow_up_needs_no_wake_word(talk: Talk) -> None:
    talk.wake()
    talk.says("What time is it in Rome?")
    talk.answers("It is noon.")
    talk.pass_(2.0)
    talk.says("And in Tokyo?")
    talk.answers("It is seven in the evening.")
    assert [each.text for each in talk.all(Ask)] == ["What time is it in Rome?", "And in Tokyo?"]
    talk.pass_(talk.manners.follow_up + 2.0)
    talk.speaks()
    talk.pass_(1.0)
    assert len(talk.all(Recognize)) == 2, "later it does"


def test_the_prefix_is_warmed_while_somebody_speaks(talk: Talk) -> None:
    talk.wake()
    assert len(talk.all(Warm)) == 1
    talk.says("What time is it in Rome?")
    talk.answers("It is noon.")
    talk.pass_(1.5)
    talk.speaks(0.5)
    assert len(talk.all(Warm)) == 2, "a follow-up as well, once each"


def test_the_wake_word_stops_the_answer_and_frees_the_engine(talk: Talk) -> None:
    talk.wake()
    talk.says("Tell me a story")
    talk.told("text", text="Once upon a time there was a mule. It ")
    talk.speaks(1.0)  # the loudspeaker's own voice
    assert not talk.all(Hush)
    talk.new()
    talk.wake()
    assert [type(each) for each in talk.new()] == [Cancel]
    talk.told("text", text="was very stubborn. And so on.")
    assert talk.spoken() == ["Once upon a time there was a mule."], "the turn that was stopped says no more"
    talk.says("Stop.")
    assert len(talk.all(Ask)) == 1, "stop has had its way"
    assert talk.phase == "waiting"


def test_speech_stops_the_answer_where_the_settings_say_so(talk: Talk) -> None:
    talk = talk.with_(barge_in="speech")
    talk.lasts = 3.0
    talk.wake()
    talk.says("Tell me a story")
    talk.told("text", text="Once upon a time there was a mule. It ")
    talk.pass_(0.5)
    talk.new()
    talk.speaks(0.3, mark=4)
    assert [type(each) for each in talk.new()] == [Cancel, Hush]
    talk.speaks(0.5, mark=5)
    talk.pass_(0.8)
    assert {4, 5} <= set(talk.all(Recognize)[-1].pcm), "what stopped it was the beginning of a sentence"
    talk.recognized("What time is it?")
    assert talk.all(Ask)[-1].text == "What time is it?"


@pytest.mark.parametrize(("said", "yes"), [("Yes, please.", True), ("No!", False)])
def test_a_question_is_asked_and_answered(talk: Talk, said: str, yes: bool) -> None:
    talk.wake()
    talk.says("Open the gate")
    talk.told("text", text="The lamp is on.")
    talk.told("confirm", **QUESTION)
    assert talk.spoken() == ["The lamp is on.", "Shall I open the gate?"]
    talk.pass_(2.0)
    talk.says(said, 0.3)
    (answer,) = talk.all(Answer)
    assert (answer.turn, answer.yes) == ("t7", yes)
    talk.answers("All right.")
    assert talk.spoken()[-1] == "All right."


def test_an_unclear_answer_is_asked_for_once_more_and_never_a_yes(talk: Talk) -> None:
    talk.wake()
    talk.says("Open the gate")
    talk.told("confirm", **QUESTION)
    talk.pass_(1.0)
    talk.says("Yester.", 0.3)
    assert talk.spoken()[1:] == ["I did not catch that.", "Shall I open the gate?"]
    talk.pass_(2.0)
    talk.says("Yester.", 0.3)
    assert not talk.all(Answer)
    assert talk.all(Ask)[-1].text == "Yester.", "then it is something else, and the question is left"
    talk.answers("I do not know.")
    talk.pass_(1.0)
    talk.says("Yes.", 0.3)
    assert not talk.all(Answer)


def test_silence_is_no_answer(talk: Talk) -> None:
    talk.wake()
    talk.says("Open the gate")
    talk.told("confirm", **QUESTION)
    talk.pass_(times.QUESTION + 2.0)
    talk.wake()
    talk.says("Yes")
    assert not talk.all(Answer)


@pytest.mark.parametrize(("slow", "kind"), [("tone", Chime), ("words", Speak), ("nothing", None)])
def test_a_slow_turn_gives_a_sign_of_life(talk: Talk, slow: str, kind: type | None) -> None:
    talk = talk.with_(slow=slow, tones=True)
    talk.wake()
    talk.speaks()
    ended = talk.now
    talk.pass_(0.8)
    talk.recognized("What is the meaning of life?")
    talk.new()
    talk.pass_(ended + times.SLOW - talk.now - 0.1)
    assert not talk.new()
    talk.pass_(0.2)
    assert [type(each) for each in talk.new()] == ([kind] if kind else [])
    talk.pass_(times.STILL)
    assert len(talk.new()) == (1 if kind else 0), "and again, if it takes much longer"
    talk.answers("Forty-two.")
    talk.pass_(1.0)
    assert [each.text for each in talk.new() if isinstance(each, Speak)] == ["Forty-two."]


def test_could_not_check_sounds_different_from_there_is_none(talk: Talk) -> None:
    talk = talk.with_(tones=True)
    talk.wake()
    talk.says("Is there any mail?")
    talk.told("call.finished", tool="mail", status="empty", text="", ms=1.0)
    assert not talk.all(Chime)
    talk.told("call.finished", tool="mail", status="unavailable", text="", ms=1.0)
    assert [each.tone for each in talk.all(Chime)] == ["trouble"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("socket", "I cannot think right now: the part of me that answers is not running."),
        ("loading", "I am not ready yet. Ask me again in a moment."),
        ("internal", "Something went wrong, and I have no answer."),
    ],
)
def test_what_fails_is_said_in_words_for_people(talk: Talk, code: str, said: str) -> None:
    talk.wake()
    talk.says("What time is it?")
    talk.take(talk.machine.failed(talk.now, talk.number, code))
    assert talk.spoken() == [said]


def test_a_recogniser_that_is_gone_is_said(talk: Talk) -> None:
    talk.wake()
    talk.speaks()
    talk.pass_(0.8)
    talk.take(talk.machine.deaf(talk.now, talk.all(Recognize)[-1].number))
    assert talk.spoken() == ["I cannot understand speech right now."]


def test_muted_nothing_is_heard_or_remembered(talk: Talk) -> None:
    talk.wake()
    talk.speaks(0.5)
    talk.take(talk.machine.mute(True))
    talk.pass_(0.5)
    talk.wake()
    talk.speaks()
    talk.pass_(1.0)
    assert not talk.all(Recognize)
    talk.take(talk.machine.mute(False))
    talk.pass_(0.1, 0.0, wake="hey_jarvis")
    talk.speaks(0.5, mark=7)
    talk.pass_(0.8)
    (heard,) = talk.all(Recognize)
    assert not {1, 2} & set(heard.pcm), "nothing from before it was muted is left"
    assert [each.tone for each in talk.all(Chime)][:2] == ["muted", "unmuted"]


def test_muting_lets_the_answer_go_on_and_hushing_does_not(talk: Talk) -> None:
    talk.wake()
    talk.says("What time is it?")
    talk.told("text", text="It is noon. And")
    talk.take(talk.machine.mute(True))
    assert not talk.all(Hush)
    talk.take(talk.machine.hush())
    assert [type(each) for each in talk.deeds[-2:]] == [Cancel, Hush]
    assert talk.phase == "waiting"


def test_an_announcement_is_said_and_nobody_is_listened_to(talk: Talk) -> None:
    talk.take(talk.machine.announce("Dinner is ready."))
    assert talk.spoken() == ["Dinner is ready."]
    talk.pass_(1.0)
    assert talk.phase == "waiting"
