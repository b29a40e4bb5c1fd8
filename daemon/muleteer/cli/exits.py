"""The exit codes of every command, which error ends with which, and the error that the daemon reported."""

from __future__ import annotations

from collections.abc import Sequence

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
from muleteer.harness.events import LevelUse

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


class ReportedError(MuleteerError):
    """What the daemon reported, with the levels that ran, or the connection's loss in the middle of a turn
    (`connection_lost`)."""

    def __init__(self, reported: str, message: str, levels: Sequence[LevelUse] = ()) -> None:
        super().__init__(message)
        self.reported = reported
        self.levels = levels

    def as_dict(self) -> dict[str, object]:
        return {"error": {"code": self.reported, "message": str(self)}}


def code_of(error: MuleteerError) -> int:
    """The exit code for an error, raised here or reported by the daemon."""
    if isinstance(error, ConfigError):
        return USAGE
    if isinstance(error, SocketError):
        return NO_DAEMON
    code = error.reported if isinstance(error, ReportedError) else error.code
    if code in UNAVAILABLE:
        return ENGINE_UNAVAILABLE
    return TURN_FAILED
