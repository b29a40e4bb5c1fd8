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

PREFIX = "MULETEER_"
CONFIG_VARIABLE = "MULETEER_CONFIG"
SHORT_VARIABLES = {
    "gateway.socket": "MULETEER_SOCKET",
    "state": "MULETEER_STATE",
    "models": "MULETEER_MODELS",
}
LARGEST_FILE = 1 << 20  # bytes; every key with its comment is under 10 kB, so more is the wrong file


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
        given for path in paths.config_files() if _present(path) for given in _flatten(read_toml(path), path)
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
    try:
        with path.open("rb") as stream:
            raw = stream.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigError(f"Cannot read the settings file {path}: {error.strerror or error}.") from error
    if len(raw) > LARGEST_FILE:
        raise ConfigError(
            f"The settings file {path} is larger than {LARGEST_FILE} bytes; is it the right one?"
        )
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{path}, line {line}: not UTF-8 text; save the file as UTF-8.") from error
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(_syntax_sentence(path, text, str(error))) from error
    except RecursionError as error:
        raise ConfigError(f"{path}, line 1: values are nested too deeply to be settings.") from error


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


def _present(path: Path) -> bool:
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True  # it may be there, and reading it will say what is wrong
    return True
