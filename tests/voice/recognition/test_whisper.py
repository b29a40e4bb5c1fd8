"""What Whisper is told before it listens."""

from __future__ import annotations

from muleteer.voice.recognition.whisper import PROMPT_CHARACTERS, prompt


def test_the_first_names_are_the_nearest_and_sentences_come_last() -> None:
    assert prompt([]) is None
    assert prompt(["Nairobi", "Kitchen lamp"]) == "Kitchen lamp, Nairobi."
    assert prompt(["Nairobi", "Is it on?", "Küche", "Stop."]) == "Küche, Nairobi. Stop. Is it on?"


def test_it_has_an_end() -> None:
    told = prompt([f"Room {number}" for number in range(1000)])
    assert told is not None
    assert PROMPT_CHARACTERS - 20 < len(told) <= PROMPT_CHARACTERS
    assert told.endswith("Room 1, Room 0.")
