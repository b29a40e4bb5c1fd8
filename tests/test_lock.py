from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
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


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of its own that holds one file."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=16k,nr_inodes=2", "none", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def refuse_second(path: Path) -> None:
    lock = LockFile(path)
    with pytest.raises(HeldError):
        LockFile(path)
    lock.release()
    LockFile(path).release()


def test_the_number_is_a_courtesy(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # nothing can be written any more
    try:
        lock = LockFile(tmp_path / "lock")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    with pytest.raises(HeldError, match="held by another process"):
        LockFile(tmp_path / "lock")
    lock.release()


def test_a_full_or_read_only_disk_is_locked_by_its_folder(small_disk: Path) -> None:
    (small_disk / "filler").write_text("x")
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "lock").touch()
    refuse_second(small_disk / "lock")
    (small_disk / "filler").unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refuse_second(small_disk / "lock")


def test_a_file_left_behind_is_the_lock_of_a_read_only_disk(small_disk: Path) -> None:
    path = small_disk / "lock"
    path.write_text("1")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    refuse_second(path)
    assert path.read_text() == "1"


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EROFS, errno.EDQUOT])
def test_the_folder_is_locked_where_no_file_can_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    real = os.open

    def full(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise OSError(code, os.strerror(code))
        return real(path, flags, mode)

    monkeypatch.setattr(os, "open", full)
    refuse_second(tmp_path / "lock")
    assert list(tmp_path.iterdir()) == []
