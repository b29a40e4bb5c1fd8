"""Results of tools: wrong types are refused with one sentence, too much is cut and says so."""

from __future__ import annotations

from typing import Any

import pytest

from muleteer.calling.results import PAYLOAD_LIMIT, TEXT_LIMIT, checked, sentence
from muleteer.tool import Data, Document, Notes, Result, Status


class Word(str):
    """A tool's own string."""

    __slots__ = ()


@pytest.mark.parametrize(
    "result",
    [
        Result.ok("five", Data({"a": [1, {"b": None}]}), ("here",)),
        Result.ok("two", Notes(("one", "two"))),
        Result.ok("", Document("a.txt", "text")),
        Result.empty("nothing"),
    ],
)
def test_a_good_result_stays_as_it_is(result: Result) -> None:
    assert checked(result) == result


def test_values_are_built_in_ones_afterwards() -> None:
    values: dict[str, Any] = {"a": (1, 2)}
    made: Any = [Word("one")]
    result = checked(Result(Status.OK, Word("word"), Notes(made)))
    assert type(result.text) is str
    assert result.payload == Notes(("one",))
    copied = checked(Result.ok("", Data(values)))
    values["a"] = 5
    assert copied.payload == Data({"a": [1, 2]})


CIRCLE: dict[str, object] = {}
CIRCLE["again"] = CIRCLE
WRONG: list[tuple[Any, str]] = [
    ("text", "it returned str instead of a Result"),
    (("ok", "weird"), "it gave str instead of a Status as the status of its Result"),
    ((Status.OK, None), "it gave NoneType instead of str as the text of its Result"),
    ((Status.OK, 5), "it gave int instead of str as the text of its Result"),
    ((Status.OK, "", None, None), "it gave NoneType instead of a tuple of str as the sources of its Result"),
    ((Status.OK, "", None, "web"), "it gave str instead of a tuple of str as the sources of its Result"),
    ((Status.OK, "", {"a": 1}), "it gave dict instead of Notes, Document or Data as the payload"),
    ((Status.OK, "", Notes(None)), "it gave NoneType instead of a tuple of str as the items of its Notes"),  # type: ignore[arg-type]
    ((Status.OK, "", Notes((1,))), "it gave int instead of str as one of the items of its Notes"),  # type: ignore[arg-type]
    ((Status.OK, "", Document("a", None)), "it gave NoneType instead of str as the text of its Document"),  # type: ignore[arg-type]
    ((Status.OK, "", Data([])), "it gave list instead of a dict as the values of its Data"),  # type: ignore[arg-type]
    ((Status.OK, "", Data({"a": object()})), "the values of its Data are not JSON"),
    ((Status.OK, "", Data({"a": float("nan")})), "the values of its Data are not JSON"),
    ((Status.OK, "", Data(CIRCLE)), "the values of its Data are not JSON"),
]


@pytest.mark.parametrize(("given", "reason"), WRONG)
def test_a_wrong_result_is_refused(given: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        checked(Result(*given) if isinstance(given, tuple) else given)


def test_half_a_character_becomes_a_replacement() -> None:
    result = checked(Result.ok("a\ud800b", Data({"c\udfff": "d\ud800"})))
    assert result == Result.ok("a\ufffdb", Data({"c\ufffd": "d\ufffd"}))
    assert checked(Result.ok("", Notes(("\ud800",)))).payload == Notes(("\ufffd",))


def test_a_long_text_is_cut_visibly() -> None:
    assert checked(Result.ok("x" * TEXT_LIMIT)).text == "x" * TEXT_LIMIT
    assert checked(Result.ok("x" * (TEXT_LIMIT + 7))).text == "x" * TEXT_LIMIT + " [... 7 characters cut]"


def test_a_long_document_is_cut_visibly() -> None:
    room = PAYLOAD_LIMIT - len("book")
    result = checked(Result.ok("", Document("book", "x" * (room + 3))))
    assert result.payload == Document("book", "x" * room + " [... 3 characters cut]")


def test_notes_are_cut_where_all_of_them_become_too_long() -> None:
    half = PAYLOAD_LIMIT // 2
    result = checked(Result.ok("", Notes(("x" * half, "y" * half, "z" * 10))))
    assert result.payload == Notes(("x" * half, "y" * (half - 1) + " [... 11 characters cut]"))
    full = Notes(("x" * PAYLOAD_LIMIT,))
    assert checked(Result.ok("", full)).payload == full


def test_notes_without_text_have_an_end_too() -> None:
    payload = checked(Result.ok("", Notes(("",) * (PAYLOAD_LIMIT + 10)))).payload
    assert isinstance(payload, Notes)
    assert len(payload.items) == PAYLOAD_LIMIT + 1


def test_data_that_is_too_large_is_dropped_visibly() -> None:
    result = checked(Result.ok("Read.", Data({"a": "x" * PAYLOAD_LIMIT})))
    size = PAYLOAD_LIMIT + len('{"a": ""}')
    assert result == Result.ok(f"Read. [... {size} characters cut]")


def test_the_sentence_about_a_fault_is_one_short_line() -> None:
    assert sentence(ValueError("the moon\nis not up")) == "the moon is not up."
    assert sentence(KeyError("k")) == "KeyError: 'k'."
    assert sentence(SystemExit(3)) == "it tried to end the program."
    assert len(sentence(ValueError("x" * 10_000))) == 200
    assert sentence(ValueError("a\ud800")) == "a\ufffd."
