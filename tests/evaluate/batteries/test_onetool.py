"""Turns of one tool: the homes are as large as they say, the cases can be right, and ratios are of pairs."""

from __future__ import annotations

import re

from muleteer.evaluate.batteries import onetool
from muleteer.evaluate.batteries.battery import Tried
from muleteer.tool import Document


def test_every_case_is_about_one_tool_of_the_small_home_and_its_answer_is_found() -> None:
    cases = onetool.read()
    assert {name for one in cases for name in one.whole.must} == set(onetool.SMALL)
    assert all(len(one.whole.must) == 1 for one in cases)
    assert all(re.search(one.whole.says[0], one.found) for one in cases)
    assert min(sum(one.written is kind for one in cases) for kind in (True, False)) >= 8


def test_each_case_is_asked_in_both_homes() -> None:
    battery = onetool.OneTool(onetool.read()[:2])
    assert [case.group for case in battery.cases] == ["4 tools, speaks for itself"] * 2 + [
        "24 tools, speaks for itself"
    ] * 2


def test_a_text_is_a_document_for_the_harness_and_words_for_the_flat_loop() -> None:
    one = next(each for each in onetool.read() if each.written)
    (mine,), (flat,) = (onetool._results(one, side)[one.whole.must[0]] for side in ("harness", "flat"))
    assert mine.payload == Document("page", one.found)
    assert one.found not in mine.text
    assert (flat.text, flat.payload) == (one.found, None)


def test_ratios_are_of_the_cases_that_both_got_right() -> None:
    def tried(case: str, side: str, right: bool, decoded: int, seconds: float) -> Tried:
        return Tried(case, "4 tools", side, right, "", decoded=decoded, seconds=seconds)

    attempts = [
        tried("a", "harness", True, 30, 1.0),
        tried("a", "flat", True, 60, 4.0),
        tried("b", "harness", True, 1000, 9.0),
        tried("b", "flat", False, 10, 1.0),
    ]
    assert onetool.ratios(attempts).splitlines()[2:] == ["| 4 tools | 1 | 0.25 | 30 | 60 | 0.50 |"]
