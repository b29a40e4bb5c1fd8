"""Wishes that no tool takes up: known by their words in eight languages, and answered by code."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.events import Event, TurnFinished
from muleteer.harness.phrases import LANGUAGES, phrases
from muleteer.harness.turn import Harness
from muleteer.harness.wishes import Kind, alike, kind
from muleteer.session import LOOKED_UP
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write
from tests.harness.test_compound import Home, plan

DEEDS = {
    "en": ("Call my mother", "Can you order a pizza for me?", "text Anna that I am late", "louder"),
    "de": ("Ruf Mama an", "Kannst du eine Pizza bestellen?", "Schick Anna eine Nachricht", "lauter"),
    "es": ("Llama a mi madre", "Pide una pizza", "envía un mensaje a Paul", "más alto"),
    "fr": ("Appelle ma mère", "commande une pizza", "envoie un message à Paul", "plus fort"),
    "it": ("Chiama mia madre", "ordina una pizza", "manda un messaggio a Luca", "più forte"),
    "nl": ("Bel mijn moeder", "bestel een pizza", "stuur Jan een bericht", "harder"),
    "pt": ("Liga para a minha mãe", "encomende uma pizza", "envie uma mensagem à Ana", "mais alto"),
    "tr": ("Annemi ara", "pizza sipariş et", "Ali'ye mesaj gönder", "daha sesli"),
}
LIVE = {
    "en": "What's the weather like in Paris?",
    "de": "Wie wird das Wetter morgen?",
    "es": "¿Qué tiempo hará mañana?",
    "fr": "Quel temps fera-t-il demain ?",
    "it": "Che tempo fa a Roma?",
    "nl": "Hoe is het weer morgen?",
    "pt": "Como está o tempo em Lisboa?",
    "tr": "İstanbul'da hava nasıl?",
}
FORGET = {
    "en": "Delete the note about the spare key.",
    "de": "Lösch die Notiz über den Schlüssel",
    "es": "borra la nota sobre la llave",
    "fr": "supprime la note sur la clé",
    "it": "cancella la nota sulla chiave",
    "nl": "verwijder de notitie over de sleutel",
    "pt": "apaga a nota sobre a chave",
    "tr": "anahtar notunu sil",
}
FORBIDDEN = {
    "en": "You should not cancel the alarm",
    "de": "Du sollst den Wecker nicht löschen",
    "es": "no canceles la alarma",
    "fr": "n'annule pas le réveil",
    "it": "non cancellare la sveglia",
    "nl": "zet de wekker niet uit",
    "pt": "não cancele o alarme",
    "tr": "alarmı iptal etme",
}
TOLD = {
    "en": "We are six people",
    "de": "Wir sind zu sechst.",
    "es": "somos seis",
    "fr": "nous sommes six",
    "it": "siamo in sei",
    "nl": "we zijn met zes",
    "pt": "somos seis pessoas",
    "tr": "altı kişiyiz",
}
WHOLE: list[tuple[Kind, str]] = [
    *(("deeds", said) for each in DEEDS.values() for said in each),
    *(("live", said) for said in LIVE.values()),
    *(("forget", said) for said in FORGET.values()),
    *(("forbidden", said) for said in FORBIDDEN.values()),
    *(("told", said) for said in TOLD.values()),
]
TALK = [
    "tell me a joke",
    "call me Bob",
    "play a game with me",
    "write a poem",
    "give me a recipe for soup",
    "what does order mean",
    "don't worry",
    "don't forget the milk",
    "vergiss nicht die Milch",
    "why is the sky blue",
    "what did I say about the weather in Rome",
    "Mach dir keine Sorgen",
    "erzähl einen Witz",
    "schreib mir ein Gedicht",
    "cuéntame algo gracioso",
    "was bedeutet Nachhaltigkeit",
    "I need a taxi number I noted",
    "I am looking for my keys",
    "we are late, what time is it",
    "remember that we are six",
]


@pytest.mark.parametrize(("wanted", "message"), WHOLE)
def test_a_wish_is_known_by_its_words(wanted: Kind, message: str) -> None:
    assert kind(message) == wanted


@pytest.mark.parametrize("message", TALK)
def test_what_can_be_talked_about_is_none(message: str) -> None:
    assert kind(message) == ""


def test_every_language_has_every_kind() -> None:
    for table in (DEEDS, LIVE, FORGET, FORBIDDEN, TOLD):
        assert set(table) == set(LANGUAGES)


def test_the_same_kind_of_deed_is_alike() -> None:
    assert alike("turn on the radio", "turn on the kitchen light")
    assert not alike("call my mother", "turn on the kitchen light")


async def turn(catalogue: Catalogue, message: str, *script: Scripted, language: str = "en") -> TurnFinished:
    brain = ScriptedBrain(*script)
    harness = Harness(brain, catalogue, Budgets(), language=language)
    last: Event
    *_, last = [event async for event in harness.run(message)]
    assert isinstance(last, TurnFinished)
    assert not brain.script
    return last


@pytest.mark.parametrize("language", LANGUAGES)
async def test_no_model_promises_what_nobody_can_do(house: House, language: str) -> None:
    words = phrases(language)
    for said, answer in (
        *((each, words.no_skill) for each in DEEDS[language]),
        (LIVE[language], words.no_source),
        (FORGET[language], words.kept),
        (FORBIDDEN[language], words.left_alone),
    ):
        last = await turn(house.catalogue, said, Choose({"reply": 1.0}), language=language)
        assert (last.answer, last.calls) == (answer, ()), said


async def test_a_deed_that_a_tool_is_for_was_only_not_called_for() -> None:
    @tool(effect="physical", examples=("turn on the kitchen light",))
    async def switch(name: str) -> Result:
        """Switch a thing.

        name: what
        """
        return Result.ok("On.")

    catalogue = Catalogue({}, Toolbox.of([switch]))
    last = await turn(catalogue, "turn on the radio", Choose({"reply": 1.0}))
    assert last.answer == phrases("en").not_done


async def test_what_only_tells_is_neither_noted_nor_looked_up_but_talked_about(house: House) -> None:
    brain = ScriptedBrain(Choose({"reply": 1.0}), Write(("Good to know.",)))
    *_, last = [event async for event in Harness(brain, house.catalogue, Budgets()).run("We are six people")]
    assert isinstance(last, TurnFinished)
    assert last.answer == "Good to know."
    assert brain.options == [["@reply"]], "nothing else was offered"


async def test_what_was_told_before_has_the_number_that_a_call_needs() -> None:
    home = Home()
    home.brain = ScriptedBrain(plan("sums"), Fill({"expression": "7 * 1/2"}), Fill({"expression": "6 * 1/2"}))
    harness = Harness(home.brain, home.catalogue, Budgets())
    history = (Message("user", "We are six people"), Message("assistant", "Good to know."))
    said = "how many pizzas do we need if each eats half of one"
    *_, last = [event async for event in harness.run(said, history)]
    assert isinstance(last, TurnFinished)
    assert home.ran == [("6 * 1/2",)]
    assert "We are six people" in home.brain.asked[-1].messages[-1].content


async def test_the_mark_of_what_a_tool_said_is_never_an_answer(house: House) -> None:
    brain = ScriptedBrain(Choose({"reply": 1.0}), Write((LOOKED_UP,)), Write(("Six it is.",)))
    history = (
        Message("user", "what time is it"),
        Message("assistant", LOOKED_UP),
        Message("user", "we are six"),
        Message("assistant", "Good to know."),
    )
    run = Harness(brain, house.catalogue, Budgets()).run("how many of us are there in all", history)
    *_, last = [event async for event in run]
    assert isinstance(last, TurnFinished)
    assert last.answer == "Six it is."
    again = [message.content for message in brain.asked[-1].messages]
    assert again[1:3] == ["we are six", "Good to know."], "what was talked about is still told"
