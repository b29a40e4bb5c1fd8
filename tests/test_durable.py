"""A small file is replaced whole, or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.durable import write_durably


def test_the_file_is_replaced_and_nothing_else_is_left(tmp_path: Path) -> None:
    path = tmp_path / "wishes.json"
    for content in (b"first", b"second, which is longer", b""):
        write_durably(path, content)
        assert path.read_bytes() == content
        assert path.stat().st_mode & 0o777 == 0o600
        assert list(tmp_path.iterdir()) == [path]


def test_a_reader_keeps_the_file_that_it_opened(tmp_path: Path) -> None:
    path = tmp_path / "wishes.json"
    write_durably(path, b"old")
    with path.open("rb") as reader:
        write_durably(path, b"new")
        assert reader.read() == b"old"


def test_what_cannot_be_replaced_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "wishes.json"
    path.mkdir()
    with pytest.raises(IsADirectoryError):
        write_durably(path, b"x")
    assert list(tmp_path.iterdir()) == [path]


def test_no_link_is_followed_to_the_draft(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    (tmp_path / ".wishes.json.new").symlink_to(precious)
    with pytest.raises(OSError, match="symbolic"):
        write_durably(tmp_path / "wishes.json", b"x")
    assert precious.read_text() == "mine"
