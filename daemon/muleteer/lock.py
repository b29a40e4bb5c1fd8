"""A lock file: at most one living process holds it, and the kernel lets go when that process ends.

Knows flock(2) and nothing about what is being protected. The file holds the owner's process id, for the
sentence that refuses the second one.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
from pathlib import Path

from muleteer.files import identity

LONGEST_PID = 20  # bytes read of a lock file; a process id in decimal is shorter
NO_ROOM = (errno.EROFS, errno.ENOSPC, errno.EDQUOT)  # here a file can be opened, but not made or written


class HeldError(Exception):
    """Another process holds the lock; `pid` is None if it has not written its number yet."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(f"held by process {pid}" if pid else "held by another process")
        self.pid = pid


class LockFile:
    """Held from construction until `release`. Raises `HeldError`, or `OSError` if the file cannot be made.

    The file is unlinked at release, so a lock counts only if the locked file is still the one at `path`:
    who lost that race tries again with the new file. Where a file system is full or read-only and has no such
    file, the folder is locked in its place, against others in the same need.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._fd = self._open()
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_at_path():
                    self._sign()
                    return
            except BlockingIOError:
                pid = self._owner()
                os.close(self._fd)
                raise HeldError(pid) from None
            except BaseException:
                os.close(self._fd)
                raise
            os.close(self._fd)

    def release(self) -> None:
        """Remove the file and let go; harmless when repeated."""
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):  # a file that stays is locked by nobody
            if self._locked == self._path and self._is_at_path():
                self._path.unlink()
        os.close(self._fd)
        self._fd = -1

    def _open(self) -> int:
        flags = os.O_CLOEXEC | os.O_NOFOLLOW
        self._locked = self._path
        try:
            return os.open(self._path, os.O_RDWR | os.O_CREAT | flags, 0o600)
        except OSError as error:
            if error.errno not in NO_ROOM:
                raise
        try:
            return os.open(self._path, os.O_RDONLY | flags)
        except FileNotFoundError:
            self._locked = self._path.parent
            return os.open(self._locked, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)

    def _is_at_path(self) -> bool:
        is_folder = self._locked != self._path
        return identity(self._locked, follow_links=is_folder) == identity(self._fd)

    def _sign(self) -> None:
        with contextlib.suppress(OSError):  # a courtesy: the lock is held without it
            os.ftruncate(self._fd, 0)
            os.pwrite(self._fd, b"%d\n" % os.getpid(), 0)

    def _owner(self) -> int | None:
        try:
            text = os.pread(self._fd, LONGEST_PID, 0).strip()
        except OSError:  # a folder
            return None
        return int(text) if text.isdigit() else None
