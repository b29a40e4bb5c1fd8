"""The language of the socket between daemon and engine process: one JSON object on one line per message.

Pure: messages in, bytes out, and back. Knows nothing of sockets, processes or llama.cpp. This file is the
specification; both ends come from the same installation, so there is no version to negotiate.

    daemon to engine     Load, once; then requests (Count, Warm, Choose, Fill, Write, Forget), one at a time;
                         Cancel; Threads between requests
    engine to daemon     Loading; then Ready, or Failed without an id
                         for a request: Beat and Chunk as it goes on, then one Ledger and one final message
                         (Counted, Warmed, Chosen, Written, Forgotten or Failed)
                         between requests: a Ledger when something was moved in the meantime

Either end leaves by closing its end of the socket.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeVar

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import PydanticSerializationError

from muleteer import errors
from muleteer.engine.protocol import (
    Choice,
    Conversation,
    Held,
    JsonSchema,
    LoadSettings,
    Properties,
    Text,
    Use,
)
from muleteer.errors import EngineError, MuleteerError, RequestError, TooLongError

T = TypeVar("T")

MAX_LINE = 4 * 1024 * 1024
"""Bytes. A prompt of 128,000 tokens is about half a megabyte, escaped as JSON at worst six times that; more
would only fill the memory of a small board."""


class WireError(ValueError):
    """The other end sent something that is not part of this language."""


@dataclass(frozen=True, slots=True)
class Load:
    path: str
    settings: LoadSettings
    kind: Literal["load"] = "load"


@dataclass(frozen=True, slots=True)
class Count:
    id: int
    prompt: Conversation | str
    kind: Literal["count"] = "count"


@dataclass(frozen=True, slots=True)
class Warm:
    id: int
    prompt: Conversation
    kind: Literal["warm"] = "warm"


@dataclass(frozen=True, slots=True)
class Choose:
    id: int
    prompt: Conversation
    options: tuple[str, ...]
    prompt_limit: int | None
    kind: Literal["choose"] = "choose"


@dataclass(frozen=True, slots=True)
class Fill:
    id: int
    prompt: Conversation
    schema: JsonSchema
    limit: int
    prompt_limit: int | None
    kind: Literal["fill"] = "fill"


@dataclass(frozen=True, slots=True)
class Write:
    id: int
    prompt: Conversation
    limit: int
    stop: tuple[str, ...]
    prompt_limit: int | None
    kind: Literal["write"] = "write"


@dataclass(frozen=True, slots=True)
class Forget:
    """Drop every prefix that is not constant, from the context, from memory and from disk."""

    id: int
    kind: Literal["forget"] = "forget"


@dataclass(frozen=True, slots=True)
class Cancel:
    """Ends request `id` with `Failed` as soon as the engine sees it; ignored if that request is over."""

    id: int
    kind: Literal["cancel"] = "cancel"


@dataclass(frozen=True, slots=True)
class Threads:
    """Decode with `number` threads from the next request on."""

    number: int
    kind: Literal["threads"] = "threads"


@dataclass(frozen=True, slots=True)
class Loading:
    kind: Literal["loading"] = "loading"


@dataclass(frozen=True, slots=True)
class Ready:
    properties: Properties
    kind: Literal["ready"] = "ready"


@dataclass(frozen=True, slots=True)
class Beat:
    """A sign of life: request `id` has made progress."""

    id: int
    kind: Literal["beat"] = "beat"


@dataclass(frozen=True, slots=True)
class Chunk:
    id: int
    text: str
    kind: Literal["chunk"] = "chunk"


@dataclass(frozen=True, slots=True)
class Counted:
    id: int
    result: int
    kind: Literal["counted"] = "counted"


@dataclass(frozen=True, slots=True)
class Warmed:
    id: int
    result: Use
    kind: Literal["warmed"] = "warmed"


@dataclass(frozen=True, slots=True)
class Chosen:
    id: int
    result: Choice
    kind: Literal["chosen"] = "chosen"


@dataclass(frozen=True, slots=True)
class Written:
    """The end of `fill` or `write`."""

    id: int
    result: Text
    kind: Literal["written"] = "written"


@dataclass(frozen=True, slots=True)
class Forgotten:
    """`result`: whether no file of such a prefix is left."""

    id: int
    result: bool
    kind: Literal["forgotten"] = "forgotten"


@dataclass(frozen=True, slots=True)
class Ledger:
    """What the engine holds now, and what it has used since it was loaded."""

    held: Held
    totals: Use
    kind: Literal["ledger"] = "ledger"


@dataclass(frozen=True, slots=True)
class Failed:
    """Request `id` failed, or, without an id, loading did. `code` names the class in `errors.py`."""

    id: int | None
    code: str
    message: str
    kind: Literal["failed"] = "failed"


Request = Count | Warm | Choose | Fill | Write | Forget
ToEngine = Load | Request | Cancel | Threads
Answer = Counted | Warmed | Chosen | Written | Forgotten
ANSWERS: dict[type[Request], type[Answer]] = {
    Count: Counted,
    Warm: Warmed,
    Choose: Chosen,
    Fill: Written,
    Write: Written,
    Forget: Forgotten,
}
FromEngine = Loading | Ready | Beat | Chunk | Answer | Ledger | Failed

_Tagged = Field(discriminator="kind")
_TO_ENGINE: TypeAdapter[ToEngine] = TypeAdapter(Annotated[ToEngine, _Tagged])
_FROM_ENGINE: TypeAdapter[FromEngine] = TypeAdapter(Annotated[FromEngine, _Tagged])


def to_engine(message: ToEngine) -> bytes:
    """The line of a message to the engine.

    Raises `TooLongError` when it exceeds `MAX_LINE`, `RequestError` when its text is not Unicode or its
    schema cannot be JSON that the engine reads back.
    """
    try:
        line = _TO_ENGINE.dump_json(message)
        if len(line) < MAX_LINE:
            _TO_ENGINE.validate_json(line)  # nested too deeply is written but not read
    except (PydanticSerializationError, ValidationError) as error:
        raise RequestError(
            f"The request cannot be passed to the engine: {_first(error)}. Send plain Unicode text, and "
            "schemas nested less than a hundred levels deep."
        ) from error
    if len(line) >= MAX_LINE:
        raise TooLongError(
            f"The request has {len(line):,} bytes; the engine reads at most {MAX_LINE - 1:,}. Send less text."
        )
    return line + b"\n"


def at_engine(line: bytes) -> ToEngine:
    """The message of a line that the daemon sent. Raises `WireError`."""
    return _read(_TO_ENGINE, line)


def from_engine(message: FromEngine) -> bytes:
    """The line of a message from the engine."""
    return _FROM_ENGINE.dump_json(message) + b"\n"


def at_daemon(line: bytes) -> FromEngine:
    """The message of a line that the engine sent. Raises `WireError`."""
    return _read(_FROM_ENGINE, line)


def as_failed(id: int | None, error: MuleteerError) -> Failed:
    """An error as it travels."""
    return Failed(id, error.code, str(error))


# By code; where a class and its subclass share one, the class.
_ERRORS = {
    each.code: each
    for each in reversed(vars(errors).values())
    if isinstance(each, type) and issubclass(each, MuleteerError)
}


def as_error(failed: Failed) -> MuleteerError:
    """The error that `failed` carries, of the class it had; an unknown code is an `EngineError`."""
    return _ERRORS.get(failed.code, EngineError)(failed.message)


class Lines:
    """Cuts a stream of bytes into lines, holding back an unfinished one of at most `MAX_LINE` bytes."""

    def __init__(self) -> None:
        self._rest = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The lines that `data` completes, without their ends. Raises `WireError` on one that is too long."""
        searched = len(self._rest)
        self._rest += data
        lines = []
        while (end := self._rest.find(b"\n", searched)) >= 0:
            lines.append(bytes(self._rest[:end]))
            del self._rest[: end + 1]
            searched = 0
        if len(self._rest) > MAX_LINE or any(len(line) > MAX_LINE for line in lines):
            raise WireError(f"a line of more than {MAX_LINE:,} bytes")
        return lines


def _read(adapter: TypeAdapter[T], line: bytes) -> T:
    try:
        return adapter.validate_json(line)
    except ValidationError as error:
        raise WireError(_first(error)) from error


def _first(error: Exception) -> str:
    """What is wrong, in a few words and without the offending text, which may be long and private."""
    if not isinstance(error, ValidationError):
        return str(error)[:200]
    detail = error.errors(include_input=False, include_url=False, include_context=False)[0]
    place = ".".join(str(part) for part in detail["loc"])
    return f"{place}: {detail['msg']}"[:200].removeprefix(": ")
