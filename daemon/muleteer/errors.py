"""Every error that leaves a part, named by whose fault it is.

An error carries a machine-readable `code`, the HTTP `status` the gateway answers with, and one sentence
that says what happened and what to do. Signals of the harness (control flow, not faults) live in
`harness/signals.py`.
"""

from __future__ import annotations

from typing import ClassVar


class MuleteerError(Exception):
    """Base of all faults. `str(error)` is the sentence for people."""

    code: ClassVar[str] = "internal"
    status: ClassVar[int] = 500

    def as_dict(self) -> dict[str, object]:
        """The one JSON shape of an error: `{"error": {"code": ..., "message": ...}}`."""
        return {"error": {"code": self.code, "message": str(self)}}


# The caller's fault.


class RequestError(MuleteerError):
    """The request cannot be served as it was sent."""

    code = "bad_request"
    status = 400


class MediaTypeError(RequestError):
    """The body is of a type, encoding or character set that is not read here."""

    code = "unsupported_media_type"
    status = 415


class TooLongError(RequestError):
    """A message, or what it makes of a prompt, exceeds its budget; the sentence names both counts."""

    code = "too_long"
    status = 413


class SlowRequestError(RequestError):
    """The request did not arrive in time; the connection is closed."""

    code = "request_timeout"
    status = 408


class NotOpenError(RequestError):
    """No question of this turn waits for an answer."""

    code = "not_open"
    status = 404


class UnknownTurnError(RequestError):
    """None of the turns that are kept has that id."""

    code = "not_found"
    status = 404


class UnknownTimerError(RequestError):
    """No timer of that number is set."""

    code = "not_found"
    status = 404


class UnauthorizedError(RequestError):
    """Who asks over the network has shown no token, or one that is not known here."""

    code = "unauthorized"
    status = 401


class ForbiddenError(RequestError):
    """The token does not allow this, or a web page of somebody else has sent the request."""

    code = "forbidden"
    status = 403


class UnknownPathError(RequestError):
    """Nothing is at the path of a request."""

    code = "not_found"
    status = 404


class MisdirectedError(RequestError):
    """The request's Host names another machine than this one."""

    code = "misdirected"
    status = 421


class TooManyError(RequestError):
    """Too many requests in too short a time. `retry_after` is a hint in seconds."""

    code = "too_many_requests"
    status = 429

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class PairingError(RequestError):
    """A client cannot be paired with this device; the sentence says why."""

    code = "pairing"
    status = 409


class UnknownTokenError(RequestError):
    """No token has that name."""

    code = "not_found"
    status = 404


class SeatError(RequestError):
    """What was asked of the driver's seat or the household cannot be done; the sentence says why."""

    code = "seat"
    status = 409


class OverBudgetError(MuleteerError):
    """The turn's tokens or seconds ended before anything could be said."""

    code = "over_budget"
    status = 503


# The operator's fault.


class ConfigError(MuleteerError):
    """A setting is unknown, unreadable or impossible."""

    code = "config"


class ModelError(MuleteerError):
    """A model is missing, damaged, too large for this machine, or not one llama.cpp can read."""

    code = "model"
    status = 503


class MissingPackageError(MuleteerError):
    """What was asked needs a package that is not installed."""

    code = "missing_package"
    status = 501


class SkillError(MuleteerError):
    """A skill or tool on disk cannot be used; it is disabled alone, with this reason."""

    code = "skill"


class SocketError(MuleteerError):
    """The socket is in use, cannot be made, or nobody answers on it."""

    code = "socket"
    status = 503


class InUseError(SocketError):
    """Another daemon has the state folder or the socket."""

    code = "in_use"


# The engine's or the machine's fault.


class StorageError(MuleteerError):
    """What was asked could not be kept on disk, and so was not done, or until the next start only, as it
    says."""

    code = "storage"
    status = 503


class EngineError(MuleteerError):
    """The engine failed at a request; the next one may work."""

    code = "engine"
    status = 503


class BrainError(MuleteerError):
    """A brain elsewhere could not be asked, or broke off; the sentence names it."""

    code = "brain"
    status = 502


class EngineDiedError(EngineError):
    """The engine process ended in the middle of a request; it is being started again."""

    code = "engine_died"


class EngineBusyError(EngineError):
    """The queue is full. `retry_after` is a hint in seconds."""

    code = "busy"

    def __init__(self, message: str, retry_after: float = 5.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class LoadingError(EngineBusyError):
    """The model is not loaded yet."""

    code = "loading"


class ShuttingDownError(MuleteerError):
    """The daemon is stopping; running turns end with this."""

    code = "shutting_down"
    status = 503


class CancelledByClientError(MuleteerError):
    """The client went away; the turn was stopped."""

    code = "cancelled"
    status = 499
