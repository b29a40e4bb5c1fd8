"""A skill to give away: its folder as a zip, and back again from a zip or folder that nobody has read yet.

Knows files, limits and names; runs nothing and trusts nothing. Whether a bundle becomes a skill is decided by
whoever has seen what is in it. Tools are never taken from one: a skill is words, a tool is code.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from muleteer.catalogue.skill_files import NAME
from muleteer.errors import SkillError
from muleteer.files import open_regular, read_whole

MOST_FILES = 64  # of one skill: its steps, and what they refer to
LARGEST_FILE = 1 << 20  # bytes; a long document
LARGEST = 4 << 20  # bytes of all files, and of a zip before anything in it is read
DEEPEST = 4  # folders inside a skill
LONGEST_NAME = 120  # characters of a path
# Letters and digits of any language, and what tells them apart; no control characters, no leading dots.
PART = re.compile(r"(?!\.)[\w][\w .,()+-]*(?<![ .])")
MAIN = "SKILL.md"

Files = Mapping[str, bytes]


def pack(folder: Path) -> bytes:
    """A skill's folder as a zip, with the folder's name in it. Raises `SkillError` for what could not be
    taken back."""
    files = _from_folder(folder)
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in files.items():
            # One date for all, so that the same skill is the same zip.
            bundle.writestr(zipfile.ZipInfo(f"{folder.name}/{name}"), data, zipfile.ZIP_DEFLATED)
    return made.getvalue()


def unpack(source: Path) -> tuple[str, Files]:
    """The skill's name and its files by relative path, from a folder or a zip; nothing is written. Raises
    `SkillError` with what is wrong with it."""
    if source.is_dir():
        name, files = source.resolve().name, _from_folder(source)
    else:
        name, files = _from_zip(source)
    if not NAME.fullmatch(name):
        raise SkillError(f"'{name[:LONGEST_NAME]}' cannot be a skill's name; use a-z, 0-9 and '-'.")
    if MAIN not in files:
        raise SkillError(f"{source} holds no {MAIN}.")
    return name, files


def without_code(files: Files) -> Files:
    """What an import takes; Python files are left behind."""
    return {name: data for name, data in files.items() if not name.lower().endswith(".py")}


def place(files: Files, folder: Path) -> None:
    """Write the files as `folder`, all of them or none. Raises `SkillError` when it is there already, or
    cannot be written."""
    if folder.exists() or folder.is_symlink():
        raise SkillError(f"{folder} is there already; remove it or rename the skill.")
    try:
        folder.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        # Not beside the skills, where it would be one for a moment.
        made = Path(tempfile.mkdtemp(prefix=".import-", dir=folder.parent.parent))
        try:
            write(files, made)
            made.chmod(0o755)
            os.rename(made, folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)
    except OSError as error:
        raise SkillError(f"{folder} cannot be written: {error.strerror}.") from error


def write(files: Files, folder: Path) -> None:
    """Write the files into an empty folder. Raises `OSError`."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.write(data)
        path.chmod(0o644)


def _from_folder(folder: Path) -> Files:
    found: dict[str, bytes] = {}
    left = LARGEST
    for path in _walk(folder):
        name = str(path.relative_to(folder))
        _check_name(name)
        try:
            with open_regular(path) as file:
                found[name] = read_whole(file, min(LARGEST_FILE, left))
        except OSError as error:
            raise SkillError(f"{name} cannot be read: {error.strerror or error}.") from error
        left -= len(found[name])
        if len(found) > MOST_FILES:
            raise SkillError(f"it holds more than {MOST_FILES} files.")
    return found


def _walk(folder: Path) -> Iterator[Path]:
    """The files below, in order; links are an error, caches and hidden files are passed over."""
    for entry in sorted(os.scandir(folder), key=lambda each: each.name):
        if entry.name.startswith(".") or entry.name == "__pycache__":
            continue
        path = Path(entry.path)
        if entry.is_symlink():
            raise SkillError(f"{entry.name} is a link; put the file itself there.")
        if entry.is_dir():
            yield from _walk(path)
        else:
            yield path


def _from_zip(path: Path) -> tuple[str, Files]:
    try:
        with open_regular(path) as file:
            data = read_whole(file, LARGEST)
        with zipfile.ZipFile(io.BytesIO(data)) as bundle:
            return _read(bundle, path.stem)
    except OSError as error:
        raise SkillError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, zlib.error) as error:
        raise SkillError(f"{path} is not a zip file that can be read: {error}.") from error


def _read(bundle: zipfile.ZipFile, stem: str) -> tuple[str, Files]:
    """The files of a zip: in one folder, which has the skill's name, or without one, when the zip has it."""
    entries = [entry for entry in bundle.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise SkillError(f"it holds {len(entries)} files; at most {MOST_FILES} are taken.")
    files: dict[str, bytes] = {}
    left = LARGEST
    for entry in entries:
        _check_entry(entry)
        if entry.filename in files:
            raise SkillError(f"it holds {entry.filename} twice.")
        with bundle.open(entry) as file:  # what the entry says of its size proves nothing
            data = file.read(min(LARGEST_FILE, left) + 1)
        left -= len(data)
        if left < 0 or len(data) > LARGEST_FILE:
            raise SkillError(
                f"{entry.filename} is too large; a skill's files have {LARGEST:,} bytes at most."
            )
        files[entry.filename] = data
    tops = {name.split("/")[0] for name in files}
    if MAIN in files or len(tops) != 1:
        return stem, files
    top = tops.pop()
    return top, {name.removeprefix(f"{top}/"): data for name, data in files.items()}


def _check_entry(entry: zipfile.ZipInfo) -> None:
    _check_name(entry.filename)
    kind = stat.S_IFMT(entry.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise SkillError(f"{entry.filename} is a link or a device, not a file.")
    if entry.flag_bits & 0x1:
        raise SkillError(f"{entry.filename} is encrypted.")
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise SkillError(f"{entry.filename} is compressed in an unusual way; use an ordinary zip file.")


def _check_name(name: str) -> None:
    parts = PurePosixPath(name).parts
    odd = not all(PART.fullmatch(part) for part in parts) or "\\" in name or "//" in name
    if odd or not parts or len(parts) > DEEPEST + 1 or len(name) > LONGEST_NAME:
        raise SkillError(f"{name[:LONGEST_NAME]!r} cannot be the name of a file in a skill.")
