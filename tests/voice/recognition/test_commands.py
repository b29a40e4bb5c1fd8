"""Ears that know the skills' examples only, on speech."""

from __future__ import annotations

import pytest

from muleteer.voice.bench import sounds
from muleteer.voice.bench.talkers import EspeakTalker
from muleteer.voice.recognition.commands import CommandEars

EXAMPLES = (
    "Turn on the kitchen light.",
    "Turn off the pump!",
    "What time is it in Istanbul?",
    "set a timer for 5 minutes",
    "how warm is it in the greenhouse",
    "Wie spät ist es?",
    "hava karanlıksa ışığı aç",
    "play xqzzt",
)


@pytest.fixture(scope="module")
def ears() -> CommandEars:
    return CommandEars(EXAMPLES)


def said(ears: CommandEars, *sentences: str) -> list[str]:
    pause = sounds.silence(0.2)
    spoken = EspeakTalker("en").say(sentences)
    return [ears.hear(sounds.pcm(sounds.joined(pause, each, pause)), "en", []).text for each in spoken]


def test_examples_are_understood_with_any_number(ears: CommandEars) -> None:
    assert said(ears, "Turn on the kitchen light", "Turn off the pump", "What time is it in Istanbul") == [
        "turn on the kitchen light",
        "turn off the pump",
        "what time is it in istanbul",
    ]
    assert said(ears, "Set a timer for ten minutes", "Set a timer for twenty five minutes") == [
        "set a timer for 10 minutes",
        "set a timer for 25 minutes",
    ]


def test_other_speech_noise_and_half_a_command_are_not_forced_into_one(ears: CommandEars) -> None:
    others = (
        "The weather was nice yesterday and we went for a walk.",
        "Could you pass me the salt please?",
        "Turn the page and read the next chapter.",
        "Turn off the",
    )
    assert said(ears, *others) == [""] * len(others)
    for wave in (sounds.silence(1.0), sounds.noise(1.0) * 0.1, sounds.silence(0.0)):
        assert ears.hear(sounds.pcm(wave), "en", []).text == ""


def test_a_conversation_is_possible_whatever_the_examples_are() -> None:
    ears = CommandEars(("Wie spät ist es?", "", "..."))
    heard = said(ears, "Yes", "No", "Stop", "Set a timer for ten minutes", "What time is it")
    assert heard == ["yes", "no", "stop", "set a timer for 10 minutes", "what time is it"]
    assert said(ears, "Hello", "Good morning", "Maybe") == [""] * 3
