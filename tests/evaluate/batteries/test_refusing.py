"""Another share of `none`, from what a run has kept."""

from __future__ import annotations

from muleteer.engine.protocol import Message
from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.bfcl import Question
from muleteer.evaluate.batteries.refusing import refusals

ASKED = (Message("user", "?"),)
QUESTIONS = [
    Question("multiple_0", "multiple", ASKED, (), ({"sun": {}},)),
    Question("irrelevance_0", "irrelevance", ASKED, (), ()),
]


def tried(question: Question, none: float, sun: float, side: str = "harness") -> Tried:
    shares = {"sun": sun, "rain": 1 - none - sun, "none": none}
    case = f"{question.category} {question.id}"
    return Tried(case, question.category, side, True, "", extra={"shares": shares})


def test_each_share_of_none_has_its_right_functions_and_its_refusals() -> None:
    table = refusals(QUESTIONS, [tried(QUESTIONS[0], 0.3, 0.6), tried(QUESTIONS[1], 0.22, 0.5)])
    rows = {line.split(" | ")[0]: line for line in table.splitlines()}
    assert "| `none` from | multiple | irrelevance |" in table
    assert rows["| 0.5"].count("0 of 1, 0 %") == 1
    assert rows["| 0.5"].startswith("| 0.5 | 1 of 1, 100 %")
    assert rows["| 0.25 (in force)"].startswith("| 0.25 (in force) | 0 of 1")
    assert rows["| 0.2"].startswith("| 0.2 | 0 of 1")
    assert "| 1 of 1, 100 %" in rows["| 0.2"]


def test_the_wrong_function_is_wrong_and_a_run_without_shares_has_no_table() -> None:
    assert "0.5 | 0 of 1" in refusals(QUESTIONS, [tried(QUESTIONS[0], 0.1, 0.2)])
    assert refusals(QUESTIONS, [tried(QUESTIONS[0], 0.1, 0.2, "flat")]) == ""
