"""The list of members survives restarts, merges to the same everywhere, and has a limit."""

from __future__ import annotations

import stat
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import pytest

from muleteer.seat.identity import load_identity
from muleteer.seat.roster import (
    FILE_NAME,
    MOST_MEMBERS,
    Member,
    Roster,
    RosterFullError,
    joined_roster,
    leave_household,
    load_roster,
    new_roster,
)


def member(number: int, **fields: object) -> Member:
    return replace(Member(f"{number:032x}", f"{number:064x}", f"n{number}"), **fields)  # type: ignore[arg-type]


def household(folder: Path) -> Roster:
    return new_roster(folder, f"{0:032x}", f"{0:064x}", "hall")


def test_an_identity_is_private_and_stays(tmp_path: Path) -> None:
    first = load_identity(tmp_path)
    assert load_identity(tmp_path).public == first.public
    assert stat.S_IMODE((tmp_path / "device-key").stat().st_mode) == 0o600
    (tmp_path / "device-key").write_text("no key\n")
    with pytest.raises(OSError, match="damaged"):
        load_identity(tmp_path)


def test_a_list_is_what_it_was_after_a_restart(tmp_path: Path) -> None:
    roster = household(tmp_path)
    roster.add(member(1).id, member(1).key, "shed")
    roster.forget(member(1).id)
    again = load_roster(tmp_path)
    assert again is not None
    assert again.entries() == roster.entries()
    assert again.key.private_bytes_raw() == roster.key.private_bytes_raw()
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    leave_household(tmp_path)
    leave_household(tmp_path)
    assert load_roster(tmp_path) is None


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"household_key": "00", "members": []}', "\x00"])
def test_a_damaged_list_is_told_and_left(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(OSError, match="damaged"):
        load_roster(tmp_path)
    assert (tmp_path / FILE_NAME).read_text() == content


def test_whatever_order_news_come_in_every_list_ends_the_same(tmp_path: Path) -> None:
    news = [member(1), member(1, change=2, gone=True), member(1, change=3), member(1, change=3, gone=True)]
    ends = set()
    for order in permutations(news):
        roster = household(tmp_path)
        for each in order:
            roster.merge([each])
        ends.add(tuple(roster.entries()))
    assert len(ends) == 1
    assert ends.pop()[1].gone, "of two equally late changes the sending away wins"


def test_a_member_that_comes_back_counts_again(tmp_path: Path) -> None:
    roster = household(tmp_path)
    roster.add(member(1).id, member(1).key, "shed")
    assert roster.forget(member(1).id)
    assert roster.get(member(1).id) is None
    assert roster.forget(member(1).id) is None
    assert roster.add(member(1).id, member(1).key, "shed").change == 3
    assert roster.get(member(1).id)


def test_a_household_has_a_limit_and_a_refused_change_changes_nothing(tmp_path: Path) -> None:
    roster = household(tmp_path)
    for number in range(1, MOST_MEMBERS):
        roster.add(member(number).id, member(number).key, "x")
    before = roster.entries()
    with pytest.raises(RosterFullError, match="forget one"):
        roster.merge([member(1000)])
    assert roster.entries() == before
    assert joined_roster(tmp_path, "11" * 32, before).entries() == before


@pytest.mark.parametrize(
    "fields", [{"id": "A" * 32}, {"key": "1"}, {"change": 0}, {"change": 2**60}, {"name": "x" * 65}]
)
def test_what_is_no_member_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"it has no|its name"):
        member(1, **fields)
