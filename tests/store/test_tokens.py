"""Tokens: only their hashes are kept, and what is said of them is true after a restart."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from muleteer.errors import RequestError, StorageError
from muleteer.store import tokens
from muleteer.store.tokens import Tokens
from tests.seat.neighbours import until
from tests.seat.test_full_disk import failing

MORNING = datetime(2026, 3, 1, 8, tzinfo=UTC)


class Clock:
    now = MORNING

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


async def opened(path: Path, clock: Clock) -> Tokens:
    found = Tokens(path, clock)
    await found.open()
    return found


async def test_a_token_is_found_by_its_secret_also_after_a_restart(tmp_path: Path, clock: Clock) -> None:
    kept = await opened(tmp_path / "t.db", clock)
    secret = await kept.add("phone", ["chat"])
    assert await kept.add("tablet", ["chat"]) != secret
    await kept.close()
    again = await opened(tmp_path / "t.db", clock)
    found = again.find(secret)
    assert found is not None
    assert (found.name, found.scopes, found.made) == ("phone", frozenset(("chat",)), MORNING)
    for wrong in (secret[:-1], secret + "A", secret.removeprefix(tokens.PREFIX), "", "x" * 10_000):
        assert again.find(wrong) is None
    await again.close()


async def test_the_secret_is_nowhere_on_disk_and_the_file_is_nobody_elses(
    tmp_path: Path, clock: Clock
) -> None:
    kept = await opened(tmp_path / "t.db", clock)
    secret = await kept.add("phone", ["chat"])
    await kept.close()
    for file in sorted(tmp_path.iterdir()):  # noqa: ASYNC240 (a test may wait)
        assert secret.removeprefix(tokens.PREFIX).encode() not in file.read_bytes()
        assert file.stat().st_mode & 0o077 == 0


async def test_when_it_was_used_is_known_and_seldom_written(tmp_path: Path, clock: Clock) -> None:
    kept = await opened(tmp_path / "t.db", clock)
    secret = await kept.add("phone", ["admin", "chat"])
    assert next(iter(kept)).as_dict() == {
        "name": "phone",
        "scopes": ["chat", "admin"],
        "made": "2026-03-01T08:00:00+00:00",
        "used": None,
    }
    kept.find(secret)
    for _ in range(100):
        clock.now += timedelta(seconds=1)
        kept.find(secret)
    assert len(kept._writing) == 1
    assert next(iter(kept)).used == clock.now
    await kept.close()
    again = await opened(tmp_path / "t.db", clock)
    assert next(iter(again)).used == clock.now
    await again.close()


async def test_a_revoked_one_is_gone_for_good(tmp_path: Path, clock: Clock) -> None:
    kept = await opened(tmp_path / "t.db", clock)
    secret = await kept.add("phone", ["chat"])
    assert kept.cut("phone")
    assert kept.find(secret) is None
    await kept.keep_cut()
    assert not kept.cut("phone")
    assert kept.find(secret) is None
    await kept.close()
    again = await opened(tmp_path / "t.db", clock)
    assert list(again) == []
    assert again.find(secret) is None
    await again.close()


async def test_a_full_disk_does_not_keep_one_valid_and_is_asked_again(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "RETRY_SECONDS", 0.05)
    path = tmp_path / "t.db"
    kept = await opened(path, clock)
    secret = await kept.add("phone", ["chat"])
    with failing(path):
        for _ in range(2):
            assert kept.cut("phone")
            with pytest.raises(StorageError, match=r"Cut off now: phone\. .*Then revoke it again\."):
                await kept.keep_cut()
            assert kept.find(secret) is None
            assert list(kept) == []
    await until(lambda: not kept._cut)
    assert not kept.cut("phone")
    again = await opened(path, clock)
    assert again.find(secret) is None
    await again.close()
    await kept.close()


@pytest.mark.parametrize("write", ["again", "another", "its name", "close"])
async def test_what_a_disk_did_not_take_goes_with_the_next_write(
    tmp_path: Path, clock: Clock, write: str
) -> None:
    path = tmp_path / "t.db"
    kept = await opened(path, clock)
    secret = await kept.add("phone", ["admin"])
    with failing(path):
        assert kept.cut("phone")
        with pytest.raises(StorageError):
            await kept.keep_cut()
        with pytest.raises(StorageError):
            await kept.add("phone", ["chat"])
    if write == "again":
        assert kept.cut("phone")
        await kept.keep_cut()
    elif write != "close":
        await kept.add("phone" if write == "its name" else "tablet", ["chat"])
    if write != "close":
        assert not kept._cut
    await kept.close()
    again = await opened(path, clock)
    assert again.find(secret) is None
    assert [token.name for token in again] == {"another": ["tablet"], "its name": ["phone"]}.get(write, [])
    await again.close()


async def test_what_a_disk_never_took_is_told_at_the_end(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "t.db"
    kept = await opened(path, clock)
    secret = await kept.add("phone", ["chat"])
    with failing(path):
        kept.cut("phone")
        with pytest.raises(StorageError):
            await kept.keep_cut()
        await kept.close()
    assert "valid at the next start: the revoked phone." in caplog.text
    again = await opened(path, clock)
    assert again.find(secret) is not None, "as the reply has said"
    await again.close()


async def test_names_are_their_own_and_there_is_a_limit(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "MOST", 2)
    kept = await opened(tmp_path / "t.db", clock)
    await kept.add("phone", ["chat"])
    with pytest.raises(RequestError, match="already; revoke it or choose another name"):
        await kept.add("phone", ["chat"])
    await kept.add("tablet", ["chat"])
    with pytest.raises(RequestError, match="There are 2 tokens already"):
        await kept.add("desk", ["chat"])
    await kept.close()


async def test_a_file_that_cannot_be_used_lets_nobody_in(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "t.db").write_bytes(os.urandom(4096))
    kept = await opened(tmp_path / "t.db", clock)
    assert "No token is valid" in caplog.text
    assert list(kept) == []
    with pytest.raises(StorageError, match="cannot be kept"):
        await kept.add("phone", ["chat"])
    assert list(kept) == []
    await kept.close()
