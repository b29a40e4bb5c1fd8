"""What a message cannot want, by rules: questions, and messages without an address."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.evaluate.material import Material
from muleteer.harness.moods import asks, forbids
from muleteer.harness.rules import (
    ASKS,
    DELETES,
    FORBIDS,
    LIVE,
    NO_ADDRESS,
    TELLS,
    against,
    names_address,
)
from muleteer.skills import MenuLine

SWITCH = MenuLine("switch", "Switch things.", ("turn on the light",), effect="physical")
TIMER = MenuLine("timer", "Timers.", ("ten minutes", "which timers are set"), effect="write")
PAGE = MenuLine("http-get", "Read a page.", ("read example.org",), address=True)
SENSOR = MenuLine("sensor", "Read sensors.", ("is the light on",))

QUESTIONS = [
    "is the light on",
    "Is the pump still running?",
    "what's switched on",
    "do you remember the name of the vet",
    "when is the meeting",
    "at what time does it start",
    "are the windows shut?",
    "ist das Licht im Bad an",
    "läuft die Pumpe noch",
    "wie warm ist es",
    "seit wann brennt das Licht",
    "está encendida la luz",
    "la porte est-elle fermée",
    "est-ce que le chauffage marche",
    "c'è luce in cantina",
    "ışık açık mı",
    "is de deur dicht",
    "check whether the stove is off",
    "sag mir, ob das Fenster offen ist",
    "soll ich das Licht ausmachen",
    "ok, is the heater on?",
]
ORDERS = [
    "turn on the light",
    "could you turn on the light?",
    "would you please start the pump",
    "kannst du bitte das Licht ausmachen?",
    "puedes apagar la luz",
    "do not forget the milk",
    "it is dark in here, turn on the lamp",
    "when it gets dark, turn on the lamp",
    "should it be cold, start the heater",
    "is the door open? Then turn on the lamp.",
    "am Montag das Licht anmachen",
    "check whether the window is open, and if so stop the heater",
    "es ist dunkel, mach das Licht an",
    "ışığı açar mısın",
    "sollte das Fenster offen sein, schalte die Heizung ab",
    "remember what I said",
    "",
]


@pytest.mark.parametrize("message", QUESTIONS)
def test_a_question_is_no_order(message: str) -> None:
    assert asks(message)
    assert against(message, SWITCH) == ASKS


@pytest.mark.parametrize("message", ORDERS)
def test_an_order_may_be_polite_or_have_a_condition(message: str) -> None:
    assert not asks(message)
    assert not against(message, SWITCH)


def test_what_answers_questions_by_its_own_examples_may_be_asked() -> None:
    assert not against("which alarms are set", TIMER)
    assert not against("is the light on", SENSOR)


@pytest.mark.parametrize(
    "message",
    [
        "open example.org/news",
        "what does https://example.com say",
        "www.example.de",
        "look at 192.168.1.5:8080",
        "read example.org",
        "fetch http://example.net/hours.txt",
    ],
)
def test_an_address_is_named(message: str) -> None:
    assert names_address(message)
    assert not against(message, PAGE)


@pytest.mark.parametrize(
    "message",
    [
        "send a mail to Tom",
        "mail it to tom@example.org",
        "write to anna.it@mail.example.de",
        "post this",
        "open letter.pdf",
        "it is 3.5 m",
        "z.B. heute",
        "at 7.30",
    ],
)
def test_a_message_without_an_address_wants_no_page(message: str) -> None:
    assert against(message, PAGE) == NO_ADDRESS


def test_no_question_is_offered_a_shipped_handle_that_acts(tmp_path: Path) -> None:
    acting = [line for line in Material.shipped(tmp_path).catalogue.menu() if line.effect == "physical"]
    assert {line.handle for line in acting} == {"home-control", "switch"}
    for line in acting:
        assert [said for said in line.examples if asks(said)] == []
        assert {against(question, line) for question in QUESTIONS} == {ASKS}


@given(st.text(max_size=400))
def test_rules_bear_anything(message: str) -> None:
    for line in (SWITCH, TIMER, PAGE, SENSOR):
        assert against(message, line) in ("", ASKS, FORBIDS, DELETES, NO_ADDRESS)


@pytest.mark.parametrize(
    "message",
    [
        "Don't cancel the alarm.",
        "Don\N{RIGHT SINGLE QUOTATION MARK}t stop the timer",
        "Don't set a timer.",
        "Don't remember that I like tea.",
        "please do not save this",
        "Never write this down.",
        "Bitte keinen Wecker stellen.",
        "Stell keinen Timer!",
        "Lösch den Wecker nicht",
        "Schalte das Licht nicht ein",
        "Merk dir das nicht",
        "No apagues la luz",
        "N'allume pas la lampe",
        "Non accendere la luce",
    ],
)
def test_a_prohibition_is_offered_nothing_that_changes_anything(message: str) -> None:
    assert forbids(message)
    assert against(message, MenuLine("timer", "Set and cancel timers.", (), effect="write")) == FORBIDS
    assert not against(message, MenuLine("current-time", "Tell the time.", (), effect="read"))


@pytest.mark.parametrize(
    "message",
    [
        "Don't forget the milk",
        "don't let me forget to call mum",
        "Vergiss nicht, dass Anna kommt",
        "Bitte nicht vergessen: Müll rausbringen",
        "Merk dir, dass Tom keine Nüsse isst",
        "Remember that Anna is not allowed nuts",
        "No olvides la leche",
        "n'oublie pas le lait",
        "Cancel the alarm, not the timer",
        "note: don't park on level 3",
        "Anna darf keine Nüsse essen",
        "Tom mag keinen Kaffee, merk dir das",
        "Don't cancel the timer. Cancel the alarm.",
        "I don't like tea",
    ],
)
def test_a_not_alone_is_no_prohibition(message: str) -> None:
    assert not forbids(message)


def test_who_deletes_is_not_offered_what_only_writes() -> None:
    remember = MenuLine("remember", "Note something.", ("note that the key is at Tom's",), effect="write")
    timer = MenuLine("timer", "Timers.", ("set a timer", "cancel the egg timer"), effect="write")
    for message in ("Delete the note about the spare key.", "please forget my pin", "Lösche die Notiz"):
        assert against(message, remember) == DELETES
    assert not against("delete the egg timer", timer)
    assert against("Delete the note about the spare key.", timer) == DELETES
    for message in ("note that I have to cancel the gym", "don't forget the milk", "Vergiss nicht die Milch"):
        assert not against(message, remember)


CLOCK = MenuLine("current-time", "The time.", ("what time is it in Rome",))
WEATHER = MenuLine("weather", "The weather.", ("what will the weather be like tomorrow",))
SEARCH = MenuLine("search-info", "Find what was told.", ("where is my passport",))


@pytest.mark.parametrize("message", ["İstanbul'da hava nasıl?", "wie wird das Wetter morgen?"])
def test_news_from_elsewhere_are_only_for_what_knows_them(message: str) -> None:
    assert against(message, CLOCK) == LIVE
    assert against(message, WEATHER) == ""


def test_what_deletes_nothing_is_not_asked_to_forget() -> None:
    assert against("delete the note about the key", SEARCH) == DELETES
    assert against("delete the note about the key", MenuLine("x", "X.", ("delete my notes",))) == ""


def test_what_only_tells_something_wants_nothing_looked_up_or_changed() -> None:
    assert against("we are six people", SEARCH) == TELLS
    assert against("we are six people", TIMER) == TELLS
    assert against("where are we six", SEARCH) == ""
