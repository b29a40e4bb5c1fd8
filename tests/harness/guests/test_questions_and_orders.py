"""What a house is asked never makes it act, and what it is ordered to do may."""

from __future__ import annotations

import pytest

from muleteer.harness.kinds import kind
from muleteer.harness.staged import NONE, SCORED, Called, Staged
from tests.harness.guests.house import ASSISTANT, TOOLS, Pair, pairs
from tests.harness.scripted import Choose, Fill, ScriptedBrain
from tests.harness.test_staged import ledger, said

HOUSES = {name: Staged(tools) for name, tools in TOOLS.items()}
SWITCHES = [tool for tool in ASSISTANT if tool.name.startswith("HassTurn")]


def ids(pair: Pair) -> str:
    return pair.question


def test_the_battery_is_of_eight_languages() -> None:
    assert len(pairs()) >= 40
    assert len({pair.language for pair in pairs()}) == 8


def deeds(tools: str) -> dict[str, float]:
    """The whole choice for what acts, as a small model makes it."""
    return {tool.name: 1.0 for tool in TOOLS[tools] if kind(tool.name, tool.description) == "acts"}


@pytest.mark.parametrize("pair", pairs(), ids=ids)
async def test_no_deed_is_done_for_a_question(pair: Pair) -> None:
    assert pair.deed in deeds(pair.tools)
    brain = ScriptedBrain(Choose(deeds(pair.tools)), Fill({}))
    found = await HOUSES[pair.tools].decide(brain, ledger(), said(pair.question))
    assert not {call.name for call in found.calls} & deeds(pair.tools).keys()
    assert set(brain.options[0]) - deeds(pair.tools).keys() > {NONE}, "what reads is scored"
    assert not HOUSES[pair.tools].withheld(pair.order)


async def test_what_a_deed_would_have_got_is_not_for_none() -> None:
    shares = {"HassTurnOff": 0.8, "GetLiveContext": 0.1, NONE: 0.1}
    found = await HOUSES["ha"].decide(ScriptedBrain(Choose(shares)), ledger(), said("is the door closed?"))
    assert found.calls == (Called("GetLiveContext", {}),)


@pytest.mark.parametrize(
    "message",
    ["don't open the garage door", "Öffne das Garagentor nicht", "no abras la puerta", "kapıyı kapatma"],
)
async def test_no_deed_is_for_a_prohibition(message: str) -> None:
    brain = ScriptedBrain(Choose({"HassTurnOn": 0.6, NONE: 0.4}))
    assert (await HOUSES["ha"].decide(brain, ledger(), said(message))).calls == ()


async def test_a_question_that_only_deeds_could_answer_calls_nothing_and_asks_no_model() -> None:
    found = await Staged(SWITCHES).decide(ScriptedBrain(), ledger(), said("is the garage door closed?"))
    assert found.calls == ()


async def test_after_a_look_a_question_still_does_nothing() -> None:
    looked = [(Called("GetLiveContext", {}), "Garage Door: open")]
    brain = ScriptedBrain(Choose({"HassTurnOff": 0.7, "GetLiveContext": 0.2, NONE: 0.1}))
    message = said("is the garage door closed?")
    assert (await HOUSES["ha"].decide(brain, ledger(), message, results=looked)).calls == ()


async def test_a_caller_who_insists_on_a_call_gets_one() -> None:
    brain = ScriptedBrain(Choose({"HassTurnOff": 1.0}), Fill({"name": "Garage Door"}))
    found = await Staged(SWITCHES).decide(brain, ledger(), said("is the garage door closed?"), must=True)
    assert [call.name for call in found.calls] == ["HassTurnOff"]


CONDITIONAL = [
    "if the garage door is open, close it",
    "turn on the reading lamp if it is dark",
    "Wenn das Garagentor offen ist, mach es zu",
    "Ist das Garagentor offen, mach es zu",
    "se la porta del garage è aperta, chiudila",
    "si la puerta del garaje está abierta, ciérrala",
    "als de garagedeur open is, doe hem dicht",
    "garaj kapısı açıksa kapat",
]


@pytest.mark.parametrize("message", CONDITIONAL)
async def test_what_is_ordered_under_a_condition_is_looked_at_first(message: str) -> None:
    shares = {"HassTurnOff": 0.8, "HassTurnOn": 0.1, "GetLiveContext": 0.08, NONE: 0.02}
    house = Staged(ASSISTANT[:SCORED])  # all are scored
    brain = ScriptedBrain(Choose(shares), Choose(shares), Fill({"name": "Garage Door"}))
    first = await house.decide(brain, ledger(), said(message))
    assert [call.name for call in first.calls] == ["GetLiveContext"]
    looked = [(first.calls[0], "Garage Door: open")]
    then = await house.decide(brain, ledger(), said(message), results=looked)
    assert [call.name for call in then.calls] == ["HassTurnOff"]


@pytest.mark.parametrize(
    "message", ["turn on the reading lamp if you can", "put milk on my list if there is none"]
)
async def test_politeness_and_what_switches_nothing_wait_for_no_look(message: str) -> None:
    assert "HassListAddItem" not in HOUSES["ha"].withheld(message)


async def test_where_nothing_could_look_an_order_under_a_condition_is_the_models() -> None:
    assert not Staged(SWITCHES).withheld("if the garage door is open, close it")
