"""The shipped cases: they are about tools that there are, and their checkers tell right from wrong."""

from __future__ import annotations

import pytest

from muleteer.evaluate.batteries import crafting, judgement, turns
from muleteer.evaluate.batteries.crafting import Craft
from muleteer.evaluate.batteries.shipped import catalogue, result_of
from muleteer.evaluate.batteries.turns import Whole
from muleteer.tool import Document, Notes, Status


def test_every_case_is_about_tools_and_arguments_that_there_are() -> None:
    tools = catalogue()[0].toolbox.tools
    crafts = crafting.read()
    assert len(crafts) >= 60
    for craft in crafts:
        assert craft.want.keys() <= dict(tools[craft.tool].parameters["properties"]).keys(), craft
    wholes = turns.read()
    assert len(wholes) >= 30
    assert len({whole.id for whole in wholes}) == len(wholes)
    for whole in wholes:
        named = {*whole.must, *whole.must_any, *whole.must_not, *whole.results, *dict(whole.arguments)}
        assert named - {turns.ANY} <= tools.keys(), whole.id


def test_judgement_has_as_many_of_one_kind_as_of_the_other() -> None:
    kinds = [kind for _, kind in judgement.read()]
    assert kinds.count("call") == kinds.count("none") == 24


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"place": "Istanbul"}, True),
        ({"place": " the ISTANBUL. "}, True),
        ({"place": "Ankara"}, False),
        ({}, False),
        ({"place": "Istanbul", "unit": "h"}, False),
        ({"place": "Istanbul", "unit": ""}, True),
        (None, False),
    ],
)
def test_arguments_are_right_in_any_wording_that_is_accepted(
    arguments: dict[str, object] | None, right: bool
) -> None:
    craft = Craft("current_time", "?", {"place": ["Istanbul"]})
    assert (crafting.complaint(craft, arguments) == "") is right


@pytest.mark.parametrize(
    ("expression", "right"),
    [("18.5% of 249", True), ("0.185 * 249", True), ("18.5 + 249", False), ("words", False)],
)
def test_a_sum_is_right_by_what_it_comes_to(expression: str, right: bool) -> None:
    craft = Craft("calculator", "?", {"expression": {"value": 46.065}})
    assert (crafting.complaint(craft, {"expression": expression}) == "") is right


WHOLE = Whole(
    "x",
    "g",
    "?",
    {},
    must=("sensor",),
    must_not=("switch",),
    arguments=(("sensor", "hall"),),
    says=("21",),
    not_says=("cold",),
)
SENSOR = ("sensor", {"name": "hall"})


@pytest.mark.parametrize(
    ("called", "said", "why"),
    [
        ([SENSOR], "It is 21 °C.", ""),
        ([], "It is 21 °C.", "sensor was not called"),
        ([SENSOR, ("switch", {})], "It is 21 °C.", "switch was called"),
        ([("sensor", {"name": "attic"})], "It is 21 °C.", "not called with hall"),
        ([SENSOR], "It is warm.", "does not say 21"),
        ([SENSOR], "21, so it is cold.", "says cold"),
    ],
)
def test_a_turn_is_wrong_in_one_clause(
    called: list[tuple[str, dict[str, object]]], said: str, why: str
) -> None:
    found = turns.complaint(WHOLE, called, said)
    assert why in found
    assert bool(found) is bool(why)


def test_some_cases_forbid_every_tool_and_some_want_one_of_several() -> None:
    nothing = Whole("x", "g", "?", {}, must_not=(turns.ANY,))
    assert turns.complaint(nothing, [SENSOR], "hi") == "sensor was called"
    either = Whole("x", "g", "?", {}, must_any=("sensor", "timer"))
    assert turns.complaint(either, [SENSOR], "hi") == ""
    assert "none of sensor, timer" in turns.complaint(either, [], "hi")


async def test_a_simulated_tool_returns_what_the_case_says_and_is_never_run() -> None:
    toolbox = catalogue()[1]
    toolbox.begin({"switch": (result_of({"ok": "It is on."}), result_of({"error": "Not again."}))})
    said = [(await toolbox.call("switch", {"name": "lamp", "state": "on"})).result for _ in range(3)]
    assert [result.status for result in said] == [Status.OK, Status.ERROR, Status.ERROR]
    assert (await toolbox.call("timer", {})).result.status is Status.EMPTY
    assert (await toolbox.call("nothing", {})).result.status is Status.ERROR
    assert toolbox.called[0] == ("switch", {"name": "lamp", "state": "on"})


def test_a_made_up_result_is_a_sentence_notes_or_a_document_and_its_text_holds_everything() -> None:
    notes = result_of({"ok": ["keys: blue pot", "tea: shelf"]})
    assert notes.payload == Notes(("keys: blue pot", "tea: shelf"))
    assert notes.text == "2 notes: keys: blue pot tea: shelf"
    letter = result_of({"ok": {"name": "letter", "text": "Dear tenant"}})
    assert (letter.payload, letter.text) == (Document("letter", "Dear tenant"), "letter: Dear tenant")
    gone = result_of({"unavailable": "It did not answer."})
    assert (gone.status, gone.text, gone.payload) == (Status.UNAVAILABLE, "It did not answer.", None)
