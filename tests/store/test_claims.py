"""Claims outlive the process as they were, for a year."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muleteer.seat.claims import KEEP, Claim, State
from muleteer.store.claims import ClaimStore

NOW = datetime(2026, 11, 30, 12, 0, 0, 123457, tzinfo=UTC)


def claim(slot: str, **fields: object) -> Claim:
    given: dict[str, object] = {"repeatable": True, "made": NOW, "attempt": 2, "settles": True} | fields
    return Claim("daily-brief", slot, 7, "1" * 32, **given)  # type: ignore[arg-type]


async def test_claims_come_back_as_they_were_the_last_to_change_at_the_end(tmp_path: Path) -> None:
    store = ClaimStore(tmp_path / "c.db")
    await store.keep([claim("a"), claim("b", made=None, repeatable=False), claim("c", state=State.DONE)])
    await store.keep([claim("a", state=State.FAILED)])
    await store.close()
    again = ClaimStore(tmp_path / "c.db")
    assert await again.load() == [
        claim("b", made=None, repeatable=False),
        claim("c", state=State.DONE),
        claim("a", state=State.FAILED),
    ]
    await again.close()


async def test_a_year_is_kept_and_a_clock_that_was_set_back_forgets_nothing(tmp_path: Path) -> None:
    store = ClaimStore(tmp_path / "c.db")
    old = claim("old", made=NOW - KEEP - timedelta(days=1))
    await store.keep([old, claim("new"), claim("timeless", made=None)])
    assert await store.forget(NOW - timedelta(days=3650)) == []
    assert await store.forget(NOW) == [old.key]
    assert {each.slot for each in await store.load()} == {"new", "timeless"}
    await store.close()


async def test_a_damaged_row_hides_no_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ClaimStore(tmp_path / "c.db")
    await store.keep([claim("a"), claim("b")])
    await store.close()
    with closing(sqlite3.connect(tmp_path / "c.db")) as connection:
        connection.execute("UPDATE claims SET state = 'eaten' WHERE slot = 'a'")
        connection.commit()
    assert [each.slot for each in await store.load()] == ["b"]
    assert "cannot be read" in caplog.text
    await store.close()
