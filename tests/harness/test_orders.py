"""What may be done because of a message, by its words: orders pass, questions and prohibitions do not."""

from __future__ import annotations

import pytest

from muleteer.harness.orders import orders, refusal
from muleteer.harness.phrases import ENGLISH
from muleteer.tool import Result, Services, tool
from muleteer.toolbox import Tool, Toolbox


@tool(effect="physical")
def switch(name: str, state: str) -> Result:
    """Switch something.

    name: what
    state: on or off
    """
    return Result.ok(f"{name} {state}")


@tool(effect="write")
def keep(text: str) -> Result:
    """Keep a note.

    text: the note
    """
    return Result.ok(text)


@pytest.fixture(scope="module")
def tools() -> dict[str, Tool]:
    return Toolbox.of([switch, keep], Services()).tools


@pytest.mark.parametrize(
    "message",
    [
        "turn on the lamp",
        "Can you turn on the lamp?",
        "please switch the pump off",
        "When it is dark, turn on the light",
        "if it is not bright, turn on the light",
        "turn on the light if it isn't bright",
        "Is the pump on? Switch it off.",
        "Mach das Licht im Flur an",
        "Kannst du bitte die Lampe einschalten?",
        "wenn es nicht hell ist, mach das Licht an",
        "enciende la luz",
        "allume la lampe",
    ],
)
def test_an_order_is_one(message: str) -> None:
    assert orders(message)


@pytest.mark.parametrize(
    "message",
    [
        "Do not turn on the pump",
        "Never switch on the lamp",
        "don\N{RIGHT SINGLE QUOTATION MARK}t turn it off",
        "Should I turn on the pump tonight?",
        "Is the lamp on?",
        "How do I say 'turn on the lamp' in Spanish?",
        "how to switch on a pump",
        "Why did you turn off the lamp?",
        "Schalte die Pumpe nicht ein",
        "Ist die Lampe an?",
        "Soll ich das Licht ausmachen?",
        "Wie schalte ich die Lampe ein?",
        "no enciendas la luz",
        "n'allume pas la lampe",
        "",
    ],
)
def test_what_is_asked_or_forbidden_is_no_order(message: str) -> None:
    assert not orders(message)


def test_only_what_the_message_or_the_skill_names_is_acted_on(tools: dict[str, Tool]) -> None:
    lamp = {"name": "hall lamp", "state": "on"}
    assert refusal(tools["switch"], lamp, "turn on the lamp in the hall", "") == ""
    assert refusal(tools["switch"], lamp, "good night", "Switch off the hall_lamp with @switch.") == ""
    assert "pump was not asked for" in refusal(
        tools["switch"], {"name": "pump", "state": "on"}, "turn on the lamp", ""
    )
    assert refusal(tools["switch"], lamp, "Never turn on the hall lamp", "") == ENGLISH.no_order


def test_other_effects_are_not_its_business(tools: dict[str, Tool]) -> None:
    assert refusal(tools["keep"], {"text": "anything"}, "do not forget the milk", "") == ""


def test_a_condition_must_be_met(tools: dict[str, Tool]) -> None:
    lamp, message = {"name": "lamp", "state": "on"}, "if it is under 5 degrees, turn on the lamp"
    assert refusal(tools["switch"], lamp, message, "", ["It is 3 °C."]) == ""
    assert "it is not so" in refusal(tools["switch"], lamp, message, "", ["It is 21.5 °C."])
    assert "cannot be told" in refusal(tools["switch"], lamp, message, "")
