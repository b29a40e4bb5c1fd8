"""What counts as a claim of a deed, and that a stream stops before one."""

from __future__ import annotations

import pytest

from muleteer.harness.claims import TEXT_WORDS, Guard, any_claim, claims
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
    # A1, A2: by nobody in particular
    "The kitchen lights have been turned off.",
    "All covers have been opened.",
    "The timer is set for ten minutes.",
    "Your reminder has been created.",
    "The door is now locked.",
    "The lamp is now on.",
    "I'm turning off the heating now.",
    "I have gone ahead and closed the blinds.",
    "No problem, I've added it to the list.",
    # what nobody here can do
    "Sure, I can help you order a pizza.",
    "I can help you with booking a table. Which restaurant?",
    "I'd be happy to order it for you.",
    "Ich kann dir gerne einen Tisch reservieren.",
    "Puedo ayudarte a pedir una pizza.",
    "Je peux vous aider à commander une pizza.",
    "Posso aiutarti a ordinare una pizza.",
    "Pizza sipariş verebilirim.",
    "Das Licht wurde ausgeschaltet.",
    "Die Rollläden sind jetzt geöffnet.",
    "Das Licht habe ich eingeschaltet.",
    "Ich öffne die Jalousien.",
    "Las luces se han apagado.",
    "La puerta ha sido cerrada.",
    "Voy a encender la luz.",
    "La lumière a été éteinte.",
    "Je viens d'éteindre la lampe.",
    "Le minuteur est réglé.",
    "Ho acceso la luce.",
    "La luce è stata spenta.",
    "Ti ricorderò domani.",
    "Fatto! Tutto a posto.",
    "Işığı kapattım.",
    "Zamanlayıcı kuruldu.",
    "Yarın sana hatırlatacağım.",
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
    "Is the lamp switched on?",
    "The lamp has not been turned on.",
    "The door was invented in Egypt.",
    "The first light bulb was made by Swan.",
    "You can order a pizza by telephone.",
    "I can help you with that question.",
    "The meeting of 1815 has been called a success.",
    "Die Lampe ist eine Erfindung von Göbel.",
    "Das Licht kann ich nicht einschalten.",
    "Puedes encender la luz con el interruptor.",
    "No he encendido la luz.",
    "La luz viaja a 300 000 km por segundo.",
    "La lumière est une onde.",
    "Je ne peux pas allumer la lampe.",
    "La luce è un'onda.",
    "Non ho acceso la luce.",
    "Işık bir dalgadır.",
    "Işığı açamam.",
    "How do I turn on the lamp?",
    "A list is a sequence of entries.",
)
CONTENTS = (
    "The letter says that the chimney sweep comes on Monday.",
    "Your calendar shows two appointments.",
    "According to your notes, the key is under the pot.",
    "Laut deinen Notizen liegt der Schlüssel im Topf.",
    "El documento dice que sí.",
    "La lettera dice di sì.",
)


@pytest.mark.parametrize("sentence", CLAIMS)
def test_claims(sentence: str) -> None:
    assert claims(sentence)


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_no_claims(sentence: str) -> None:
    assert not claims(sentence)


@pytest.mark.parametrize("sentence", CONTENTS)
def test_what_a_text_holds_is_a_claim_unless_the_text_was_told(sentence: str) -> None:
    assert claims(sentence, told="what is in it?")
    assert not claims(sentence, told=f"Summarize this: {'word ' * TEXT_WORDS}")
    assert not claims(sentence), "where it is not known what was told"


def test_a_text_claims_if_a_sentence_of_it_does() -> None:
    assert any_claim("Sure. I have turned on the lamp. Anything else?")
    assert any_claim("I have not slept.\nI have turned on the lamp.")
    assert not any_claim("It is noon. Anything else?")


def test_a_text_that_was_found_may_speak_of_what_others_did() -> None:
    assert not claims("The kitchen lights have been turned off.", own=True)
    assert claims("I have turned off the kitchen lights.", own=True)


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
    events = [event async for event in harness.run("the lamp, if you please")]
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
