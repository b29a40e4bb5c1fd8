"""A device is who it was at its first start, whatever its name is now."""

from __future__ import annotations

import re
import socket
import stat
from pathlib import Path

import pytest

from muleteer.identity import FILE_NAME, device_id


def test_it_is_random_private_and_stays(tmp_path: Path) -> None:
    first = device_id(tmp_path)
    assert re.fullmatch(r"[0-9a-f]{32}", first)
    assert device_id(tmp_path) == first
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert [file.name for file in tmp_path.iterdir()] == [FILE_NAME]


def test_another_folder_is_another_device_and_none_has_the_hostname(tmp_path: Path) -> None:
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    ids = {device_id(folder) for folder in folders}
    assert len(ids) == 2
    assert not any(socket.gethostname() in each for each in ids)


@pytest.mark.parametrize("content", [b"", b"0123", b"\xff" * 32, b"g" * 32, b"0" * 32 + b"\n0", b"0" * 999])
def test_a_damaged_file_is_told_and_left(tmp_path: Path, content: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    with pytest.raises(OSError, match=r"damaged|larger"):
        device_id(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == content


def test_a_folder_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        device_id(tmp_path / "nowhere")
