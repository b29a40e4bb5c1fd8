"""A lock file: at most one living process holds it, and the kernel lets go when that process ends.

Knows flock(2) and nothing about what is being protected. The file holds the owner's process id, for the
sentence that refuses the second one.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

LONGEST_PID = 20  # bytes read of a lock file; a process id in decimal is shorter


class HeldError(Exception):
    """Another process holds the lock; `pid` is None if it has not written its number yet."""

    def __init__(self, pid: int | None) -> None:
        super().__init__(f"held by process {pid}" if pid else "held by another process")
        self.pid = pid


class LockFile:
    """Held from construction until `release`. Raises `HeldError`, or `OSError` if the file cannot be made.

    The file is unlinked at release, so a lock counts only if the locked file is still the one at `path`:
    who lost that race tries again with the new file.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                fcntl.flock(self._fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if self._is_at_path():
                    os.ftruncate(self._fd, 0)
                    os.pwrite(self._fd, b"%d\n" % os.getpid(), 0)
                    return
            except BlockingIOError:
                pid = self._owner()
                os.close(self._fd)
                raise HeldError(pid) from None
            except OSError:
                os.close(self._fd)
                raise
            os.close(self._fd)

    def release(self) -> None:
        """Remove the file and let go; harmless when repeated."""
        if self._fd < 0:
            return
        if self._is_at_path():
            self._path.unlink(missing_ok=True)
        os.close(self._fd)
        self._fd = -1

    def _is_at_path(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._fd), os.lstat(self._path))
        except FileNotFoundError:
            return False

    def _owner(self) -> int | None:
        text = os.pread(self._fd, LONGEST_PID, 0).strip()
        return int(text) if text.isdigit() else None
