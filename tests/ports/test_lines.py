"""However the bytes are cut, the same lines come out; what was not seen from end to end is none."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muleteer.ports.lines import LONGEST, SHOWN, Lines, shown


def fed(*parts: bytes, broken: bool = False) -> list[str]:
    lines = Lines()
    lines.restart(broken=broken)
    return [line for part in parts for line in lines.feed(part)]


def test_cr_lf_and_both_end_a_line() -> None:
    assert fed(b"a\nb\r\nc\rd\n\n\r\n") == ["a", "b", "c", "d"]


@given(st.lists(st.sampled_from([b"T=21.5", b"\n", b"\r\n", b"\xff\x00", b" "]), max_size=12), st.data())
def test_where_it_is_cut_makes_no_difference(pieces: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(pieces)
    cut = data.draw(st.integers(0, len(whole)))
    assert fed(whole[:cut], whole[cut:]) == fed(whole)


def test_a_half_line_is_none_until_it_ends() -> None:
    lines = Lines()
    assert lines.feed(b"T=2") == []
    assert (lines.inside, lines.half()) == (True, "T=2")
    assert lines.feed(b"1.5\n") == ["T=21.5"]
    assert not lines.inside


def test_the_rest_of_a_line_whose_beginning_was_lost_is_none() -> None:
    assert fed(b"1.5", b"\n", b"T=21.5\n", broken=True) == ["T=21.5"]


def test_a_line_that_is_too_long_is_dropped_to_its_end() -> None:
    assert fed(b"x" * LONGEST + b"\n") == ["x" * LONGEST]
    assert fed(b"x" * (LONGEST + 1) + b"\nok\n") == ["ok"]
    assert fed(b"x" * (LONGEST + 1), b"7\n", b"ok\n") == ["ok"]


@given(st.lists(st.binary(max_size=4096), max_size=8))
def test_whatever_comes_is_bounded(parts: list[bytes]) -> None:
    lines = Lines()
    for part in parts:
        assert all(len(line) <= LONGEST for line in lines.feed(part))
        assert len(lines.half()) <= LONGEST


@given(st.binary(max_size=300).map(lambda raw: raw.decode(errors="replace")))
def test_what_is_shown_is_safe_and_short(text: str) -> None:
    said = shown(text)
    assert said.isprintable()
    assert len(said) <= SHOWN + 3
    assert said.count('"') == 2
