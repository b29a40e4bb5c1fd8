"""Skills as zips: what goes out comes back the same, and what must not come in does not."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from muleteer.catalogue.bundles import LARGEST_FILE, MOST_FILES, pack, place, unpack, without_code
from muleteer.errors import SkillError

TEXT = b"---\nname: mine\n---\nAsk @clock.\n"


def folder(path: Path) -> Path:
    (path / "mine" / "extra").mkdir(parents=True)
    (path / "mine" / "SKILL.md").write_bytes(TEXT)
    (path / "mine" / "extra" / "Liste für Gäste.md").write_bytes(b"one\n")
    (path / "mine" / ".git").mkdir()
    (path / "mine" / ".git" / "config").write_bytes(b"secret")
    (path / "mine" / "test_mine.py").write_bytes(b"import os\n")
    return path / "mine"


def zipped(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in entries:
            bundle.writestr(name, data)
    return path


def test_what_goes_out_comes_back(tmp_path: Path) -> None:
    data = pack(folder(tmp_path / "a"))
    assert data == pack(tmp_path / "a" / "mine")
    (tmp_path / "any.zip").write_bytes(data)
    name, files = unpack(tmp_path / "any.zip")
    assert (name, files["SKILL.md"]) == ("mine", TEXT)
    assert set(files) == {"SKILL.md", "extra/Liste für Gäste.md", "test_mine.py"}
    assert (name, files) == unpack(tmp_path / "a" / "mine")
    taken = without_code(files)
    place(taken, tmp_path / "b" / "skills" / "mine")
    assert set(taken) == {"SKILL.md", "extra/Liste für Gäste.md"}
    assert unpack(tmp_path / "b" / "skills" / "mine") == ("mine", taken)
    assert list((tmp_path / "b").iterdir()) == [tmp_path / "b" / "skills"]


def test_a_zip_without_a_folder_has_the_name_of_the_zip(tmp_path: Path) -> None:
    name, files = unpack(zipped(tmp_path / "mine.zip", ("SKILL.md", TEXT), ("more/a.md", b"a")))
    assert (name, set(files)) == ("mine", {"SKILL.md", "more/a.md"})


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    target = tmp_path / "skills" / "mine"
    target.mkdir(parents=True)
    with pytest.raises(SkillError, match="is there already"):
        place({"SKILL.md": TEXT}, target)
    target.rmdir()
    target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(SkillError, match="is there already"):
        place({"SKILL.md": TEXT}, target)


def test_names_that_exclude_each_other_leave_nothing(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="cannot be written"):
        place({"a": b"", "a/b": b""}, tmp_path / "skills" / "mine")
    assert list((tmp_path / "skills").iterdir()) == []


NAMES = [
    "../SKILL.md",
    "mine/../../x.md",
    "/etc/passwd",
    "mine\\x.md",
    "mine//x.md",
    "mine/.bashrc",
    "mine/a\nb.md",
    "mine/a\x1b[2J.md",
    "mine/\u202egpj.md",
    "mine/trailing.",
    "mine/ leading",
    "mine/-rf",
    "C:/x.md",
    "a/b/c/d/e/f.md",
    "x" * 200,
    "mine/~",
    "mine/$HOME",
]


@pytest.mark.parametrize("name", NAMES)
def test_odd_names_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(SkillError, match="cannot be the name of a file in a skill"):
        unpack(zipped(tmp_path / "mine.zip", ("mine/SKILL.md", TEXT), (name, b"x")))


def special(kind: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("mine/link")
    entry.external_attr = (kind | 0o777) << 16
    return entry


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR])
def test_links_and_devices_are_refused(tmp_path: Path, kind: int) -> None:
    with pytest.raises(SkillError, match="is a link or a device"):
        unpack(zipped(tmp_path / "mine.zip", ("mine/SKILL.md", TEXT), (special(kind), b"/etc/passwd")))


def test_a_link_in_a_folder_is_refused(tmp_path: Path) -> None:
    made = folder(tmp_path)
    (made / "passwd").symlink_to("/etc/passwd")
    for use in (unpack, pack):
        read: Callable[[Path], object] = use
        with pytest.raises(SkillError, match="passwd is a link"):
            read(made)


def lying(path: Path) -> Path:
    """A zip whose entry claims ten bytes and unpacks to many more."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        bundle.writestr("mine/SKILL.md", b"\0" * (50 << 20))
    data = made.getvalue()
    size = (50 << 20).to_bytes(4, "little")
    path.write_bytes(data.replace(size, (10).to_bytes(4, "little")))
    return path


def test_bombs_do_not_go_off(tmp_path: Path) -> None:
    bomb = zipped(tmp_path / "mine.zip", ("mine/SKILL.md", b"\0" * (50 << 20)))
    assert bomb.stat().st_size < 100_000
    with pytest.raises(SkillError, match="is too large"):
        unpack(bomb)
    with pytest.raises(SkillError, match=r"too large|not a zip file that can be read"):
        unpack(lying(tmp_path / "lying.zip"))
    many = [(f"mine/{number}.md", b"x" * (LARGEST_FILE - 1)) for number in range(6)]
    with pytest.raises(SkillError, match="is too large"):
        unpack(zipped(tmp_path / "sum.zip", *many))


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    many = [(f"mine/{number}.md", b"") for number in range(MOST_FILES + 1)]
    with pytest.raises(SkillError, match=f"holds {MOST_FILES + 1} files; at most {MOST_FILES}"):
        unpack(zipped(tmp_path / "mine.zip", *many))
    crowded = tmp_path / "mine"
    crowded.mkdir()
    for name, _ in many:
        (crowded / name.removeprefix("mine/")).write_bytes(b"")
    with pytest.raises(SkillError, match=f"more than {MOST_FILES} files"):
        unpack(crowded)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_file_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SkillError, match="twice"):
        unpack(zipped(tmp_path / "mine.zip", ("mine/SKILL.md", TEXT), ("mine/SKILL.md", b"other")))


def test_what_is_no_skill_says_so(tmp_path: Path) -> None:
    (tmp_path / "noise.zip").write_bytes(b"PK\x03\x04" + b"noise" * 100)
    with pytest.raises(SkillError, match="not a zip file that can be read"):
        unpack(tmp_path / "noise.zip")
    with pytest.raises(SkillError, match="cannot be read"):
        unpack(tmp_path / "missing.zip")
    with pytest.raises(SkillError, match="cannot be a skill's name"):
        unpack(zipped(tmp_path / "Mine_1.zip", ("SKILL.md", TEXT)))
    with pytest.raises(SkillError, match=r"holds no SKILL\.md"):
        unpack(zipped(tmp_path / "mine.zip", ("mine/README.md", TEXT)))
