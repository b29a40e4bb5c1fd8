"""Where an utterance begins and ends, with a detector that is as late as real ones."""

from __future__ import annotations

import pytest

from muleteer.voice.conversation.ear import BEFORE, EARLY, Ear, Limits
from muleteer.voice.parts import FRAME_BYTES, FRAME_SECONDS

LATE = 0.4  # seconds by which it notices a beginning, and holds on after an end
NOISE, SPEECH = bytes([1]) * FRAME_BYTES, bytes([20]) * FRAME_BYTES
SILENCE, SOFT = bytes(FRAME_BYTES), bytes([3]) * FRAME_BYTES


def frames(seconds: float) -> int:
    return round(seconds / FRAME_SECONDS)


def heard(ear: Ear, parts: list[tuple[bytes, float]]) -> list[tuple[str, float]]:
    """What the ear says of this sound, and when, in seconds."""
    sound = [frame for frame, seconds in parts for _ in range(frames(seconds))]
    said: list[tuple[str, float]] = []
    for number, frame in enumerate(sound):
        noticed = sound[number - frames(LATE)] if number >= frames(LATE) else SILENCE
        if heed := ear.hear(frame, 0.99 if noticed in (SPEECH, SOFT) else 0.05):
            said.append((heed, round((number + 1) * FRAME_SECONDS, 2)))
    return said


@pytest.fixture
def ear() -> Ear:
    made = Ear(Limits())
    made.open()
    return made


def test_an_end_is_known_by_the_silence_before_the_detector_knows(ear: Ear) -> None:
    said = heard(ear, [(SILENCE, 1.0), (SPEECH, 2.0), (SILENCE, 0.7)])
    assert [heed for heed, _ in said] == ["began", "paused", "ended"]
    assert said[1][1] == pytest.approx(3.0 + EARLY)
    assert said[2][1] == pytest.approx(3.7)
    assert ear.pcm.count(SPEECH[:2]) >= frames(2.0) * FRAME_BYTES // 2 - 1, "nothing of it is missing"
    assert len(ear.pcm) <= (2.0 + BEFORE + 0.7) / FRAME_SECONDS * FRAME_BYTES


def test_in_noise_the_detector_is_what_is_left(ear: Ear) -> None:
    loud = bytes([8]) * FRAME_BYTES
    said = heard(ear, [(loud, 1.0), (SPEECH, 2.0), (loud, 2.0)])
    assert said[-1][0] == "ended"
    assert said[-1][1] == pytest.approx(3.0 + LATE + 0.7)


def test_a_word_that_is_over_before_it_is_noticed_is_heard(ear: Ear) -> None:
    said = heard(ear, [(SILENCE, 1.0), (SPEECH, 0.24), (SILENCE, 2.0)])
    assert [heed for heed, _ in said] == ["began", "paused", "ended"]
    assert SPEECH in ear.pcm


def test_a_pause_between_words_is_no_end(ear: Ear) -> None:
    said = heard(ear, [(SPEECH, 1.0), (SILENCE, 0.4), (SPEECH, 1.0), (SILENCE, 1.0)])
    heeds = [heed for heed, _ in said]  # it may pause twice before the detector knows better
    assert list(dict.fromkeys(heeds)) == ["began", "paused", "resumed", "ended"]
    assert heeds.count("resumed") == heeds.count("ended") == 1


def test_a_door_that_slams_makes_no_silence_of_speech(ear: Ear) -> None:
    slam = bytes([120]) * FRAME_BYTES
    said = heard(ear, [(SILENCE, 1.0), (SPEECH, 0.4), (slam, 0.1), (SPEECH, 1.5), (SILENCE, 1.0)])
    assert [heed for heed, _ in said] == ["began", "paused", "ended"]


def test_a_detector_that_holds_on_to_the_wake_word_is_not_believed(ear: Ear) -> None:
    heard(ear, [(SPEECH, 0.6), (SILENCE, 0.2)])
    ear.open(0.28)
    for _ in range(frames(1.0)):
        assert not ear.hear(SILENCE, 0.99)
    ear.open(0.28)
    said = [ear.hear(frame, 0.99) for frame in [SPEECH] * frames(0.3) + [SILENCE] * frames(0.7)]
    assert [heed for heed in said if heed] == ["began", "paused", "ended"], "who speaks on at once is heard"


def test_a_word_after_the_wake_word_is_heard_however_short(ear: Ear) -> None:
    heard(ear, [(SPEECH, 0.6), (SILENCE, 0.2)])
    ear.open(0.28)
    said = heard(ear, [(SILENCE, 1.0), (SPEECH, 0.24), (SILENCE, 2.0)])
    assert [heed for heed, _ in said] == ["began", "paused", "ended"]


def test_a_quiet_answer_to_a_loud_question_is_heard(ear: Ear) -> None:
    """The speaker is nearer to the microphone than anybody else."""
    loud = bytes([120]) * FRAME_BYTES
    heard(ear, [(loud, 2.0)])
    ear.open()
    said = heard(ear, [(SILENCE, 0.2), (SOFT, 0.5), (SILENCE, 1.0)])
    assert [heed for heed, _ in said] == ["began", "paused", "ended"]


def test_a_click_is_no_beginning(ear: Ear) -> None:
    assert heard(ear, [(SILENCE, 1.0), (SPEECH, 0.1), (SILENCE, 2.0)]) == []
