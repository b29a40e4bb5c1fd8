from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.background.alone import Alone
from muleteer.store.database import StoreError
from tests.seat.test_full_disk import failing

SLOT = "2026-11-30T07:00:00Z"


async def test_a_slot_is_claimed_once_over_restarts_and_its_result_kept(tmp_path: Path) -> None:
    first = Alone(tmp_path, "d" * 32)
    await first.open()
    assert (await first.driver()).here
    claim = (await first.claim("morning", SLOT)).claim
    assert claim
    await first.settle(claim, "It is seven.")
    await first.close()

    second = Alone(tmp_path, "d" * 32)
    await second.open()
    refused = await second.claim("morning", SLOT)
    assert (refused.claim, refused.reason) == (
        None,
        f"morning at {SLOT} was begun on this device already.",
    )
    assert (await second.claim("evening", SLOT)).claim
    (entry,) = await second.entries()
    assert (entry.skill, entry.text, entry.done) == ("morning", "It is seven.", True)
    assert await second.read([entry.id]) == 1
    await second.close()


async def test_what_was_begun_must_be_known(tmp_path: Path) -> None:
    (tmp_path / "own-slots.json").write_text("[1")
    alone = Alone(tmp_path, "d" * 32)
    with pytest.raises(OSError, match="damaged"):
        await alone.open()
    await alone.close()


async def test_what_the_disk_does_not_take_was_not_begun_and_a_result_is_kept_later(tmp_path: Path) -> None:
    alone = Alone(tmp_path, "d" * 32)
    await alone.open()
    claim = (await alone.claim("morning", SLOT)).claim
    assert claim
    with failing(tmp_path / "own-slots.json"), pytest.raises(OSError, match="directory"):
        await alone.claim("evening", SLOT)
    assert (await alone.claim("evening", SLOT)).claim
    assert await alone.entries() == []
    with failing(tmp_path / "inbox.db"), pytest.raises(StoreError):
        await alone.settle(claim, "It is seven.")
    await alone.close()
    assert [each.text for each in await alone.entries()] == ["It is seven."]
    await alone.close()
