"""What goes wrong around a conversation. Wake word, end of speech, recognition and voice are real,
people are synthetic voices, the network namespace is empty. The house only answers.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncGenerator, Iterator

import pytest
import pytest_asyncio

from muleteer.voice.bench.sounds import Samples, joined, noise, over, silence
from muleteer.voice.bench.words import errors, words
from muleteer.voice.conversation.manners import Manners
from tests.voice.gear import WAKE, Gear, gear, piper
from tests.voice.house import AnsweringHouse
from tests.voice.nowhere import MISSING, interfaces, nowhere

pytestmark = pytest.mark.asyncio(loop_scope="module")

LAMP = "Switch on the lamp in the kitchen."
TIME = "What time is it in Nairobi?"
SENTENCES = 6
LONG = "There are seven appointments tomorrow, and none of them is early. " * SENTENCES
BEGUN, ENDED = "Set a timer for", "ten minutes."
BREATH = silence(0.3)
MANNERS = Manners(follow_up=0.0)
LIMIT = 120.0  # seconds for anything, on a machine that others use, too


@pytest.fixture(scope="module", autouse=True)
def alone() -> Iterator[None]:
    """Without root the tests run all the same, and one of them says what is missing."""
    if MISSING:
        yield
        return
    with nowhere():
        yield


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def parts(alone: None) -> AsyncGenerator[Gear, None]:
    async with gear() as found:
        yield found


def said(*sentences: str) -> list[Samples]:
    found = piper(WAKE, LAMP, TIME, BEGUN, ENDED)
    return [found[each] for each in sentences]


def is_heard(asked: str, sentence: str, most: int = 2) -> bool:
    """But for so many words; the wake word's last syllable may be one."""
    return errors(words(sentence), words(asked)) <= most


@pytest.mark.skipif(bool(MISSING), reason=MISSING)
async def test_there_is_no_network(parts: Gear) -> None:
    assert interfaces() == ["lo"]
    with socket.socket() as nobody, pytest.raises(OSError, match="unreachable"):
        nobody.connect(("127.0.0.1", 9))


async def test_two_sentences_in_a_row_need_one_wake_word(parts: Gear) -> None:
    house = AnsweringHouse("It is on.")
    async with parts.with_house(house, Manners(follow_up=30.0)) as on:
        on.say(BREATH, *said(WAKE), BREATH, *said(LAMP))
        assert await on.answered(seconds=LIMIT) == "It is on."
        await on.attentive()
        since = len(on.moments)
        house.answer = "It is nine."
        on.say(silence(0.5), *said(TIME))
        assert await on.answered(since, LIMIT) == "It is nine."
    assert len(house.asked) == 2
    assert is_heard(house.asked[0], LAMP), house.asked
    assert is_heard(house.asked[1], TIME), house.asked


async def test_in_noise_a_wish_is_understood_and_noise_alone_is_none(parts: Gear) -> None:
    house = AnsweringHouse("Done.", ["lamp", "kitchen"])
    async with parts.with_house(house, MANNERS) as on:
        on.say(noise(4.0, seed=1) * 0.05)
        wish = joined(BREATH, *said(WAKE), BREATH, *said(LAMP), silence(1.5))
        on.say(over(wish, noise(3.0, seed=2), 15.0))
        assert await on.answered(seconds=LIMIT) == "Done."
    assert len(house.asked) == 1
    assert is_heard(house.asked[0], LAMP, 3), house.asked


async def test_the_wake_word_alone_is_no_wish(parts: Gear) -> None:
    """Whether or not its end is taken for an utterance: nothing is asked, and somebody is listened for."""
    house = AnsweringHouse()
    async with parts.with_house(house, MANNERS) as on:
        on.say(BREATH, *said(WAKE), silence(2.0))
        await on.until(lambda: on.conversation.phase == "listening", LIMIT)
        await on.microphone.heard_out()
        await on.until(lambda: on.conversation.phase == "waiting", LIMIT)
    assert not house.asked


async def test_a_sentence_that_is_cut_off_is_waited_for_and_what_comes_belongs_to_it(parts: Gear) -> None:
    """People stop in the middle: "set a timer for", and then "ten minutes"."""
    house = AnsweringHouse("Set.")
    async with parts.with_house(house, MANNERS, real_time=True) as on:
        on.say(BREATH, *said(WAKE), BREATH, *said(BEGUN), silence(1.0), *said(ENDED))
        assert await on.answered(seconds=LIMIT) == "Set."
    assert is_heard(house.asked[-1], "Set a timer for 10 minutes."), house.asked


async def test_who_talks_over_the_answer_is_heard_and_the_answer_ends(parts: Gear) -> None:
    house = AnsweringHouse(LONG)
    house.endless = True
    async with parts.with_house(house, MANNERS, real_time=True) as on:
        on.say(BREATH, *said(WAKE), BREATH, *said(LAMP))
        await on.until(on.spoken, LIMIT)
        house.answer, house.endless = "It is nine.", False
        on.say(BREATH, *said(WAKE), BREATH, *said(TIME))
        await on.until(lambda: house.given_up, LIMIT)
        heard, since = on.spoken(), len(on.moments)
        assert await on.answered(since, LIMIT) == "It is nine."
    assert len(heard) < SENTENCES
    assert heard[-1].seconds < heard[-1].sound.seconds, "in the middle of a sentence"
    assert is_heard(house.given_up[0], LAMP), house.given_up
    assert is_heard(house.asked[-1], TIME), house.asked


async def test_a_speaker_that_vanishes_is_missed_and_the_conversation_goes_on(parts: Gear) -> None:
    house = AnsweringHouse(LONG)
    async with parts.with_house(house, MANNERS) as on:
        on.say(BREATH, *said(WAKE), BREATH, *said(LAMP))
        await on.until(on.spoken, LIMIT)
        on.speaker.vanish()
        await on.until(lambda: on.conversation.phase == "waiting", LIMIT)
        assert on.spoken()[0].seconds < on.spoken()[0].sound.seconds
        on.speaker.come_back()
        since = len(on.moments)
        house.answer = "It is nine."
        on.say(BREATH, *said(WAKE), BREATH, *said(TIME))
        assert await on.answered(since, LIMIT) == "It is nine."
        assert on.spoken(since)[0].seconds == on.spoken(since)[0].sound.seconds


async def test_a_recogniser_that_dies_is_started_again_and_hears_what_was_said(parts: Gear) -> None:
    house = AnsweringHouse("Done.")
    async with parts.with_house(house, MANNERS) as on:
        parts.kill_recognizer()
        on.say(BREATH, *said(WAKE), BREATH, *said(LAMP))
        assert await on.answered(seconds=LIMIT) == "Done."
    assert is_heard(house.asked[0], LAMP), house.asked


async def test_a_microphone_that_vanishes_is_opened_again(parts: Gear) -> None:
    house = AnsweringHouse("Done.")
    async with parts.with_house(house, MANNERS) as on:
        on.microphone.vanish()
        await on.until(lambda: on.driver.microphone_gone, LIMIT)
        on.microphone.come_back()
        on.say(BREATH, *said(WAKE), BREATH, *said(LAMP))
        assert await on.answered(seconds=LIMIT) == "Done."
