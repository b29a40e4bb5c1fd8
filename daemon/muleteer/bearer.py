"""The bearer token for a server elsewhere: from an environment variable or a file, never from the settings.

Knows where it may stand; not what it opens. It is never logged and never part of an error.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from muleteer.errors import ConfigError
from muleteer.files import open_regular, read_whole

TOKEN_LIMIT = 16_384  # bytes; signed tokens have a few hundred


def token(environ: Mapping[str, str], variable: str, file: str) -> str:
    """The secret for a server, empty where it needs none. Raises `ConfigError` that names where it should
    have been, never what was there."""
    if variable:
        if not environ.get(variable):
            raise ConfigError(f"the environment variable {variable} for its token is not set")
        return environ[variable].strip()
    if not file:
        return ""
    try:
        with open_regular(Path(file).expanduser()) as stream:
            found = read_whole(stream, TOKEN_LIMIT).decode("ascii").strip()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it holds no token"
        raise ConfigError(f"the file {file} for its token cannot be read ({reason})") from None
    if not found or not found.isprintable():
        raise ConfigError(f"the file {file} for its token holds no token")
    return found


def secret_of(variable: str, file: str) -> str:
    """`token` from this process's environment."""
    return token(os.environ, variable, file)
