"""The reader, on a few cases of our own in BFCL's format; its package is not needed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from muleteer.engine.protocol import Message
from muleteer.engine.vetting import vet
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries import bfcl
from muleteer.evaluate.batteries.bfcl import Question, read, tool_of
from muleteer.evaluate.batteries.calling import pooled

WATER = {
    "name": "garden.water",
    "description": "Water a bed.",
    "parameters": {
        "type": "dict",
        "properties": {
            "bed": {"type": "string", "description": "which"},
            "litres": {"type": "float", "optional": True},
            "spots": {"type": "tuple", "items": {"type": "integer"}},
            "more": {"type": "dict"},
            "where": {"type": "dict", "properties": {"row": {"type": "integer"}}},
        },
        "required": ["bed"],
    },
}
LIGHT = {"name": "light", "description": "Light.", "parameters": {"type": "dict", "properties": {}}}
CASE = {
    "id": "multiple_0",
    "question": [[{"role": "user", "content": "Water the roses with 3 litres."}]],
    "function": [WATER, LIGHT],
}
ANSWER = {"id": "multiple_0", "ground_truth": [{"garden.water": {"bed": ["roses"], "litres": [3.0]}}]}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "possible_answer").mkdir()
    (tmp_path / "BFCL_v4_multiple.json").write_text(json.dumps(CASE) + "\n")
    (tmp_path / "possible_answer" / "BFCL_v4_multiple.json").write_text(json.dumps(ANSWER) + "\n")
    nothing = {**CASE, "id": "irrelevance_0", "function": [LIGHT]}
    (tmp_path / "BFCL_v4_irrelevance.json").write_text(json.dumps(nothing) + "\n")
    return tmp_path


def test_a_case_is_its_messages_its_functions_and_what_is_accepted(data: Path) -> None:
    (question,) = read("multiple", data)
    assert question.messages == (Message("user", "Water the roses with 3 litres."),)
    assert [tool.name for tool in question.tools] == ["garden.water", "light"]
    assert question.accepted == ({"garden.water": {"bed": ["roses"], "litres": [3.0]}},)


def test_the_formats_types_become_json_schemas_that_can_be_enforced() -> None:
    tool = tool_of(WATER)
    properties = tool.parameters["properties"]
    assert isinstance(properties, dict)
    assert {name: inner["type"] for name, inner in properties.items()} == {
        "bed": "string",
        "litres": "number",
        "spots": "array",
        "more": "object",
        "where": "object",
    }
    assert "optional" not in properties["litres"]
    assert properties["more"]["additionalProperties"] is True
    assert properties["where"]["properties"] == {"row": {"type": "integer"}}
    assert vet(tool.parameters)["required"] == ["bed"]


def test_where_nothing_fits_a_call_is_wrong(data: Path) -> None:
    (question,) = read("irrelevance", data)
    assert bfcl.complaint(question, []) == ""
    assert bfcl.complaint(question, [("light", {})]) == "light was called"


def test_files_that_are_missing_or_of_another_form_are_one_sentence(data: Path) -> None:
    with pytest.raises(ConfigError, match=r"BFCL_v4_live_simple\.json cannot be read"):
        read("live_simple", data)
    (data / "BFCL_v4_multiple.json").write_text('{"id": "multiple_0"}\n')
    with pytest.raises(ConfigError, match="has a line that is no case"):
        read("multiple", data)


def test_without_its_package_the_command_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(ConfigError, match="pip install --no-deps bfcl-eval"):
        bfcl.folder()


def question(number: int, *names: str) -> Question:
    functions = tuple({**LIGHT, "name": name} for name in names)
    return Question(str(number), "multiple", (Message("user", "?"),), functions, ())


def test_a_pool_holds_its_questions_own_functions_and_is_as_large_as_was_asked() -> None:
    questions = [question(1, "d", "a"), question(2, "b"), question(3, "c", "e", "f"), question(4, *"ghijk")]
    others = [tool_of({**LIGHT, "name": name}) for name in "xyza"]
    kept, pools = pooled(questions, 4, others)
    assert [one.id for one in kept] == ["1", "2", "3"]
    assert [[tool.name for tool in pool] for pool in pools] == [list("abdx"), list("abdx"), list("cefx")]
    assert pools[0] is pools[1]
