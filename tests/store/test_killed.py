"""Nothing that was acknowledged is lost: not by `kill -9` at any point, not by a disk that fills up."""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

WRITER = Path(__file__).with_name("writer.py")
ACTS = 1_000
NO_ROOM = "has no room for another file; remove some files."


def start(path: Path, seed: int, *limit: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), str(seed), *limit]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


class Ledger:
    """What a plain model of the notebook says must be there: name and page by number."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[str, str]] = {}
        self.doubtful: set[int] = set()
        self.acts = 0

    def book(self, line: str) -> None:
        act, number, *note = line.split(" ", 3)
        if act == "noted":
            self.kept[int(number)] = (note[0], note[1])
        else:
            self.kept.pop(int(number), None)
            (self.doubtful.add if act == "try" else self.doubtful.discard)(int(number))
        self.acts += act != "try"

    def check(self, path: Path, rounds: int) -> None:
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            connection.execute("INSERT INTO note_index(note_index) VALUES ('integrity-check')")
            rows = connection.execute("SELECT id, text, page FROM notes").fetchall()
        found = {number: (text.split()[1], page or "Notes") for number, text, page in rows}
        assert self.kept.items() <= found.items()
        unsaid = found.keys() - self.kept.keys() - self.doubtful
        assert len(unsaid) <= rounds  # at most one in each round was done and not yet said


def test_killing_the_writer_loses_nothing_acknowledged(tmp_path: Path) -> None:
    path, chance, ledger, rounds = tmp_path / "notebook.db", random.Random(5), Ledger(), 0
    while ledger.acts < ACTS:
        rounds += 1
        writer = start(path, rounds)
        assert writer.stdout is not None
        for _ in range(chance.randint(1, 120)):
            ledger.book(writer.stdout.readline().rstrip("\n"))
        writer.kill()
        lines = writer.stdout.read().split("\n")  # what it had said by then; the last may be cut short
        for line in lines[:-1]:
            ledger.book(line)
        writer.stdout.close()
        assert writer.wait() == -9
        ledger.check(path, rounds)


def test_a_disk_that_fills_up_is_an_error_and_keeps_what_was_acknowledged(tmp_path: Path) -> None:
    path, ledger = tmp_path / "notebook.db", Ledger()
    said, _ = (writer := start(path, 0, "200000")).communicate()
    *lines, last = said.splitlines()
    assert writer.returncode == 0
    assert last.startswith(f"failed: {path} cannot be used")
    assert len(lines) > 10
    for line in lines:
        ledger.book(line)
    ledger.check(path, 0)


@pytest.mark.parametrize("size", ["64k", "300k"])
def test_a_full_file_system_and_one_without_inodes_each_get_their_sentence(tmp_path: Path, size: str) -> None:
    """64 KiB are too little to begin, 300 KiB are enough for some notes; four inodes leave none for the index
    of the log."""
    said = mounted(tmp_path, f"size={size},nr_inodes=20")
    assert said[-1] == f"failed: the disk of {tmp_path}/s/notebook.db is full; free some space."
    said = mounted(tmp_path, "size=8m,nr_inodes=4")
    assert said == [f"failed: the disk of {tmp_path}/s/notebook.db {NO_ROOM}"]


def mounted(folder: Path, options: str) -> list[str]:
    """What the writer says in a file system of its own, which a new mount namespace allows."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("there is no unshare(1) here")
    mount = f'mount -t tmpfs -o {options} none "$1" && mkdir "$1/s"'
    script = f'{mount} && exec "$2" "$3" "$1/s/notebook.db" 1 9000000'
    command = [unshare, "-rm", "sh", "-c", script, "sh", str(folder), sys.executable, str(WRITER)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ)
    if "permission denied" in done.stderr.lower() or "not permitted" in done.stderr.lower():
        pytest.skip("no mount namespace may be made here")
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
