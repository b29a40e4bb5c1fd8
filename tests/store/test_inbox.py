"""The inbox keeps what every device wrote, in order, once, and hands over what another device lacks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muleteer.store.inbox import BATCH, CUT, LONGEST_TEXT, MOST_ENTRIES, PRIVATE, InboxStore, Written

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
ONE, TWO = "1" * 32, "2" * 32


async def written(store: InboxStore, count: int) -> list[Written]:
    return [await store.write("daily-brief", f"slot {n}", f"text {n}", True, NOON) for n in range(count)]


async def test_what_one_device_lacks_the_other_hands_over(tmp_path: Path) -> None:
    first, second = InboxStore(tmp_path / "1.db", ONE), InboxStore(tmp_path / "2.db", TWO)
    await written(first, BATCH + 10)
    own = await second.write("device-health", "07:00", "all is well", False, NOON)
    while lacking := await first.lacking(await second.have()):
        assert len(lacking) <= BATCH
        assert await second.take(lacking) == lacking
        assert await second.take(lacking) == [], "an entry comes once"
    await first.take(await second.lacking(await first.have()))
    assert await first.have() == await second.have() == {ONE: BATCH + 10, TWO: 1}
    texts = {entry.text for entry in await first.entries(limit=1000)}
    assert texts == {entry.text for entry in await second.entries(limit=1000)}
    assert own.text in texts
    await first.close()
    await second.close()


async def test_of_a_private_entry_other_devices_get_only_that_it_is_there(tmp_path: Path) -> None:
    first, second = InboxStore(tmp_path / "1.db", ONE), InboxStore(tmp_path / "2.db", TWO)
    await first.write("diary", "07:00", "Anna is kind.", True, NOON, private=True)
    await first.write("daily-brief", "07:00", "It rains.", True, NOON)
    await second.take(await first.lacking(await second.have()))
    assert await second.have() == await first.have()
    assert {each.text for each in await second.entries()} == {PRIVATE, "It rains."}
    assert {each.text for each in await first.entries()} == {"Anna is kind.", "It rains."}
    await first.close()
    await second.close()


async def test_reading_is_known_on_this_device_and_outlives_a_restart(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "1.db", ONE)
    await written(store, 3)
    newest = (await store.entries(limit=1))[0]
    assert (newest.skill, newest.text, newest.when) == ("daily-brief", "text 2", NOON)
    assert await store.read([newest.id, newest.id, "x", f"{ONE}-99", f"{ONE}-\u0663"]) == 1
    await store.close()
    again = InboxStore(tmp_path / "1.db", ONE)
    assert [entry.text for entry in await again.entries(unread=True)] == ["text 1", "text 0"]
    await again.close()


async def test_a_long_text_is_cut_with_a_mark_and_many_entries_push_out_the_oldest(tmp_path: Path) -> None:
    store = InboxStore(tmp_path / "1.db", ONE)
    long = await store.write("daily-brief", "07:00", "x" * (LONGEST_TEXT + 1), True, NOON)
    assert long.text == "x" * LONGEST_TEXT + CUT
    base = Written(TWO, 1, "daily-brief", "07:00", NOON.timestamp() + 1, "text", True)
    await store.take(replace(base, serial=n, written=base.written + n) for n in range(1, MOST_ENTRIES + 1))
    kept = await store.entries(limit=2 * MOST_ENTRIES)
    assert len(kept) == MOST_ENTRIES
    assert all(entry.device == TWO for entry in kept)
    assert (await store.have())[ONE] == 1, "what was pushed out does not come back"
    await store.close()


@pytest.mark.parametrize(
    "fields",
    [
        {"serial": 0},
        {"serial": 2**53},
        {"skill": ""},
        {"slot": "x" * 101},
        {"written": -1.0},
        {"text": "x" * 9000},
    ],
)
def test_what_is_no_entry_is_refused(fields: dict[str, object]) -> None:
    entry = Written(ONE, 1, "daily-brief", "07:00", 0.0, "", True)
    with pytest.raises(ValueError, match=r"its \w+ (are|is|make)"):
        replace(entry, **fields)  # type: ignore[arg-type]
