"""What is said aloud to the default model, on the parts of a board, and its answer recognised again.

The daemon is the one that the other tests ask; the conversation has a network namespace with nothing in it.
"""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from muleteer.voice.bench.battery import AROUND_SECONDS
from muleteer.voice.bench.sounds import joined, pcm, samples, silence
from muleteer.voice.bench.words import errors, words
from muleteer.voice.conversation.house import DaemonHouse
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.spoken.reading import aloud
from tests.conftest import Served
from tests.test_voice_end_to_end import is_time_in
from tests.voice.gear import WAKE, gear, piper
from tests.voice.nowhere import MISSING, nowhere

pytestmark = pytest.mark.model("standard")

QUESTION = "What time is it in Lisbon?"
LAMP = "Turn on the lamp, please."
MISHEARD = 0.34  # of the words of an answer; espeak-ng is a robot


async def test_what_is_asked_aloud_is_answered_aloud_and_what_is_wanted_is_done(served: Served) -> None:
    called, asked, wanted = piper(WAKE, QUESTION, LAMP).values()
    before = len(served.heard)
    with nullcontext() if MISSING else nowhere():
        async with gear() as parts:
            house = DaemonHouse(served.socket)
            async with parts.with_house(house, Manners(follow_up=60.0)) as on:
                on.say(silence(0.3), called, silence(0.3), asked)
                answer = await on.answered()
                assert is_time_in("Europe/Lisbon", answer)
                heard = [samples(one.sound) for one in on.spoken()]
                await on.attentive()
                since = len(on.moments)
                on.say(silence(0.5), wanted)
                await on.answered(since)
                assert "L1" in served.heard[before:], on.asked()
            quiet = silence(AROUND_SECONDS)
            again = await parts.recognizer.recognize(pcm(joined(quiet, *heard, quiet)), "en", ["Lisbon"])
    said, understood = (words(aloud(text, "en")) for text in (answer, again.text))
    assert errors(said, understood) <= MISHEARD * len(said), (said, understood)
