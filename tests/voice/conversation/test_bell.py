"""Timers that ring by voice, and are stopped by it."""

from __future__ import annotations

import pytest

from muleteer.voice.conversation.bell import LASTS, PERIOD, Rung
from muleteer.voice.conversation.deeds import Ask, Chime, Hush, Silence
from tests.voice.conversation.talk import Talk

PASTA = Rung("timer", "pasta")


@pytest.fixture
def talk() -> Talk:
    talk = Talk()
    talk.take(talk.machine.rang(talk.now, PASTA))
    return talk


def test_it_rings_again_and_again_and_not_for_ever(talk: Talk) -> None:
    assert [each.tone for each in talk.all(Chime)] == ["ring"]
    assert talk.spoken() == ["Your timer is up: pasta."]
    talk.pass_(1.0 + PERIOD + 0.1)
    assert len(talk.spoken()) == 2
    talk.pass_(LASTS)
    rung = len(talk.spoken())
    assert 10 <= rung <= LASTS / PERIOD
    talk.pass_(LASTS)
    assert len(talk.spoken()) == rung
    assert not talk.all(Silence), "nobody has heard it"
    assert talk.machine.due is None


@pytest.mark.parametrize("said", ["Stop.", "Stop the timer!", "Okay, stop.", "Danke, aus."])
def test_a_word_of_stopping_is_enough(talk: Talk, said: str) -> None:
    talk.pass_(1.5)
    talk.says(said, 0.4)
    assert len(talk.all(Silence)) == 1
    talk.pass_(LASTS)
    assert len(talk.spoken()) == 1
    assert not talk.all(Ask)


def test_nothing_else_is_heard_without_the_wake_word(talk: Talk) -> None:
    talk.pass_(1.5)
    talk.says("The pasta smells good, does it not?")
    assert not talk.all(Ask)
    assert not talk.all(Silence)
    talk.pass_(PERIOD)
    assert len(talk.spoken()) == 2, "it goes on ringing"


def test_the_wake_word_interrupts_it_and_a_request_ends_it(talk: Talk) -> None:
    talk.pass_(0.1)
    talk.wake()
    assert len(talk.all(Hush)) == 1
    talk.says("What time is it?")
    assert len(talk.all(Silence)) == 1
    assert [each.text for each in talk.all(Ask)] == ["What time is it?"]


@pytest.mark.parametrize("seconds", [0.1, 1.5])
def test_after_a_wake_word_and_silence_it_goes_on(talk: Talk, seconds: float) -> None:
    """Whether it was called in the middle of a stroke or between two."""
    talk.pass_(seconds)
    talk.wake()
    talk.pass_(7.0)
    assert len(talk.spoken()) >= 2
    assert not talk.all(Silence)


def test_stopped_elsewhere_it_is_silent_here(talk: Talk) -> None:
    talk.take(talk.machine.silenced())
    talk.pass_(LASTS)
    assert len(talk.spoken()) == 1
    assert len(talk.all(Hush)) == 1
    assert not talk.all(Silence)


def test_while_something_is_said_it_strikes_once_and_rings_afterwards() -> None:
    talk = Talk()
    talk.wake()
    talk.says("Tell me a story")
    talk.told("text", text="Once upon a time. ")
    talk.take(talk.machine.rang(talk.now, PASTA))
    assert [each.tone for each in talk.all(Chime)] == ["ring"]
    talk.told("turn.finished", answer="")
    talk.pass_(1.5)
    assert talk.spoken() == ["Once upon a time.", "Your timer is up: pasta."]
