"""Regular files are read up to a limit; anything else is refused at once, without waiting."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from muleteer.files import identity, open_regular, read_whole


def test_a_file_is_read_up_to_its_limit(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"four")
    with open_regular(path) as file:
        assert read_whole(file, 4) == b"four"
    with open_regular(path) as file, pytest.raises(OSError, match="larger than 3 bytes"):
        read_whole(file, 3)


def test_a_fifo_does_not_hold_up_who_opens_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(OSError, match="not a regular file"):
        open_regular(tmp_path / "fifo")


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
    for path, why in [
        (tmp_path, "Is a directory"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path / "socket", "not a regular file"),
        (tmp_path / "missing", "No such file"),
        (tmp_path / "nul\0", "no file can have this name"),
        (tmp_path / "half\ud800", "no file can have this name"),
    ]:
        with pytest.raises(OSError, match=why):
            open_regular(path)


def test_a_file_is_known_by_more_than_its_name(tmp_path: Path) -> None:
    path, link = tmp_path / "file", tmp_path / "link"
    path.write_text("")
    link.symlink_to(path)
    with path.open() as file:
        assert identity(path) == identity(link) == identity(file.fileno())
        assert identity(link, follow_links=False) != identity(path)
        path.unlink()
        assert identity(path) is None
        path.write_text("")
        assert identity(path) != identity(file.fileno())
    assert identity(path / "below") is None
