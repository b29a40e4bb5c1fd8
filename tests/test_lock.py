from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from muleteer.lock import HeldError, LockFile

HOLDER = """
import sys
from pathlib import Path
from muleteer.lock import LockFile
lock = LockFile(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.readline()
"""


def test_second_is_refused_with_the_first_ones_process(tmp_path: Path) -> None:
    lock = LockFile(tmp_path / "lock")
    with pytest.raises(HeldError) as refused:
        LockFile(tmp_path / "lock")
    assert refused.value.pid == os.getpid()
    lock.release()


def test_release_removes_the_file_and_may_be_repeated(tmp_path: Path) -> None:
    lock = LockFile(tmp_path / "lock")
    lock.release()
    lock.release()
    assert not (tmp_path / "lock").exists()
    LockFile(tmp_path / "lock").release()


def test_kill_9_lets_go(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        with pytest.raises(HeldError, match=f"process {holder.pid}"):
            LockFile(path)
        holder.kill()
        holder.wait()
    assert path.exists()
    LockFile(path).release()


def test_a_removed_file_is_not_a_lock_and_release_spares_its_successor(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    first = LockFile(path)
    path.unlink()
    second = LockFile(path)
    first.release()
    with pytest.raises(HeldError):
        LockFile(path)
    second.release()


def test_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"):
        LockFile(tmp_path / "lock")
    assert not (tmp_path / "precious").exists()
