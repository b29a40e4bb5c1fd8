"""What a house is asked never makes it act, and what it is ordered to do may."""

from __future__ import annotations

import pytest

from muleteer.harness.kinds import kind
from muleteer.harness.ledger import Ledger
from muleteer.harness.staged import NONE, Called, Staged
from tests.harness.guests.house import ASSISTANT, TOOLS, Pair, pairs
from tests.harness.scripted import Choose, Fill, ScriptedBrain
from tests.harness.test_staged import ledger, said

HOUSES = {name: Staged(tools) for name, tools in TOOLS.items()}


def ids(pair: Pair) -> str:
    return pair.question


def test_the_battery_is_of_eight_languages() -> None:
    assert len(pairs()) >= 40
    assert len({pair.language for pair in pairs()}) == 8


@pytest.mark.parametrize("pair", pairs(), ids=ids)
async def test_no_deed_is_among_the_names_for_a_question(pair: Pair) -> None:
    deeds = {tool.name for tool in TOOLS[pair.tools] if kind(tool.name, tool.description) == "acts"}
    assert pair.deed in deeds
    brain = ScriptedBrain(Choose({NONE: 1.0}))
    await HOUSES[pair.tools].decide(brain, ledger(), said(pair.question))
    (offered,) = brain.options
    assert deeds.isdisjoint(offered)
    assert len(offered) > 1, "what reads is offered"
    assert not HOUSES[pair.tools].withheld(pair.order)


@pytest.mark.parametrize(
    "message",
    ["don't open the garage door", "Öffne das Garagentor nicht", "no abras la puerta", "kapıyı kapatma"],
)
async def test_no_deed_is_for_a_prohibition(message: str) -> None:
    brain = ScriptedBrain(Choose({NONE: 1.0}))
    await HOUSES["ha"].decide(brain, ledger(), said(message))
    assert "HassTurnOn" not in brain.options[0]


async def test_a_question_that_only_deeds_could_answer_calls_nothing_and_asks_no_model() -> None:
    deeds = [tool for tool in ASSISTANT if tool.name.startswith("HassTurn")]
    found = await Staged(deeds).decide(ScriptedBrain(), ledger(), said("is the garage door closed?"))
    assert found.calls == ()


async def test_after_a_look_a_question_still_does_nothing() -> None:
    looked = [(Called("GetLiveContext", {}), "Garage Door: open")]
    brain = ScriptedBrain(Choose({NONE: 1.0}))
    book = Ledger(10_000, lambda event: None)
    await HOUSES["ha"].decide(brain, book, said("is the garage door closed?"), results=looked)
    assert "HassTurnOff" not in brain.options[0]


async def test_a_caller_who_insists_on_a_call_gets_one() -> None:
    deeds = [tool for tool in ASSISTANT if tool.name.startswith("HassTurn")]
    brain = ScriptedBrain(Choose({"HassTurnOff": 1.0}), Fill({"name": "Garage Door"}))
    found = await Staged(deeds).decide(brain, ledger(), said("is the garage door closed?"), must=True)
    assert [call.name for call in found.calls] == ["HassTurnOff"]
