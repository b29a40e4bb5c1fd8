"""Follow-ups: completed by code with what was said before, and never to a deed that nobody ordered."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.events import Event, TurnFinished
from muleteer.harness.followup import completed
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write
from tests.harness.test_compound import Home


@pytest.mark.parametrize(
    ("before", "message", "whole"),
    [
        ("What time is it in Istanbul?", "and in Tokyo?", "What time is it in Tokyo"),
        ("What time is it in Rome?", "What about New York?", "What time is it in New York"),
        ("Turn on the fan.", "and the light", "Turn on the light"),
        ("Schalte die Lampe an", "und die Pumpe", "Schalte die Pumpe an"),
        ("How much is 15 percent of 240?", "and of 300?", "How much is 15 percent of 300"),
        ("Wie spät ist es in Berlin?", "Und in Madrid?", "Wie spät ist es in Madrid"),
        ("¿Qué hora es en Roma?", "¿y en Lima?", "Qué hora es en Lima"),
        ("Turn on the lamp in the kitchen", "in the bedroom too", "Turn on the lamp in the bedroom"),
        ("turn off the kitchen lamp", "the pump as well", "turn off the pump"),
        ("turn on the kitchen light", "the bedroom too", "turn on the bedroom light"),
        ("Mach das Licht in der Küche an", "im Schlafzimmer auch", "Mach das Licht im Schlafzimmer an"),
        ("enciende la luz de la cocina", "la del baño también", "enciende la luz de la del baño"),
        ("What is 12 * 12?", "and plus 6?", "(12 * 12) plus 6"),
        ("What is 12 * 12?", "minus 4.5", "(12 * 12) minus 4.5"),
        ("Wie viel ist 7 mal 13?", "und plus 6", "(7 mal 13) plus 6"),
        ("How much is 15 percent of 240?", "and + 19%", "(15 percent of 240) + 19%"),
        ("Combien font 12 fois 15 ?", "et moins 3 ?", "(12 fois 15) moins 3"),
        ("What time is it in Rome?", "and plus 6?", ""),
        ("What is on at 6?", "and plus 6?", ""),
        ("What time is it in Rome?", "I would like to know what you think of that too", ""),
        ("Who wrote Hamlet?", "and when did he die?", ""),
        ("cancel the timer", "the pasta one", "cancel the timer pasta"),
        ("Cancel the alarm.", "No, the one at 7:30, please", "Cancel the alarm 7:30"),
        ("cancel the timer", "all of them", "cancel the timer all"),
        ("turn off the lamp", "the red one", "turn off the lamp red"),
        ("Lösch den Timer", "den für die Pasta", "Lösch den Timer die Pasta"),
        ("cancela el temporizador", "el de la pasta", "cancela el temporizador la pasta"),
        ("annule le minuteur", "celui pour les pâtes", "annule le minuteur les pâtes"),
        ("annulla il timer", "quello della pasta", "annulla il timer pasta"),
        ("annuleer de timer", "die voor de pasta", "annuleer de timer de pasta"),
        ("cancela o alarme", "o da massa", "cancela o alarme massa"),
        ("which timers are running?", "the pasta one", ""),
        ("I like pasta", "the red one", ""),
        ("cancel the timer", "pasta", ""),
        ("cancel the timer", "turn on the green one", ""),
        ("cancel the timer", "which one?", ""),
        ("What time is it in Paris?", "thanks", ""),
        ("Turn off the light.", "why is the sky blue?", ""),
        ("Turn off the light.", "and", ""),
    ],
)
def test_what_leans_on_the_message_before_is_completed(before: str, message: str, whole: str) -> None:
    assert completed(message, [before]) == whole


def test_a_chain_of_follow_ups_leans_on_its_beginning() -> None:
    said = ["What time is it in Rome?", "and in Tokyo?", "and in Lima?"]
    assert completed("and in Oslo?", said) == "What time is it in Oslo"


def test_a_sum_goes_on_from_what_it_came_to() -> None:
    assert completed("times 2?", ["What is 12 * 12?", "and plus 6?"]) == "((12 * 12) plus 6) times 2"


def test_nothing_before_completes_nothing() -> None:
    assert completed("and in Tokyo?", []) == ""


async def turn(home: Home, before: str, message: str, *script: Scripted) -> Event:
    home.brain = ScriptedBrain(*script)
    harness = Harness(home.brain, home.catalogue, Budgets())
    history = (Message("user", before), Message("assistant", "(I looked that up with a tool.)"))
    *_, last = [event async for event in harness.run(message, history)]
    assert not home.brain.script
    return last


async def test_every_level_sees_the_whole_request() -> None:
    home = Home()
    script = (Choose({"clock": 1.0}), Fill({"place": "Tokyo"}))
    last = await turn(home, "What time is it in Rome?", "and in Tokyo?", *script)
    assert isinstance(last, TurnFinished)
    assert [prompt.messages[-1].content for prompt in home.brain.asked] == ["What time is it in Tokyo"] * 2
    assert home.ran == [("Tokyo",)]


async def test_a_question_is_never_completed_to_a_deed() -> None:
    home = Home()
    script = (Choose({"switch": 1.0}), Choose({"reply": 1.0}), Write(("I cannot see it.",)))
    last = await turn(home, "Turn on the fan.", "and the light?", *script)
    assert isinstance(last, TurnFinished)
    assert (last.answer, home.ran) == ("I cannot see it.", [])


async def test_what_is_no_request_for_a_tool_is_answered_as_it_was_said() -> None:
    home = Home()
    script = (Choose({"reply": 1.0}), Choose({"reply": 1.0}), Write(("Fine, too.",)))
    last = await turn(home, "How are you today", "and you", *script)
    assert isinstance(last, TurnFinished)
    assert home.brain.asked[-1].messages[-1].content == "and you"
