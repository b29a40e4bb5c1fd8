"""Listing and opening below a folder, and nothing outside of it.

A path is walked name by name from the folder's own descriptor and no link is followed on the way, so a link
leads nowhere, also one that was put there between the look and the open. The configured folder itself may be
a link: whoever wrote the settings chose it. Knows nothing of what is in the files.
"""

from __future__ import annotations

import errno
import os
import stat
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from muleteer.files import check_regular

ENTRY_LIMIT = 100_000  # entries of one folder that are looked at; what a program dumps there has no end
UNSEEN = "cannot be looked at"
CROWDED = f"beyond {ENTRY_LIMIT:,} in one folder"
OWN = ("lost+found",)  # of the file system itself, closed to everybody
FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW
FILE_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK  # a FIFO would hold up the open


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes when a file's content does: size in bytes, time of the last change in ns, inode."""

    size: int
    modified: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> Stamp:
        return cls(status.st_size, status.st_mtime_ns, status.st_ino)


@dataclass(slots=True)
class Listing:
    """One folder: files with their stamps, folders, `others` (links and devices), what is there and `unseen`,
    and how many entries were left out for which reason. Not `whole`: nothing of it could be looked at."""

    files: dict[str, Stamp] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    unseen: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    whole: bool = True


def list_below(root: Path, folder: str, forbidden: tuple[int, int] | None = None) -> Listing:
    """What is in `folder`, a path relative to `root` ("" is the root). Hidden entries, links and devices are
    left out, and so is the folder whose device and inode are `forbidden`. Raises `OSError`."""
    listing = Listing()
    with _opened(root, folder) as fd, os.scandir(fd) as entries:
        for number, entry in enumerate(entries):
            if number >= ENTRY_LIMIT:
                listing.left_out[CROWDED] += 1
                break
            if entry.name.startswith(".") or (not folder and entry.name in OWN):
                listing.left_out["hidden"] += 1
                continue
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:  # it was removed since
                continue
            except OSError:  # its disk has a fault, or the folder may be listed and not entered
                listing.left_out[UNSEEN] += 1
                listing.unseen.add(entry.name)
                continue
            if stat.S_ISREG(status.st_mode):
                listing.files[entry.name] = Stamp.of(status)
            elif stat.S_ISDIR(status.st_mode):
                if (status.st_dev, status.st_ino) != forbidden:
                    listing.folders.append(entry.name)
            else:
                listing.others.append(entry.name)
                listing.left_out["links" if stat.S_ISLNK(status.st_mode) else "devices"] += 1
    return listing


def open_below(root: Path, path: str) -> BinaryIO:
    """The regular file at `path`, relative to `root`, opened for reading. Raises `OSError`."""
    folder, _, name = path.rpartition("/")
    with _opened(root, folder) as parent:
        fd = os.open(_one_name(name), FILE_FLAGS, dir_fd=parent)
    try:
        check_regular(os.fstat(fd))
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def shown(name: str) -> str:
    """A file's name or path as it may be shown: on one line, nothing invisible, whatever its bytes are."""
    text = os.fsencode(name).decode("utf-8", "replace")
    return " ".join("".join(map(_visible, text)).split()) or "\N{REPLACEMENT CHARACTER}"


def _visible(sign: str) -> str:
    if sign.isprintable():
        return sign
    if sign.isspace():
        return " "
    # Marks that only steer how others are drawn, such as right-to-left overrides, leave no gap.
    return "" if unicodedata.category(sign) == "Cf" else "\N{REPLACEMENT CHARACTER}"


@contextmanager
def _opened(root: Path, folder: str) -> Iterator[int]:
    """The descriptor of `folder` below `root`."""
    fd = os.open(root, FOLDER_FLAGS & ~os.O_NOFOLLOW)
    try:
        for name in folder.split("/") if folder else ():
            below = os.open(_one_name(name), FOLDER_FLAGS, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _one_name(name: str) -> str:
    if name in ("", ".", "..") or "\0" in name or "/" in name:
        raise OSError(errno.EINVAL, "no file can have this name")
    return name
