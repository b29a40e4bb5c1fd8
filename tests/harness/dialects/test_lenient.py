"""JSON as models write it: what is form is read, what would be guessed is a fault."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.dialects.lenient import DEEPEST, Fault, Scanner, unescaped

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


def read(text: str, stop: str = "") -> object:
    scanner = Scanner(text, 0, stop)
    value = scanner.value()
    assert scanner.over, f"more follows at {scanner.at}"
    return value


@given(values, st.booleans())
def test_json_is_read_as_it_is(value: object, ascii: bool) -> None:
    assert read(json.dumps(value, ensure_ascii=ascii)) == value


@given(st.text("{}[]\":,\\ 'abnu0123456789.-eEtrufalsn\n", max_size=40))
def test_any_text_is_a_value_or_a_fault(text: str) -> None:
    scanner = Scanner(text)
    with contextlib.suppress(Fault):
        scanner.value()
    assert 0 <= scanner.at <= len(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (r'"\d+"', r"\d+"),
        (r'"C:\Users\tom\new"', r"C:\Users\tom\new"),
        (r'"C:\temp\new"', r"C:\temp\new"),
        (r'"C:\\temp\\new"', r"C:\temp\new"),
        (r'"\\server\share"', r"\server\share"),
        (r'"^\w+\.txt$"', r"^\w+\.txt$"),
        (r'"Q:\nA"', "Q:\nA"),
        (r'"say \"x\" \u00e9\ud83d\ude00"', 'say "x" é😀'),
        (r'"\ud83d"', "\N{REPLACEMENT CHARACTER}"),
        ('"two\nlines"', "two\nlines"),
        ("{'a': 'b', \"c\": [True, None,],}", {"a": "b", "c": [True, None]}),
        ('{"a": {"b": [1, 2', {"a": {"b": [1, 2]}}),
        ('{"a": "b', {"a": "b"}),
    ],
)
def test_form_is_forgiven(text: str, value: object) -> None:
    assert read(text) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[",
        '{"a',
        '{"a"',
        '{"a":',
        '{"a": tru',
        '{"a": -',
        '{"a": 1,',
        '{"a": 1 "b": 2}',
        '{"a" 1}',
        '{"a": 1, "a": 2}',
        '{"a": "b\\',
        "{a: 1}",
        '{"a": b}',
        '{"a": 1e999}',
        '{"a": NaN}',
        f'{{"a": {"9" * 5000}}}',
        "[" * (DEEPEST + 1),
        "[" * 100_000,
    ],
)
def test_what_would_be_guessed_is_a_fault(text: str) -> None:
    with pytest.raises(Fault):
        Scanner(text).value()


def test_a_text_that_ended_within_a_value_says_so() -> None:
    for text, closed, completed in (
        ('{"a": "b"}', False, False),
        ('{"a": "b"', False, True),
        ('{"a": "b', True, True),
        ('{"a": 12', True, True),
    ):
        scanner = Scanner(text)
        scanner.value()
        assert (scanner.closed, scanner.completed) == (closed, completed), text


def test_a_string_does_not_run_over_the_mark_that_ends_the_call() -> None:
    with pytest.raises(Fault, match="quotation mark"):
        read('{"a": "b}</tool_call>', "</tool_call>")
    assert read('{"a": "</tool_call>"}</tool_call>', "</tool_call>") == {"a": "</tool_call>"}


@given(texts)
def test_escapes_are_undone(text: str) -> None:
    assert unescaped(json.dumps(text)[1:-1]) == text or text[1:3] == ":\\" or text[1:2] == ":"
