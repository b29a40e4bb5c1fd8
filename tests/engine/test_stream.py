from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.stream import Visible, cycle


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    edges = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def shown(parts: list[bytes], stops: tuple[str, ...] = ()) -> tuple[str, bool]:
    visible = Visible(stops)
    text = ""
    for part in parts:
        text += visible.feed(part)
        if visible.stopped:
            return text, True
    return text + visible.finish(), visible.stopped


cuts = st.lists(st.integers(0, 1000), max_size=12)


@given(st.text(alphabet="aé水😀<think>/", max_size=40), cuts)
def test_cuts_never_change_the_text(text: str, where: list[int]) -> None:
    assert shown(pieces(text.encode(), where)) == shown([text.encode()])


@given(st.text(alphabet="ab\n", max_size=20), st.text(alphabet="ab\n", max_size=20), cuts)
def test_the_text_ends_before_the_first_stop_string(before: str, after: str, where: list[int]) -> None:
    whole = f"{before}XYZ{after}"
    assert shown(pieces(whole.encode(), where), ("XYZ", "")) == (before, True)


@given(st.text(alphabet="ab", max_size=9), st.text(alphabet="ab<", max_size=9), cuts)
def test_thoughts_never_leave(before: str, thought: str, where: list[int]) -> None:
    whole = f"{before}<think>{thought} STOP\n</think>\n\nyes"
    assert shown(pieces(whole.encode(), where), ("STOP",)) == (before + "yes", False)


def test_an_unfinished_thought_shows_nothing() -> None:
    assert shown([b"<thi", b"nk>so", b" far"]) == ("", False)


def test_what_only_looked_like_a_marker_comes_out_at_the_end() -> None:
    visible = Visible(("END",))
    assert visible.feed(b"the EN") == "the "
    assert visible.finish() == "EN"


@pytest.mark.parametrize("tag", ["<", "<th", "<think", "</thin"])
def test_half_a_tag_at_a_limit_is_not_shown(tag: str) -> None:
    visible = Visible(("END",))
    shown = visible.feed(f"yes {tag}".encode())
    assert shown + visible.finish(cut=True) == "yes "
    visible = Visible(("END",))
    shown = visible.feed(b"yes EN")
    assert shown + visible.finish(cut=True) == "yes EN"


def test_half_a_character_at_a_limit_is_not_shown() -> None:
    visible = Visible()
    assert visible.feed("yes 😀".encode()[:-1]) + visible.finish(cut=True) == "yes "


def test_broken_bytes_become_one_visible_mark() -> None:
    assert shown([b"a\xe6\xb0", b"b"]) == ("a\ufffdb", False)


@pytest.mark.parametrize(
    ("tokens", "period"),
    [
        ([], 0),
        ([7] * 23, 0),
        ([7] * 24, 1),
        ([1, 2, *[3, 4] * 12], 2),
        (list(range(20)) * 4, 20),
        (list(range(20)) * 3, 0),
        ([*list(range(20)) * 4, 5], 0),
        (list(range(200)), 0),
    ],
)
def test_cycle(tokens: list[int], period: int) -> None:
    assert cycle(tokens) == period
