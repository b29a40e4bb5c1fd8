"""Files that others may write are refused, whoever they belong to."""

from __future__ import annotations

import grp
import os
import pwd
from pathlib import Path

import pytest

from muleteer.catalogue.trust import check_folder, read_trusted
from muleteer.errors import SkillError

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "thing"
    path.write_text("text")
    path.chmod(0o644)
    return path


def test_a_file_of_ones_own_is_read(file: Path) -> None:
    check_folder(file.parent)
    assert read_trusted(file, 4) == b"text"


def test_a_file_for_everybody_is_refused_with_the_command_that_helps(file: Path) -> None:
    file.chmod(0o646)
    with pytest.raises(SkillError, match=f"written by other users; run: chmod go-w {file}"):
        read_trusted(file, 4)


def test_a_folder_for_everybody_is_refused(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    with pytest.raises(SkillError, match="chmod go-w"):
        check_folder(tmp_path)


def test_a_link_does_not_hide_the_folder_it_leads_to(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.mkdir()
    link.symlink_to(target)
    check_folder(link)
    target.chmod(0o777)
    with pytest.raises(SkillError, match=f"chmod go-w {link}"):
        check_folder(link)


@as_root
def test_a_file_of_another_user_is_refused(file: Path) -> None:
    os.chown(file, 12345, -1)
    with pytest.raises(SkillError, match="belongs to user 12345"):
        read_trusted(file, 4)


@as_root
def test_a_group_of_several_is_refused(file: Path) -> None:
    os.chown(file, -1, 12345)
    file.chmod(0o664)
    with pytest.raises(SkillError, match="chmod go-w"):
        read_trusted(file, 4)


def test_the_owners_private_group_may_write(file: Path) -> None:
    user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
    if group.gr_name != user.pw_name or set(group.gr_mem) - {user.pw_name}:
        pytest.skip("this user has no private group")
    file.chmod(0o664)
    assert read_trusted(file, 4) == b"text"


def test_a_long_file_is_refused_with_the_limit(file: Path) -> None:
    with pytest.raises(SkillError, match="larger than 3 bytes"):
        read_trusted(file, 3)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="cannot be read: Is a directory"):
        read_trusted(tmp_path, 4)
    with pytest.raises(SkillError, match="cannot be read: No such file"):
        read_trusted(tmp_path / "missing", 4)
    with pytest.raises(SkillError, match="not a regular file"):
        read_trusted(Path("/dev/null"), 4)
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(SkillError, match="fifo cannot be read: not a regular file"):
        read_trusted(tmp_path / "fifo", 4)
