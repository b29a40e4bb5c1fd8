"""What counts as a claim of a deed, and that a stream stops before one."""

from __future__ import annotations

import pytest

from muleteer.harness.claims import Guard, claims
from muleteer.harness.events import TextDelta, TurnFinished
from muleteer.harness.phrases import ENGLISH
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, ScriptedBrain, Write

CLAIMS = (
    "I have turned on the lamp.",
    "Okay, I've just set a timer for ten minutes!",
    "I'll remind you tomorrow.",
    "I will remember that.",
    "I've added milk to your shopping list.",
    "Sure, I switched the heating off.",
    "I have ordered a pizza for you.",
    "Done! The lamp is on.",
    "Ich habe das Licht eingeschaltet.",
    "Ich werde dich daran erinnern.",
    "Ich notiere das.",
    "He encendido la luz.",
    "J'ai allumé la lampe.",
)
NO_CLAIMS = (
    "I cannot turn on the lamp.",
    "I have not set a timer.",
    "I can't remember that.",
    "Shall I set a timer?",
    "You can turn on the lamp with the switch.",
    "He turned on the radio.",
    "I am a household assistant.",
    "I see that you are sad.",
    "We set out at dawn.",
    "Ich kann das Licht nicht einschalten.",
    "Ich habe keinen Timer gestellt.",
    "Gold melts at 1064 °C.",
    "The telephone was invented by Bell.",
)


@pytest.mark.parametrize("sentence", CLAIMS)
def test_claims(sentence: str) -> None:
    assert claims(sentence)


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_no_claims(sentence: str) -> None:
    assert not claims(sentence)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_a_stream_is_whole_without_claims_and_stops_before_the_first(size: int) -> None:
    for text in (" ".join(NO_CLAIMS), " ".join((*NO_CLAIMS, CLAIMS[0], *NO_CLAIMS))):
        guard = Guard()
        shown = "".join(guard.feed(text[at : at + size]) for at in range(0, len(text), size)) + guard.finish()
        assert guard.tripped is (CLAIMS[0] in text)
        assert shown.strip() == " ".join(NO_CLAIMS)


def test_a_sentence_that_cannot_become_a_claim_is_not_held_back() -> None:
    guard = Guard()
    assert guard.feed("Gold melts at ") == "Gold melts at "
    assert guard.feed("106") == ""
    assert guard.feed("4 °C") == "1064 "
    assert guard.finish() == "°C"


async def said(house: House, *script: Choose | Fill | Write) -> TurnFinished:
    harness = Harness(ScriptedBrain(*script), house.catalogue, Budgets())
    events = [event async for event in harness.run("turn on the lamp")]
    last = events[-1]
    assert isinstance(last, TurnFinished)
    assert last.answer == "".join(event.text for event in events if isinstance(event, TextDelta))
    return last


async def test_a_reply_cannot_claim_what_no_tool_did(house: House) -> None:
    reply = Write(("Of course. ", "I have turned", " on the lamp. ", "Enjoy!"))
    assert (await said(house, Choose({"reply": 1.0}), reply)).answer == f"Of course. {ENGLISH.not_done}"


async def test_a_follower_cannot_claim_what_no_tool_did(house: House) -> None:
    turn = await said(
        house,
        Choose({"look-up": 1.0}),
        Fill({"tool": "lamp", "instruction": "on"}),
        Fill({"tool": "finish", "instruction": "I have switched the lamp on."}),
    )
    assert (turn.answer, turn.calls) == (ENGLISH.not_done, ())
