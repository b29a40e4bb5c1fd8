"""The exit codes of the daemon and of every command, and which error ends with which."""

from __future__ import annotations

from muleteer.errors import (
    ConfigError,
    EngineBusyError,
    EngineDiedError,
    EngineError,
    LoadingError,
    ModelError,
    MuleteerError,
    ShuttingDownError,
    SocketError,
)

OK = 0
TURN_FAILED = 1
USAGE = 2
NO_DAEMON = 3
ENGINE_UNAVAILABLE = 4
INTERRUPTED = 130  # 128 + SIGINT, what a shell expects

TEXT = """\b
Exit codes:
  0    done
  1    the turn failed, or the reader of the output went away
  2    wrong usage or wrong settings
  3    the socket: no daemon answers on it, or (serve) another one already does
  4    the model or its engine is unavailable or busy
  130  interrupted"""

UNAVAILABLE = frozenset(
    kind.code
    for kind in (EngineBusyError, EngineDiedError, EngineError, LoadingError, ModelError, ShuttingDownError)
)


def code_of(error: MuleteerError) -> int:
    """The exit code for an error, raised here or `reported` by the daemon."""
    if isinstance(error, ConfigError):
        return USAGE
    if isinstance(error, SocketError):
        return NO_DAEMON
    return ENGINE_UNAVAILABLE if getattr(error, "reported", error.code) in UNAVAILABLE else TURN_FAILED
