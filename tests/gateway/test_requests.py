from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.protocol import Message
from muleteer.errors import RequestError, TooLongError
from muleteer.gateway.requests import (
    LARGEST_HISTORY,
    LONGEST_BODY,
    LONGEST_HISTORY,
    LONGEST_MESSAGE,
    TurnRequest,
    parse_turn,
    wants_stream,
)


def test_all_keys() -> None:
    turn = parse_turn(
        b'{"message": "and now?", "stream": false, "history": ['
        b'{"role": "user", "content": "hello"}, {"role": "assistant", "content": "Hi."}]}'
    )
    assert (turn.message, turn.stream) == ("and now?", False)
    assert turn.messages() == (Message("user", "hello"), Message("assistant", "Hi."))


WRONG = {
    b"": "The body is empty; send a JSON object such as",
    b" \n": "The body is empty",
    b"\xff": "not valid UTF-8 at byte 0; send it as UTF-8.",
    b'{"message": "caf\xe9"}': "not valid UTF-8 at byte 16",
    b'{"message": "\xed\xa0\x80"}': "not valid UTF-8 at byte 13",
    b'{"message": "hi"': "not valid JSON: EOF while parsing an object at line 1 column 16.",
    b'{"message": "hi"} {}': "not valid JSON: trailing characters at line 1 column 19.",
    b'{"message": "\\ud800"}': "not valid JSON: unexpected end of hex escape at line 1 column 20.",
    b"[" * 100_000: "not valid JSON: recursion limit exceeded",
    b'["hi"]': "The body must be a JSON object such as",
    b'{"message": "hi", "session": "two words"}': "A session's name has at most 64 letters, digits and _",
    b"{}": 'The key "message" is missing',
    b'{"message": 3}': '"message" is wrong: it must be a valid string.',
    b'{"message": NaN}': '"message" is wrong',
    b'{"message": "hi", "stream": "yes"}': '"stream" is wrong: it must be a valid boolean.',
    b'{"mesage": "hi"}': 'There is no key "mesage"; did you mean "message"?',
    b'{"message": "hi", "x": 1}': 'no key "x"; the known ones are "message", "history", "stream", "confirm",',
    b'{"message": "hi", "history": "x"}': '"history" is wrong: it must be a valid',
    b'{"message": "hi", "history": [{"role": "tool", "content": ""}]}': '"history[0].role" is wrong: it must',
    b'{"message": "hi", "history": [{"role": "user"}]}': 'The key "history[0].content" is missing',
    b'{"message": "hi", "history": [{"rol": "user", "content": ""}]}': 'did you mean "role"?',
    b'{"message": " \\n"}': "The message is empty",
    b'{"message": "\\u200b\\ufeff\\u202e \\u2060"}': "The message is empty",
    b'{"message": "\\u3164\\ufe0f\\u00ad\\u001b"}': "The message is empty",
    b'{"message": "a\\u0000b"}': '"message" contains a zero character',
    b'{"message": "a", "history": [{"role": "user", "content": "\\u0000"}]}': '"history" contains a zero',
}


@pytest.mark.parametrize("arguments", ["{", "", '{"a": ', "{}"])
def test_b3_a_history_with_calls_is_refused_with_its_position_whatever_they_say(arguments: str) -> None:
    call = {"type": "function", "function": {"name": "clock", "arguments": arguments}}
    entry = {"role": "assistant", "content": "", "tool_calls": [call]}
    body = json.dumps({"message": "hi", "history": [{"role": "user", "content": "x"}, entry]})
    with pytest.raises(RequestError, match=r"history\[1\]\.tool_calls") as refused:
        parse_turn(body.encode())
    assert refused.value.status == 400


@pytest.mark.parametrize(("body", "sentence"), WRONG.items(), ids=[str(body[:40]) for body in WRONG])
def test_wrong_body_is_one_sentence(body: bytes, sentence: str) -> None:
    with pytest.raises(RequestError) as refused:
        parse_turn(body)
    assert sentence in str(refused.value)
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 400
    assert refused.value.status == 400


def entries(count: int, size: int) -> list[dict[str, str]]:
    return [{"role": "user", "content": "x" * size}] * count


LIMITS = [
    ({"message": "é" * (LONGEST_MESSAGE // 2)}, {"message": "é" * (LONGEST_MESSAGE // 2) + "x"}),
    (
        {"message": "x", "history": entries(LONGEST_HISTORY, 1)},
        {"message": "x", "history": entries(LONGEST_HISTORY + 1, 1)},
    ),
    (
        {"message": "x", "history": entries(2, LARGEST_HISTORY // 2)},
        {"message": "x", "history": entries(2, LARGEST_HISTORY // 2 + 1)},
    ),
]


@pytest.mark.parametrize(("fits", "exceeds"), LIMITS, ids=["message", "history count", "history bytes"])
def test_limits_are_exact(fits: dict[str, object], exceeds: dict[str, object]) -> None:
    parse_turn(json.dumps(fits, ensure_ascii=False).encode())
    with pytest.raises(TooLongError, match="at most"):
        parse_turn(json.dumps(exceeds, ensure_ascii=False).encode())


def test_what_the_limits_allow_fits_the_body_even_when_escaped() -> None:
    largest = {"message": "é" * (LONGEST_MESSAGE // 2), "history": entries(1, 0)}
    largest["history"] = [{"role": "user", "content": "é" * (LARGEST_HISTORY // 2)}]
    assert len(json.dumps(largest)) < LONGEST_BODY


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_any_bytes_are_a_turn_or_a_sentence(body: bytes) -> None:
    try:
        assert parse_turn(body).message.strip()
    except RequestError as error:
        assert str(error).endswith((".", "?"))  # noqa: PT017  (a turn is as right as an error)


@given(st.text().filter(lambda text: "\0" not in text), st.sampled_from("?é漢🫏"))
def test_any_message_arrives_as_it_was_sent(message: str, visible: str) -> None:
    message += visible
    assert parse_turn(json.dumps({"message": message}).encode()).message == message


@pytest.mark.parametrize(
    ("stream", "accept", "wanted"),
    [
        (None, "", True),
        (None, "*/*", True),
        (None, "application/json", False),
        (None, "application/json, text/event-stream", True),
        (True, "application/json", True),
        (False, "text/event-stream", False),
    ],
)
def test_body_decides_before_accept(stream: bool | None, accept: str, wanted: bool) -> None:
    assert wants_stream(TurnRequest(message="x", stream=stream), accept) is wanted
