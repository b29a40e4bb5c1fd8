"""One SQLite file: migrations, durability, and one sentence for each way it cannot be used."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import resource
import shutil
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from muleteer.store.database import ROOM, Database, StoreError
from muleteer.store.notebook import SqliteNotebook
from muleteer.store.usage import Usage

FIRST = ("CREATE TABLE things (name TEXT)",)
SECOND = ("ALTER TABLE things ADD COLUMN size INTEGER DEFAULT 1", "INSERT INTO things VALUES ('made', 2)")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "state" / "things.db"


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    made = Database(path, [FIRST])
    yield made
    await made.close()


def damage(path: Path) -> bytes:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"not a database" * 1000)
    return path.read_bytes()


def content(path: Path) -> bytes:
    return path.read_bytes()


def remove(path: Path) -> None:
    path.unlink()


def replace_by_copy(path: Path) -> None:
    copy = path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    copy.replace(path)


async def names(database: Database) -> list[str]:
    return await database.read(lambda c: [row[0] for row in c.execute("SELECT name FROM things")])


async def test_it_is_in_wal_mode_fully_synchronous_and_private(database: Database, path: Path) -> None:
    def pragmas(connection: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "user_version")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    assert await database.read(pragmas) == ["wal", 2, 1]
    for file in path.parent.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


async def test_migrations_run_once_and_in_order(database: Database, path: Path) -> None:
    await database.write(lambda c: c.execute("INSERT INTO things VALUES ('old')"))
    await database.close()
    for _ in range(2):
        newer = Database(path, [FIRST, SECOND])
        rows = await newer.read(lambda c: c.execute("SELECT name, size FROM things").fetchall())
        await newer.close()
        assert rows == [("old", 1), ("made", 2)]


async def test_a_migration_that_fails_changes_nothing(database: Database, path: Path) -> None:
    await database.open()
    await database.close()
    broken = Database(path, [FIRST, (*SECOND, "NOT SQL")])
    with pytest.raises(StoreError, match="syntax error"):
        await broken.open()
    await broken.close()
    await database.write(lambda c: c.execute("INSERT INTO things VALUES ('one column')"))


async def test_work_that_raises_is_rolled_back(database: Database) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO things VALUES ('lost')")
        raise ValueError("changed my mind")

    with pytest.raises(ValueError, match="changed my mind"):
        await database.write(work)
    assert await names(database) == []


async def test_cancelling_stops_the_waiting_not_the_work(database: Database) -> None:
    loop, begun, go_on = asyncio.get_running_loop(), asyncio.Event(), threading.Event()

    def work(connection: sqlite3.Connection) -> None:
        loop.call_soon_threadsafe(begun.set)
        go_on.wait()
        connection.execute("INSERT INTO things VALUES ('kept')")

    write = asyncio.create_task(database.write(work))
    await begun.wait()
    write.cancel()
    with pytest.raises(asyncio.CancelledError):
        await write
    go_on.set()
    assert await names(database) == ["kept"]


async def test_closing_twice_and_opening_again(database: Database) -> None:
    await database.open()
    await database.close()
    await database.close()
    assert await names(database) == []


async def test_a_newer_schema_is_refused_and_left_alone(database: Database, path: Path) -> None:
    newer = Database(path, [FIRST, SECOND])
    await newer.open()
    await newer.close()
    before = content(path)
    with pytest.raises(StoreError, match=r"written by a newer Muleteer \(schema 2, this one knows 1\)"):
        await database.open()
    assert content(path) == before


async def test_a_damaged_file_is_refused_and_left_alone(database: Database, path: Path) -> None:
    before = damage(path)
    with pytest.raises(StoreError, match=r"is damaged .*it was left as it is"):
        await database.open()
    assert content(path) == before
    remove(path)
    assert await names(database) == []  # the next use tries again


async def test_a_full_disk_is_said_and_nothing_of_it_kept(database: Database) -> None:
    def fill(connection: sqlite3.Connection) -> None:
        connection.execute("PRAGMA max_page_count = 5")
        connection.execute("INSERT INTO things VALUES (?)", ("x" * 100_000,))

    with pytest.raises(StoreError, match=r"the disk of .* is full; free some space"):
        await database.write(fill)
    assert await names(database) == []


@pytest.mark.parametrize(("free", "said"), [(ROOM - 1, "the disk of .* is full"), (ROOM, "disk I/O error")])
async def test_an_input_output_error_on_a_full_disk_is_said_to_be_that(
    database: Database, monkeypatch: pytest.MonkeyPatch, free: int, said: str
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(free, free, free))
    await database.open()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))  # SQLite knows no name for that either
    try:
        with pytest.raises(StoreError, match=said):
            await database.write(lambda c: c.execute("INSERT INTO things VALUES (?)", ("x" * 100_000,)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert await names(database) == []


@pytest.mark.parametrize(
    ("inodes", "left", "said"),
    [
        (1000, 0, "has no room for another file; remove some files"),
        (1000, 1, "is full; free some space"),
        (0, 0, "is full; free some space"),  # as btrfs says, which does not count them
    ],
)
async def test_a_disk_without_room_for_a_file_is_not_said_to_lack_space(
    path: Path, monkeypatch: pytest.MonkeyPatch, inodes: int, left: int, said: str
) -> None:
    def none_left(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    known = os.statvfs(path.parent.parent)
    counted = os.statvfs_result((*known[:5], inodes, left, left, *known[8:]))
    database = Database(path, [FIRST])
    with monkeypatch.context() as patch:
        patch.setattr(os, "statvfs", lambda _: counted)
        patch.setattr(os, "open", none_left)
        with pytest.raises(StoreError, match=rf"the disk of .*{said}\.$"):
            await database.open()
    await database.open()
    await database.close()


async def test_rows_that_cannot_be_understood_are_damage(database: Database) -> None:
    await keep(database, "many")
    with pytest.raises(StoreError, match=r"is damaged \(invalid literal .*it was left as it is"):
        await database.read(lambda c: [int(row[0]) for row in c.execute("SELECT name FROM things")])
    with pytest.raises(StoreError, match=r"is damaged .*NoneType"):
        await database.read(lambda c: int(c.execute("SELECT NULL FROM things").fetchone()[0]))
    assert await names(database) == ["many"]


async def test_changed_bytes_raise_nothing_but_a_store_error(tmp_path: Path) -> None:
    usage, notebook = Usage(tmp_path / "u.db"), SqliteNotebook(tmp_path / "n.db")
    await usage.open()
    usage.add(["alpha", "beta", "beta"])
    await usage.close()
    for number in range(12):
        await notebook.add(f"note {number}: the key is under stone {number}")
    await notebook.close()
    files = [(tmp_path / name).read_bytes() for name in ("u.db", "n.db")]
    chance, refused = random.Random(1), 0
    for number in range(200):
        paths = [tmp_path / f"{name}{number}.db" for name in "un"]
        for path, file in zip(paths, files, strict=True):
            path.write_bytes(changed(file, chance))
        usage, notebook = Usage(paths[0]), SqliteNotebook(paths[1])
        await usage.open()
        try:
            await notebook.search("")
            await notebook.search("key stone")
        except StoreError:
            refused += 1
        await usage.close()
        await notebook.close()
    assert 0 < refused < 200  # some are read all the same


def changed(file: bytes, chance: random.Random) -> bytes:
    """With one to five other bytes, where there was something."""
    made, used = bytearray(file), [place for place, byte in enumerate(file) if byte]
    for _ in range(chance.randint(1, 5)):
        made[chance.choice(used)] = chance.randrange(256)
    return bytes(made)


async def test_a_lock_that_is_kept_is_said(
    database: Database, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muleteer.store.database.BUSY_TIMEOUT", 0.01)
    await database.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    await database.close()
    await database.open()
    with pytest.raises(StoreError, match="another program keeps"):
        await database.write(lambda c: c.execute("INSERT INTO things VALUES ('x')"))
    other.close()
    assert await names(database) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
async def test_a_folder_that_cannot_be_written_is_said(database: Database, path: Path) -> None:
    path.parent.mkdir(mode=0o500)
    with pytest.raises(StoreError, match="Permission denied"):
        await database.open()


async def test_a_file_in_the_place_of_the_folder_is_said(database: Database, path: Path) -> None:
    path.parent.write_text("")
    with pytest.raises(StoreError, match="cannot be used: "):
        await database.open()


async def keep(database: Database, name: str) -> None:
    await database.write(lambda c: c.execute("INSERT INTO things VALUES (?)", (name,)))


async def test_a_removed_file_is_made_anew_and_what_is_kept_then_stays(
    database: Database, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    await keep(database, "lost with the file")
    for file in path.parent.iterdir():
        remove(file)
    await keep(database, "one")
    await keep(database, "two")
    assert await names(database) == ["one", "two"]
    await database.close()
    assert await names(database) == ["one", "two"]
    assert caplog.text.count("was removed or replaced") == 1


@pytest.mark.parametrize("stop", [False, True])
async def test_a_restored_backup_is_used_and_the_old_file_is_complete(
    database: Database, path: Path, tmp_path: Path, stop: bool
) -> None:
    await keep(database, "both")
    await database.close()
    backup, moved = tmp_path / "backup", tmp_path / "moved"
    backup.write_bytes(content(path))
    for number in range(100):
        await keep(database, f"after the backup {number}")
    os.rename(path, moved)
    os.rename(backup, path)
    if stop:
        await database.close()
    assert await names(database) == ["both"]
    await keep(database, "new")
    await database.close()
    assert await names(database) == ["both", "new"]
    old = Database(moved, [FIRST])
    assert len(await names(old)) == 101
    await old.close()


@pytest.mark.parametrize("write", [False, True])
async def test_a_file_without_a_log_of_its_own_gets_one_unnoticed(
    database: Database, path: Path, write: bool
) -> None:
    os.mkdir(path.parent)
    made = sqlite3.connect(path)  # as VACUUM INTO makes a backup
    made.executescript(f"{FIRST[0]}; INSERT INTO things VALUES ('one'); PRAGMA user_version = 1")
    made.close()
    if write:
        await keep(database, "two")
    assert await names(database) == (["one", "two"] if write else ["one"])


async def test_a_removed_log_loses_nothing(database: Database, path: Path) -> None:
    await keep(database, "one")
    remove(path.with_name("things.db-wal"))
    await keep(database, "two")
    other = Database(path, [FIRST])  # as after a crash: the first one does not get to fold in its log
    assert await names(other) == ["one", "two"]
    await other.close()


async def test_a_write_into_a_file_removed_meanwhile_is_not_acknowledged(
    database: Database, path: Path
) -> None:
    def work(connection: sqlite3.Connection) -> None:
        connection.execute("INSERT INTO things VALUES ('lost')")
        remove(path)

    with pytest.raises(StoreError, match="was removed or replaced while it was used; try again"):
        await database.write(work)
    await keep(database, "kept")
    assert await names(database) == ["kept"]


async def test_what_is_no_file_is_said_before_and_after_opening(database: Database, path: Path) -> None:
    await keep(database, "one")
    remove(path)
    os.mkdir(path)
    with pytest.raises(StoreError, match="cannot be used: Is a directory"):
        await keep(database, "two")
    os.rmdir(path)
    os.mkfifo(path)
    with pytest.raises(StoreError, match="cannot be used: not a regular file"):
        await keep(database, "three")
    remove(path)
    assert await names(database) == []


async def test_a_copy_of_the_file_alone_holds_all_that_was_acknowledged(
    database: Database, path: Path
) -> None:
    await database.write(lambda c: c.execute("INSERT INTO things VALUES ('key')"))
    replace_by_copy(path)
    assert await names(database) == ["key"]
