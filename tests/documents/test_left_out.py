"""What cannot be read, kept or looked at is named, and is never taken for what is not there."""

from __future__ import annotations

import errno
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from muleteer.documents import keeper
from muleteer.documents.folders import UNSEEN
from tests.documents.test_service import Open, write


async def test_limits_leave_out_and_say_so(papers: Path, opened: Open) -> None:
    write(papers, {f"{number}.txt": b"word" for number in range(10)})
    shelf = opened(papers, most=4)
    await shelf.until(lambda: "left out" in shelf.documents._keeper.unfinished())
    report = shelf.documents.report()
    assert (report["files"], report["left_out"]) == (4, {"beyond files.most": 6})
    with pytest.raises(OSError, match=r"6 files are left out of the index \(beyond files\.most\)"):
        await shelf.documents.find("passport")


async def test_a_file_that_is_too_large_is_found_by_name_alone(papers: Path, opened: Open) -> None:
    write(papers, {"large.txt": b"word " * 300_000, "small.txt": b"word"})
    shelf = opened(papers, largest=1)
    await shelf.settled()
    assert await shelf.names("word") == ["small.txt"]
    assert await shelf.names("large") == ["large.txt"]
    assert shelf.documents.report()["left_out"] == {"larger than files.largest": 1}
    with pytest.raises(OSError, match=r"large\.txt cannot be read: larger than files\.largest"):
        await shelf.documents.read("large.txt")


async def test_a_full_index_keeps_names_and_says_so(papers: Path, opened: Open) -> None:
    write(papers, {f"{number}.txt": b"word " * 30_000 for number in range(10)})
    shelf = opened(papers, index=1)
    await shelf.until(lambda: "left out" in shelf.documents._keeper.unfinished())
    assert shelf.documents.report()["left_out"] == {"the index is full": 4}
    assert len(await shelf.names("txt")) == 10
    assert len(await shelf.names("word")) == 6


async def test_a_hanging_or_broken_file_is_one_file_without_text(papers: Path, opened: Open) -> None:
    write(papers, {"a.pdf": b"garbage", "b.docx": b"garbage", "c.txt": b"fine"})
    os.mkfifo(papers / "d.txt")
    shelf = opened(papers)
    await shelf.settled()
    assert await shelf.names("fine") == ["c.txt"]
    left_out = shelf.documents.report()["left_out"]
    assert isinstance(left_out, dict)
    assert left_out["devices"] == 1
    assert sum(left_out.values()) == 3


async def test_an_index_that_is_unreadable_is_not_an_empty_one(papers: Path, opened: Open) -> None:
    write(papers, {"a.txt": b"apple"})
    state = papers.parent / "state"
    state.mkdir()
    (state / "files.db").write_bytes(b"garbage" * 1000)
    shelf = opened(papers)
    with pytest.raises(OSError, match="damaged"):
        await shelf.documents.find("apple")


async def test_while_the_index_cannot_be_written_what_it_has_is_found(papers: Path, opened: Open) -> None:
    write(papers, {"a.txt": b"apple"})
    shelf = opened(papers)
    await shelf.settled()
    connection = sqlite3.connect(papers.parent / "state" / "files.db", isolation_level=None)
    with closing(connection):
        connection.execute("PRAGMA busy_timeout = 60000")
        connection.execute("BEGIN IMMEDIATE")
        write(papers, {"b.txt": b"banana"})
        await shelf.until(lambda: "locked" in str(shelf.documents.report()))
        assert await shelf.names("apple") == ["a.txt"]
        with pytest.raises(OSError, match="the index of files cannot be kept: another program keeps"):
            await shelf.documents.find("banana")
    await shelf.found("banana", "b.txt")
    assert shelf.documents.report()["folders"] == {str(papers): "watched"}


@pytest.mark.parametrize("code", [errno.EACCES, errno.EIO, errno.ESTALE, errno.EMFILE])
async def test_a_folder_that_cannot_be_looked_at_is_not_an_empty_one(
    papers: Path, opened: Open, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """The error is raised where the kernel would: tests may run as root, to whom no folder is closed."""
    write(papers, {"a.txt": b"apples", "sub/b.txt": b"bananas", "sub/below/c.txt": b"cherries"})
    closed = [False]
    really = os.open

    def opening(path: str, *rest: Any, **named: Any) -> int:
        if closed[0] and path == "sub":
            raise OSError(code, os.strerror(code), path)
        return really(path, *rest, **named)

    monkeypatch.setattr(os, "open", opening)
    monkeypatch.setattr(keeper, "AGAIN_SECONDS", 0.1)
    shelf = opened(papers)
    await shelf.settled()
    closed[0] = True
    write(papers, {"sub/new.txt": b"dates"})
    await shelf.until(lambda: "parts" in shelf.documents._keeper.unfinished())
    assert shelf.documents.report()["left_out"] == {UNSEEN: 1}
    assert await shelf.names("cherries") == ["c.txt"], "what was known of it is kept"
    with pytest.raises(OSError, match=r"parts of the folders were not looked at \(cannot be looked at\)"):
        await shelf.names("dates")
    closed[0] = False
    await shelf.found("dates", "new.txt")
    await shelf.settled()
    assert await shelf.names("nothing") == []


async def test_nothing_is_found_through_links_and_nothing_hidden(papers: Path, opened: Open) -> None:
    outside = papers.parent / "outside"
    write(outside, {"secret.txt": b"secret"})
    (papers / "out").symlink_to(outside)
    (papers / "one.txt").symlink_to(outside / "secret.txt")
    write(papers, {".ssh/id.txt": b"secret", ".note.txt": b"secret", "plain.txt": b"plain"})
    shelf = opened(papers)
    await shelf.settled()
    assert await shelf.names() == ["plain.txt"]
    assert await shelf.names("secret") == []
    assert shelf.documents.report()["left_out"] == {"links": 2, "hidden": 2}
    write(outside, {"later.txt": b"secret"})
    write(papers, {"last.txt": b"the end"})
    await shelf.found("end", "last.txt")
    assert await shelf.names("later") == []


async def test_a_folder_that_is_itself_a_link_is_watched(papers: Path, opened: Open) -> None:
    (papers.parent / "alias").symlink_to(papers)
    shelf = opened(papers.parent / "alias")
    await shelf.settled()
    write(papers, {"new.txt": b"unicorn"})
    await shelf.found("unicorn", "new.txt")


async def test_a_folder_that_left_the_settings_is_forgotten(tmp_path: Path, opened: Open) -> None:
    write(tmp_path / "a", {"a.txt": b"apple"})
    write(tmp_path / "b", {"b.txt": b"apple"})
    first = opened(tmp_path / "a", tmp_path / "b")
    await first.settled()
    assert len(await first.names("apple")) == 2
    await first.documents.close()
    second = opened(tmp_path / "b")
    await second.settled()
    assert await second.names("apple") == ["b.txt"]
    assert second.documents.report()["files"] == 1
