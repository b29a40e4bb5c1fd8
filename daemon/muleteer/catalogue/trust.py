"""Which files on disk may be loaded as tools or skills: those that nobody else could have written.

Knows owners and mode bits, not what the files mean. A tool is code and a skill is a prompt; whoever can
write one decides what the daemon does.
"""

from __future__ import annotations

import grp
import os
import pwd
import stat
from pathlib import Path

from muleteer.errors import SkillError
from muleteer.files import open_regular, read_whole


def read_trusted(path: Path, limit: int) -> bytes:
    """The contents of a regular file of at most `limit` bytes. The open file itself is judged, so that it
    cannot be exchanged in between. Raises `SkillError`."""
    try:
        with open_regular(path) as file:
            _judge(path, os.fstat(file.fileno()))
            return read_whole(file, limit)
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror}.") from error


def check_folder(path: Path) -> None:
    """Raises `SkillError` when others could put files into this folder (or the one a link leads to)."""
    try:
        _judge(path, path.stat())
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror}.") from error


def _judge(path: Path, status: os.stat_result) -> None:
    if status.st_uid not in _owners():
        raise SkillError(
            f"{path} belongs to user {_user(status.st_uid)}, who does not run Muleteer; "
            f"change its owner to root or to {_user(os.geteuid())}."
        )
    shared = status.st_mode & stat.S_IWGRP and not _private_group(status)
    if status.st_mode & stat.S_IWOTH or shared:
        raise SkillError(f"{path} may be written by other users; run: chmod go-w {path}")


def _owners() -> frozenset[int]:
    """Root, the user running the daemon, and the owner of its code, who decides what it does anyway."""
    return frozenset({0, os.geteuid(), Path(__file__).stat().st_uid})


def _private_group(status: os.stat_result) -> bool:
    """Debian and others give every user a group of their own, and a umask that lets it write."""
    try:
        owner, group = pwd.getpwuid(status.st_uid), grp.getgrgid(status.st_gid)
    except KeyError:
        return False
    return (
        owner.pw_gid == group.gr_gid
        and group.gr_name == owner.pw_name
        and set(group.gr_mem) <= {owner.pw_name}
    )


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
