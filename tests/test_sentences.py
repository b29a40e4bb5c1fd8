"""Sentences that keep what they were made of, and the tables of what the shipped tools say."""

from __future__ import annotations

import ast
import copy
import pickle
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer import sums
from muleteer.calling.results import checked
from muleteer.harness.events import TurnFinished
from muleteer.harness.phrases import LANGUAGES, tools_table
from muleteer.harness.turn import Harness
from muleteer.paths import share_dir
from muleteer.sentences import Sentence, figure, joined, opening, say, translated
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.harness.scripted import Choose, ScriptedBrain

GERMAN = {"The {thing} is {state} now.": "{thing} ist jetzt {state}.", "on": "an", ",": ",", "today": "heute"}
OTHERS = LANGUAGES[1:]
GAP = re.compile(r"\{(\w+)")


def test_a_sentence_is_its_english_text_until_it_is_said_in_another_language() -> None:
    said = say("The {thing} is {state} now.", thing="lamp", state=say("on"))
    assert said == "The lamp is on now."
    assert translated(said, GERMAN) == "lamp ist jetzt an."
    assert translated(said, {}) == said


def test_what_is_no_sentence_or_not_in_the_table_stays_as_it_is() -> None:
    assert translated("The lamp is on now.", GERMAN) == "The lamp is on now."
    assert translated(say("Noted: {note}", note="The {thing} is {state} now."), GERMAN).startswith(
        "Noted: The {"
    )


def test_joined_sentences_figures_and_openings() -> None:
    parts = joined("; ", (say("on"), "", figure("1234.5")))
    assert (parts, translated(parts, GERMAN)) == ("on; 1234.5", "an; 1234,5")
    begun = opening(say("today"))
    assert (begun, translated(begun, GERMAN)) == ("Today", "Heute")


def test_a_copy_is_the_same_sentence() -> None:
    said = say("The {thing} is {state} now.", thing="lamp", state=say("on"))
    for same in (copy.deepcopy(said), pickle.loads(pickle.dumps(said))):
        assert translated(same, GERMAN) == "lamp ist jetzt an."


def test_a_result_keeps_its_sentence_and_nothing_else_that_calls_itself_a_text() -> None:
    class Text(str):
        pass

    assert type(checked(Result.ok(say("on"))).text) is Sentence
    assert type(checked(Result.ok(Text("on"))).text) is str


def gaps(text: str) -> set[str]:
    return set(GAP.findall(text))


@pytest.mark.parametrize("language", OTHERS)
def test_every_translation_has_the_gaps_of_its_pattern(language: str) -> None:
    table = tools_table(language)
    assert table, language
    for english, theirs in table.items():
        assert gaps(theirs) <= gaps(english), english
        assert gaps(english) - gaps(theirs) <= {"rest"}, english


def said_by_tools() -> Iterator[str]:
    """Every pattern that a shipped tool says and that is written out whole."""
    ours = Path(sums.__file__).parent
    for path in sorted([*(share_dir() / "tools").glob("*.py"), *ours.glob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "say":
                first = node.args[0]
                if isinstance(first, ast.Constant) and isinstance(first.value, str):
                    yield first.value


def test_whatever_a_shipped_tool_says_has_a_german_sentence() -> None:
    only_gaps = re.compile(r"(?:\{\w+\}|[\W_])*")
    said = {each for each in said_by_tools() if not only_gaps.fullmatch(each)}
    assert len(said) > 50
    assert sorted(said - set(tools_table("de"))) == []


@pytest.mark.parametrize(
    ("message", "answer"),
    [("ist die Lampe an", "lamp ist an."), ("is the lamp on", "The lamp is on.")],
)
async def test_a_tool_answers_in_the_language_of_the_message(message: str, answer: str) -> None:
    @tool(effect="read")
    async def look() -> Result:
        """Look at the lamp."""
        return Result.ok(say("The {name} is {state}.", name="lamp", state=say("on")))

    brain = ScriptedBrain(Choose({"look": 1.0}))
    run = Harness(brain, Catalogue({}, Toolbox.of([look])), Budgets()).run(message)
    *_, last = [event async for event in run]
    assert isinstance(last, TurnFinished)
    assert last.answer == answer
