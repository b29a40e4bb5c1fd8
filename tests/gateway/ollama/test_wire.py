"""What of a body of Ollama's format is taken, and what it becomes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muleteer.gateway.ollama.wire import ANY_OBJECT, chat, generate
from muleteer.gateway.reading import read
from muleteer.harness.guests.ask import Called, Said
from tests.gateway.ollama.fuzz_bodies import fuzz

USER = {"role": "user", "content": "hello"}


def taken(**more: Any) -> Any:
    return chat(read(json.dumps({"model": "m", "messages": [USER], **more}).encode()), 4096, "phone")


def call(name: str, **more: Any) -> dict[str, Any]:
    return {"function": {"name": name, "arguments": {"a": 1}}, **more}


def test_results_find_their_calls_by_id_by_name_and_by_order() -> None:
    calls = [call("f", id="x"), call("g"), call("h")]
    results = [
        {"role": "tool", "content": "third", "tool_name": "h"},
        {"role": "tool", "content": "first", "tool_call_id": "x"},
        {"role": "tool", "content": "second"},
    ]
    wish = taken(messages=[USER, {"role": "assistant", "tool_calls": calls}, *results])
    _, asked, *answers = wish.ask.messages
    ids = [each.id for each in asked.calls]
    assert (asked.calls[0], ids) == (Called("f", '{"a": 1}', "x"), ["x", "1.1", "1.2"])
    answered = [(said.content, said.answers) for said in answers]
    assert answered == [("third", "1.2"), ("first", "x"), ("second", "1.1")]


def test_halves_of_calls_are_left_out_of_what_was_before() -> None:
    messages = [
        {"role": "tool", "content": "of nothing"},
        USER,
        {"role": "assistant", "content": "I look.", "tool_calls": [call("f"), call("g")]},
        {"role": "tool", "content": "done", "tool_name": "g"},
        USER,
    ]
    wish = taken(messages=messages)
    assert [said.role for said in wish.ask.messages] == ["user", "assistant", "tool", "user"]
    assert [each.name for each in wish.ask.messages[1].calls] == ["g"]
    assert [warning.split()[0] for warning in wish.warnings] == ["messages[0]", "1"]


@pytest.mark.parametrize("schema", [{}, {"type": "object"}, {"type": "object", "properties": {}}, None])
def test_a_tool_without_parameters_has_none(schema: object) -> None:
    (tool,) = taken(tools=[{"function": {"name": "f", "description": None, "parameters": schema}}]).ask.tools
    assert (tool.description, tool.parameters) == ("", {"type": "object", "properties": {}})


def test_a_prompt_and_a_system_text_are_messages() -> None:
    body = {"model": "m", "prompt": "hello", "system": "be short", "format": "json", "stream": False}
    wish = generate(read(json.dumps(body).encode()), 4096)
    assert wish.ask
    assert wish.ask.messages == (Said("system", "be short"), Said("user", "hello"))
    assert (wish.ask.schema, wish.stream) == (ANY_OBJECT, False)


def test_who_asks_is_known() -> None:
    assert (taken().ask.guest, taken().stream, taken().warnings) == ("phone", True, ())


def test_whatever_comes_is_taken_or_refused_with_a_sentence() -> None:
    assert 100 < fuzz(1, 2000) < 1000
