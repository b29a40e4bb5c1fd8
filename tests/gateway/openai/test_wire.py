"""Bodies of chat completions: what is taken, what is refused, and where the fault is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muleteer.gateway.openai.wire import ANY_OBJECT, completion
from muleteer.gateway.reading import WrongError, read
from muleteer.harness.guests.ask import Said
from tests.gateway.openai.fuzz_bodies import fuzz

USER = {"role": "user", "content": "hello"}


def taken(**more: Any) -> Any:
    return completion(read(json.dumps({"model": "m", "messages": [USER], **more}).encode()))


def test_messages_of_every_role_and_form() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
    parts = [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]
    messages = [
        {"role": "developer", "content": "be short"},
        {"role": "user", "content": parts, "name": "Ann"},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": parts},
    ]
    system, user, assistant, tool = taken(messages=messages).ask.messages
    assert system == Said("system", "be short")
    assert user == Said("user", "one\ntwo")
    assert (assistant.content, assistant.calls[0].arguments) == ("", '{"a": 1}')
    assert tool == Said("tool", "one\ntwo", answers="c")


def test_limits_stops_and_forms() -> None:
    assert taken(max_tokens=5).ask.limit == 5
    assert taken(max_tokens=5, max_completion_tokens=7).ask.limit == 7
    assert taken(stop="a").ask.stop == ("a",)
    assert taken(stop=["a", "b"]).ask.stop == ("a", "b")
    assert taken(response_format={"type": "json_object"}).ask.schema == ANY_OBJECT
    assert taken(response_format={"type": "text"}).ask.schema is None
    assert taken(metadata={"session": "kitchen"}).ask.session == "kitchen"


def test_what_only_bears_on_sampling_has_no_effect() -> None:
    plain = taken()
    assert taken(temperature=0.2, top_p=1, seed=7, user="u", top_k=3, n=1, logprobs=False) == plain
    assert taken(tools=None, stop=None, response_format=None, unheard_of=None) == plain


@pytest.mark.parametrize(
    ("more", "at", "says"),
    [
        ({"messages": []}, "", ""),
        ({"messages": "hi"}, "messages", "must be a list"),
        ({"messages": [{"role": "king", "content": "x"}]}, "messages[0].role", "must be one of"),
        ({"messages": [{"role": "user"}]}, "messages[0].content", "is missing"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content", "must be a list"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x"}}]}]},
            "messages[0].content[0]",
            "Pictures cannot be read here",
        ),
        ({"messages": [{"role": "user", "content": "a\0"}]}, "messages[0].content", "zero character"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "messages[0].tool_call_id", "is missing"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages[0].role", "must be one of"),
        ({"functions": [{"name": "f"}]}, "functions", "send `tools`"),
        ({"n": 2}, "n", "one reply"),
        ({"logprobs": True}, "logprobs", "no probabilities"),
        ({"num_ctx": 9999}, "num_ctx", "is no parameter that is known here"),
        ({"max_tokens": 0}, "max_tokens", "at least 1"),
        ({"max_tokens": True}, "max_tokens", "a whole number"),
        ({"stop": ["a"] * 5}, "stop", "may have 4"),
        ({"stop": [""]}, "stop[0]", "must have 1 to"),
        ({"stream": "yes"}, "stream", "true or false"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type", "must be one of 'function'"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "tools[0].function.name", "letters"),
        ({"tool_choice": "required"}, "tool_choice", "needs `tools`"),
        ({"tool_choice": "maybe"}, "tool_choice", "must be one of"),
        ({"response_format": {"type": "xml"}}, "response_format.type", "must be one of"),
        ({"metadata": {"session": "a/b"}}, "metadata.session", "at most 64 letters"),
    ],
)
def test_what_is_wrong_says_where(more: dict[str, Any], at: str, says: str) -> None:
    if not at:
        assert taken(**more).ask.messages == ()  # that a user's message is missing is for whoever reads them
        return
    with pytest.raises(WrongError) as caught:
        taken(**more)
    assert caught.value.at == at
    assert says in str(caught.value)


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff", b'{"model": NaN}', b'"x"', b'{"a": "\\ud800"}', b"[" * 9999]
)
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(WrongError):
        completion(read(body))


def test_whatever_comes_is_taken_or_refused_with_a_sentence() -> None:
    assert 100 < fuzz(1, 2000) < 1000
