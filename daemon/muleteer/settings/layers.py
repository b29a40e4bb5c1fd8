"""What the settings files and the environment say, raw: key, value and origin.

Knows TOML and the naming of environment variables. Does not know which keys exist, what they mean or
which values are possible: that is `config.py`. Light on purpose, since every client command reads it.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from muleteer import paths
from muleteer.errors import ConfigError
from muleteer.files import open_regular, read_whole

PREFIX = "MULETEER_"
CONFIG_VARIABLE = "MULETEER_CONFIG"
SHORT_VARIABLES = {
    "gateway.socket": "MULETEER_SOCKET",
    "state": "MULETEER_STATE",
    "models": "MULETEER_MODELS",
}
LARGEST_FILE = 64 * 1024  # bytes; every key with its comment is under 10 kB, so more is the wrong file
LARGEST_NUMBER = 2**63 - 1  # what TOML promises; Python cannot even print one of several thousand digits
DEEPEST = 16  # tables in tables; a model's sources are four deep


@dataclass(frozen=True, slots=True)
class Given:
    """One key as someone set it. `origin` is a file's path, a variable's name or an option's name."""

    key: str
    value: object
    origin: str
    kind: Literal["file", "variable", "option"]


def read_files(file: Path | None = None) -> list[Given]:
    """Everything the settings files say, in reading order.

    `file` (or `MULETEER_CONFIG`) is read alone and must exist; the usual files need not.
    Raises `ConfigError` when a file cannot be read or is not TOML.
    """
    named = file or os.environ.get(CONFIG_VARIABLE, "")
    if named:
        path = paths.expand(named)
        return list(_flatten(read_toml(path), path))
    return [
        given for path in paths.config_files() if present(path) for given in _flatten(read_toml(path), path)
    ]


def read_environment(environ: Mapping[str, str]) -> list[Given]:
    """Every `MULETEER_` variable that is not empty, as text, but the one that names the file."""
    return [
        Given(key_of(name), value, name, "variable")
        for name, value in sorted(environ.items())
        if name.startswith(PREFIX) and name != CONFIG_VARIABLE and value
    ]


def variable_of(key: str) -> str:
    """The one environment variable that sets `key`."""
    return SHORT_VARIABLES.get(key) or PREFIX + key.upper().replace(".", "__")


def key_of(variable: str) -> str:
    """The key that an environment variable would set, whether or not it exists."""
    for key, short in SHORT_VARIABLES.items():
        if short == variable:
            return key
    return variable.removeprefix(PREFIX).lower().replace("__", ".")


def read_toml(path: Path) -> dict[str, object]:
    """The tables of one file. Raises `ConfigError`: one sentence with the file and, where it is the
    content that is wrong, the line."""
    return parse_toml(path, read_text(path))


def read_text(path: Path) -> str:
    """A settings file, whole. Raises `ConfigError`."""
    try:
        with open_regular(path) as stream:
            raw = read_whole(stream, LARGEST_FILE)
    except OSError as error:
        raise ConfigError(f"Cannot read the settings file {path}: {error.strerror or error}.") from error
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8.") from error


def parse_toml(path: Path, text: str) -> dict[str, object]:
    """The tables in `text`, which stands in the file at `path`. Raises `ConfigError`."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_sentence(path, text, str(error))) from error
    except RecursionError as error:
        raise ConfigError(f"{path}: values are nested too deeply to be settings.") from error
    except ValueError as error:  # from int(), for thousands of digits
        raise ConfigError(f"{path}: not valid TOML: a number in it has too many digits.") from error
    _check(path, tables)
    return tables


def _check(path: Path, value: object, key: str = "", depth: int = 0) -> None:
    """Nothing later may fail at showing a value."""
    if depth > DEEPEST:
        raise ConfigError(f"{path}: values are nested too deeply to be settings.")
    if isinstance(value, dict):
        for name, inner in value.items():
            _check(path, inner, f"{key}.{name}" if key else name, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(path, inner, key, depth + 1)
    elif isinstance(value, int) and abs(value) > LARGEST_NUMBER:
        raise ConfigError(f"{path}: {key} is a larger number than any setting can be.")


def _syntax_sentence(path: Path, text: str, complaint: str) -> str:
    what, _, where = complaint.rpartition(" (at ")
    numbered = re.match(r"line (\d+)", where)
    line = int(numbered[1]) if numbered else max(1, len(text.splitlines()))
    return f"{path}, line {line}: not valid TOML: {what or complaint}."


def _flatten(tables: Mapping[str, object], path: Path) -> Iterator[Given]:
    for name, value in tables.items():
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                yield Given(f"{name}.{key}", inner, str(path), "file")
        else:
            yield Given(name, value, str(path), "file")


def present(path: Path) -> bool:
    """False only when there is certainly nothing at `path`."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it may be there, and reading it will say what is wrong
    return True
