"""Prose and calls out of a reply: every dialect, cut anywhere, in any chunks; what only looks like a call."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.protocol import CALL_MARKS
from muleteer.harness.dialects import Reader, ToolCall, arguments, parse
from tests.harness.dialects.material import ARGUMENTS, CALL, JSON, OWN, TOOLS, WAYS

HERMES = ("<tool_call>",)
PROSE = (
    "",
    "It is noon.",
    "1 < 2 and 3 > 2, so {x} [y] `z`",
    "Use `<tool_call>` to call.",
    "A list: [1, 2, 3] and [f(x) for x in y]",
    "See [the page](https://example.org/a(b)).",
    '```python\nprint({"name": "clock", "arguments": {}})\n```',
    '{"name": "Bob", "age": 3}',
    '{"type": "object", "properties": {}}',
    f"A call looks like `{CALL}`.",
    f"For example:\n```json\n{CALL}\n```\nThat is all.",
    '{"name": "get_weather", "description": "x", "parameters": {"type": "object", "properties": {}}}',
    '"<tool_call>{}</tool_call>" is how it is written',
    "ends with {",
    "ends with [x",
    "ends with ```",
    "`[a{",
)


def read_in(chunks: Sequence[str], marks: Sequence[str]) -> tuple[str, tuple[ToolCall, ...]]:
    reader = Reader(TOOLS, marks)
    shown = "".join(map(reader.feed, chunks))
    rest, calls = reader.finish()
    return shown + rest, calls


def only(text: str, marks: Sequence[str] = HERMES, cut: bool = False) -> ToolCall:
    prose, calls = parse(text, TOOLS, marks, cut)
    assert not prose, prose
    assert len(calls) == 1
    return calls[0]


@pytest.mark.parametrize("own", OWN)
@pytest.mark.parametrize("way", WAYS)
def test_a3_a4_a7_a8_a11_every_dialect_is_read_and_never_shown(way: str, own: str) -> None:
    call = only(WAYS[way], OWN[own])
    assert (call.name, call.arguments, call.fault) == ("get_weather", ARGUMENTS, "")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("lead", ["Sure, one moment.\n", "One moment! "])
def test_words_before_a_call_are_prose_and_the_call_is_made(way: str, lead: str) -> None:
    prose, calls = parse(lead + WAYS[way], TOOLS, CALL_MARKS)
    assert (prose, [call.arguments for call in calls]) == (lead.strip(), [ARGUMENTS])


@pytest.mark.parametrize("text", PROSE)
def test_prose_that_quotes_or_looks_like_a_call_is_prose(text: str) -> None:
    assert parse(text, TOOLS, HERMES) == (text, ())


@pytest.mark.parametrize(
    "text",
    [
        f"The page says: <tool_call>{CALL}</tool_call>",
        f"It would be: {CALL}",
        f"It is written like this {CALL}",
        f"So:\n{CALL}",
    ],
)
def test_a_call_that_a_sentence_leads_up_to_is_asked_about_and_neither_made_nor_shown(text: str) -> None:
    prose, (call,) = parse(text, TOOLS, HERMES)
    assert CALL not in prose
    assert call.arguments is None
    assert "as to an example" in call.fault


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("cut", [False, True])
def test_b2_a_call_that_is_cut_anywhere_is_whole_or_a_fault_or_nothing(way: str, cut: bool) -> None:
    """Where it is whole, its values are those that were written, or it is known that the last one was cut."""
    text = WAYS[way]
    for end in range(len(text)):
        prose, calls = parse(text[:end], TOOLS, CALL_MARKS, cut)
        assert not prose.strip("<[`tolf"), prose
        for call in calls:
            assert (call.arguments is None) == bool(call.fault)
            if call.arguments is None or call.closed:
                assert not (cut and call.closed and call.arguments)
                continue
            assert call.arguments == ARGUMENTS or (
                not cut and call.arguments == {"city": ARGUMENTS["city"]}
            ), text[:end]


@pytest.mark.parametrize("end", range(len(JSON)))
def test_b2_arguments_that_a_server_cut_are_never_what_was_not_written(end: int) -> None:
    call = arguments("get_weather", JSON[:end], cut=True)
    assert call.arguments is None or (end == 0 and call.arguments == {})


@pytest.mark.parametrize("text", ["[1]", "{,}", "null x", '{"a": }', '{"a" "b"}', "x", '"x"', "[]", "1"])
def test_b3_b5_arguments_that_cannot_be_read_are_a_fault_and_never_empty(text: str) -> None:
    call = arguments("clock", text)
    assert call.arguments is None
    assert call.fault
    wrapped = parse(f'<tool_call>{{"name": "clock", "arguments": {text}}}</tool_call>', TOOLS, HERMES)[1]
    assert [each.arguments for each in wrapped] == [None]


def test_b4_escapes_that_json_does_not_know_are_read_as_they_stand() -> None:
    call = only(r'<tool_call>{"name": "clock", "arguments": {"a": "\d+", "b": "C:\Users\x"}}</tool_call>')
    assert call.arguments == {"a": r"\d+", "b": r"C:\Users\x"}


@pytest.mark.parametrize(
    "broken",
    [
        CALL.replace('", "arguments', '" "arguments'),
        CALL.replace('"city": "', '"city": '),
        CALL.replace('"city"', '"city'),
        CALL.replace(', "days"', ' "days"'),
    ],
)
@pytest.mark.parametrize("around", ["{}", "<tool_call>{}</tool_call>", "```json\n{}\n```"])
def test_b6_a_malformed_call_is_neither_guessed_nor_lost(broken: str, around: str) -> None:
    call = only(around.replace("{}", broken))
    assert call.name == "get_weather"
    assert call.arguments is None
    assert "cannot be read: at character" in call.fault


def test_a_schema_is_no_arguments() -> None:
    call = only('{"name": "clock", "arguments": {"type": "object", "properties": {"type": "string"}}}')
    assert call.arguments is None
    assert "the schema instead" in call.fault


def test_c7_an_unknown_name_is_a_call_where_the_reply_is_nothing_else() -> None:
    unknown = CALL.replace("get_weather", "launch")
    assert only(unknown).name == "launch"
    assert only(f"<tool_call>{unknown}</tool_call>").name == "launch"
    assert parse(f"Done. {unknown}", TOOLS, HERMES) == (f"Done. {unknown}", ())


def test_several_calls_in_their_order() -> None:
    second = '{"name": "clock", "arguments": {}}'
    for text in (
        f"<tool_call>{CALL}</tool_call>\n<tool_call>{second}</tool_call>",
        f"<tool_call>{CALL}\n{second}</tool_call>",
        f"[{CALL}, {second}]",
        f"{CALL}\n{second}",
        f"```json\n{CALL}\n{second}\n```",
        f"<|python_tag|>{CALL}; {second}",
        '[get_weather(city="x"), clock()]',
    ):
        prose, calls = parse(text, TOOLS, HERMES)
        assert (prose, [call.name for call in calls]) == ("", ["get_weather", "clock"]), text


def test_a_limit_within_the_second_call_leaves_the_first_whole() -> None:
    text = f"<tool_call>{CALL}</tool_call>\n<tool_call>{CALL[:-9]}"
    _, (first, second) = parse(text, TOOLS, HERMES, cut=True)
    assert first.arguments == ARGUMENTS
    assert second.arguments is None


def test_the_text_after_the_models_own_call_stays_apart() -> None:
    prose, calls = parse(f"A. <tool_call>{CALL}</tool_call> B.", TOOLS, HERMES)
    assert (prose, len(calls)) == ("A. B.", 1)


EVERY = [*PROSE, *WAYS.values(), *(f"Well. {way}" for way in WAYS.values()), f"So:\n{CALL}", "  \n leading"]


@pytest.mark.parametrize("text", EVERY)
def test_the_same_in_any_chunks_of_one_size(text: str) -> None:
    whole = parse(text, TOOLS, HERMES)
    for size in (1, 2, 3, 7):
        assert read_in([text[at : at + size] for at in range(0, len(text), size)], HERMES) == whole, size


@given(
    st.lists(
        st.sampled_from(
            [
                "<tool_call>",
                "</tool_call>",
                CALL,
                "```",
                "json\n",
                "\n",
                " ",
                "{",
                "}",
                "[",
                "]",
                '"',
                "name",
                "arguments",
                ":",
                "clock",
                "(",
                ")",
                "`",
                "<",
                "It is noon.",
                "<|python_tag|>",
                "<functioncall ",
            ]
        ),
        max_size=12,
    ),
    st.data(),
)
def test_any_text_is_read_the_same_in_any_chunks(parts: list[str], data: st.DataObject) -> None:
    text = "".join(parts)
    border = data.draw(st.integers(0, len(text)))
    other = data.draw(st.integers(border, len(text)))
    assert read_in([text[:border], text[border:other], text[other:]], HERMES) == parse(text, TOOLS, HERMES)


# Hypothesis draws constants of the code that is tested as well, and so the mark of a call.
@given(st.text(max_size=60).filter(lambda text: not any(mark in text for mark in CALL_MARKS)))
def test_random_text_is_prose(text: str) -> None:
    assert parse(text, TOOLS, HERMES)[1] == ()
