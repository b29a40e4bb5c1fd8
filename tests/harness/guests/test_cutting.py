"""Stop strings and limits on a text, whatever its chunks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.guests.cutting import Limited, Stops

TEXT = st.text("ab ", max_size=20)


@given(st.lists(TEXT, max_size=6), st.lists(st.text("ab", min_size=1, max_size=4), max_size=3))
def test_a_text_ends_before_its_first_stop_string_however_it_is_cut(
    chunks: list[str], stops: list[str]
) -> None:
    whole, cut = "".join(chunks), Stops(stops)
    shown = "".join(map(cut.feed, chunks)) + cut.finish()
    found = [at for stop in stops if (at := whole.find(stop)) >= 0]
    assert shown == (whole[: min(found)] if found else whole)
    assert cut.stopped is bool(found)


def test_what_can_be_no_stop_string_is_shown_at_once() -> None:
    cut = Stops(("END",))
    assert [cut.feed("It is E"), cut.feed("N"), cut.feed("ough. EN"), cut.feed("D more")] == [
        "It is ",
        "",
        "ENough. ",
        "",
    ]


async def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("limit", "shown", "cut"),
    [(None, "one two three", False), (2, "one two ", True), (3, "one two three", False)],
)
async def test_a_text_has_exactly_so_many_tokens(limit: int | None, shown: str, cut: bool) -> None:
    limited = Limited(limit, words)
    assert "".join([await limited.feed(each) for each in ("one t", "wo ", "three")]) == shown
    assert limited.cut is cut
    assert not cut or await limited.feed("more") == ""


async def test_a_short_text_is_not_counted() -> None:
    async def never(text: str) -> int:
        raise AssertionError(text)

    assert await Limited(20, never).feed("a few letters") == "a few letters"
