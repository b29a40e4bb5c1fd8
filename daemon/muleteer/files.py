"""Opening what stands at a path somebody else may have chosen: regular files only, never waiting, never more
than a limit; and whether a file still stands at its path.

Knows nothing of what the files mean. A FIFO holds up whoever opens it, and a device never ends, so the open
file itself is looked at before it is read. Every error is an `OSError` whose `strerror` is for people.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

NOT_REGULAR = "not a regular file"


def open_regular(path: Path) -> BinaryIO:
    """The file, opened for reading. Raises `OSError` also for what is not a regular file."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except ValueError:  # a NUL, or half of a surrogate pair
        raise OSError(errno.EINVAL, "no file can have this name") from None
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, NOT_REGULAR) from error
        raise
    try:
        check_regular(os.fstat(fd))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def check_regular(status: os.stat_result) -> None:
    """Raises `OSError` for a folder, FIFO, socket or device."""
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, NOT_REGULAR)


def read_whole(file: BinaryIO, limit: int) -> bytes:
    """All that is left of an open file, at most `limit` bytes. Raises `OSError` when there is more."""
    content = file.read(limit + 1)
    if len(content) > limit:
        raise OSError(errno.EFBIG, f"larger than {limit:,} bytes")
    return content


def identity(file: Path | int, *, follow_links: bool = True) -> tuple[int, int] | None:
    """Device and inode of the file at a path, or of an open one; None when there is none. A number is given
    again only after the file was removed and closed. Raises `OSError` when it cannot be told."""
    try:
        status = os.lstat(file) if isinstance(file, Path) and not follow_links else os.stat(file)
    except (FileNotFoundError, NotADirectoryError):
        return None
    return status.st_dev, status.st_ino
