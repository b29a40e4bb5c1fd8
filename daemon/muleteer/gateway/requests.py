"""From the bytes of a request to a checked `TurnRequest`, or one sentence that says what is wrong.

Knows the wire format of `POST /v1/turns` and its limits. Does not know tokens, turns or answers.
"""

from __future__ import annotations

import asyncio
import unicodedata
from difflib import get_close_matches
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails
from starlette.requests import Request

from muleteer.engine.protocol import Message
from muleteer.errors import MediaTypeError, RequestError, SlowRequestError, TooLongError

LONGEST_BODY = 1 << 20  # bytes; above what the other limits allow even with every character escaped as \uXXXX
LONGEST_MESSAGE = 64 << 10  # bytes; tokenized in 10 ms, and any token budget of a small board is below it
LONGEST_HISTORY = 64  # messages; more than any context here holds
LARGEST_HISTORY = 256 << 10  # bytes of all its messages together
BODY_SECONDS = 10.0  # to send a body; 1 MiB from a client on this machine takes a few milliseconds
UNSEEN = frozenset({"Cc", "Cf", "Mn", "Me", "Zs", "Zl", "Zp"})  # Unicode categories that show nothing alone
BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0")  # letters and symbols by category, drawn as nothing

LONGEST_NAME = 64  # characters of a brain's name
SESSION = r"^[A-Za-z0-9_.-]{0,64}$"  # a name for programs, short enough to be kept with every turn and note
SESSION_KEY = r"^([0-9a-f]{1,64}:)?[A-Za-z0-9_.-]{0,64}$"  # as it is kept: a token's id before its name
WRONG_SESSION = "A session's name has at most 64 letters, digits and _ . - ; see `muleteer sessions`."

Body = TypeVar("Body", bound=BaseModel)

EXAMPLE = '{"message": "What time is it in Istanbul?"}'


class HistoryEntry(BaseModel):
    """An earlier message of the conversation."""

    model_config = ConfigDict(extra="forbid", strict=True)

    role: Literal["user", "assistant"]
    content: str


class TurnRequest(BaseModel):
    """The body of `POST /v1/turns`. `stream` unset: as the Accept header says. `confirm` adds to the effects
    of tools that need a yes; `session` names the conversation, for the memory. Without `history`, what is
    kept of the session is the history. `brain` is the one that shall answer, if it may."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: str
    history: list[HistoryEntry] | None = None
    stream: bool | None = None
    confirm: list[Literal["write", "physical"]] = []
    session: str = Field("", pattern=SESSION)
    brain: str = Field("", max_length=LONGEST_NAME)

    def messages(self) -> tuple[Message, ...]:
        """The history as the harness takes it, oldest first."""
        return tuple(Message(entry.role, entry.content) for entry in self.history or ())


class ConfirmRequest(BaseModel):
    """The body of `POST /v1/turns/{id}/confirm`. `stream` and `session` as in `TurnRequest`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    confirm: bool
    stream: bool | None = None
    session: str = Field("", pattern=SESSION)


async def read_turn(request: Request, seconds: float = BODY_SECONDS) -> TurnRequest:
    """Read and check a request, whose body may take so long. Raises `RequestError` and its subclasses."""
    return parse_turn(await read_body(request, seconds))


async def read_as(model: type[Body], request: Request, example: str) -> Body:
    """Read and check the body of any other request, an object such as `example`. Raises as `read_turn`."""
    try:
        return model.model_validate_json(await read_body(request))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "string_pattern_mismatch" and first["loc"] == ("session",):
            raise RequestError(WRONG_SESSION) from None
        place = ".".join(str(part) for part in first["loc"])
        said = f"{place}: {first['msg']}" if place else first["msg"]
        raise RequestError(f"The body is wrong ({said}); send a JSON object such as {example}.") from None


async def read_body(request: Request, seconds: float = BODY_SECONDS, typed: bool = True) -> bytes:
    """The body of a request that sends JSON, and says so if it must be `typed`. Raises as `read_turn`."""
    if typed:
        _check_media_type(request)
    try:
        async with asyncio.timeout(seconds):
            return await _read_body(request)
    except TimeoutError:
        raise SlowRequestError(
            f"The body did not arrive within {seconds:g} seconds; send all of it at once."
        ) from None


def wants_stream(turn: TurnRequest | ConfirmRequest, accept: str) -> bool:
    """Events unless the body says otherwise or the client accepts JSON and not event streams."""
    if turn.stream is not None:
        return turn.stream
    return "application/json" not in accept or "text/event-stream" in accept


def parse_turn(body: bytes) -> TurnRequest:
    """Raises `RequestError` for the first thing that is wrong with `body`."""
    if not body.strip():
        raise RequestError(f"The body is empty; send a JSON object such as {EXAMPLE}.")
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise RequestError(f"The body is not valid UTF-8 at byte {error.start}; send it as UTF-8.") from None
    try:
        turn = TurnRequest.model_validate_json(text)
    except ValidationError as error:
        found = error.errors(include_url=False)
        unknown = [each for each in found if each["type"] == "extra_forbidden"]  # likelier the cause
        raise RequestError(_sentence((unknown or found)[0])) from None
    _check_texts(turn)
    return turn


def _check_texts(turn: TurnRequest) -> None:
    if not any(_shows(character) for character in turn.message):
        raise RequestError(f"The message is empty; send a question, such as {EXAMPLE}.")
    size = len(turn.message.encode())
    if size > LONGEST_MESSAGE:
        raise TooLongError(
            f"The message has {size} bytes and at most {LONGEST_MESSAGE} are read; shorten it."
        )
    history = turn.history or ()
    if len(history) > LONGEST_HISTORY:
        raise TooLongError(
            f"The history has {len(history)} messages, at most {LONGEST_HISTORY} are read; send fewer."
        )
    size = sum(len(entry.content.encode()) for entry in history)
    if size > LARGEST_HISTORY:
        raise TooLongError(
            f"The history has {size} bytes and at most {LARGEST_HISTORY} are read; send the newest."
        )
    for name, text in [("message", turn.message), *(("history", entry.content) for entry in history)]:
        if "\0" in text:
            raise RequestError(f'"{name}" contains a zero character (\\u0000); send plain text.')


def _shows(character: str) -> bool:
    """Whether it puts anything on a page by itself."""
    return unicodedata.category(character) not in UNSEEN and character not in BLANKS


def _sentence(error: ErrorDetails) -> str:
    """pydantic's finding in our words."""
    kind, where = error["type"], _where(error["loc"])
    if kind == "json_invalid":
        return f"The body is not valid JSON: {error['ctx']['error']}."
    if kind == "extra_forbidden":
        model = HistoryEntry if len(error["loc"]) > 1 else TurnRequest
        near = get_close_matches(str(error["loc"][-1]), model.model_fields, n=1)
        known = ", ".join(f'"{name}"' for name in model.model_fields)
        hint = f'did you mean "{near[0]}"' if near else f"the known ones are {known}"
        return f"There is no key {where[:100]}; {hint}{'?' if near else '.'}"
    if kind == "missing":
        return f"The key {where} is missing; send a JSON object such as {EXAMPLE}."
    if kind == "string_pattern_mismatch" and error["loc"] == ("session",):
        return WRONG_SESSION
    if not error["loc"]:
        return f"The body must be a JSON object such as {EXAMPLE}."
    return f"{where} is wrong: {error['msg'].replace('Input should be', 'it must be')}."


def _where(location: tuple[int | str, ...]) -> str:
    """`("history", 0, "role")` as `"history[0].role"`, quotes included."""
    steps = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in location)
    return f'"{steps.removeprefix(".")}"'


def _check_media_type(request: Request) -> None:
    media_type, _, parameters = request.headers.get("content-type", "").lower().partition(";")
    charset = parameters.replace(" ", "").replace('"', "").partition("charset=")[2].partition(";")[0]
    if media_type.strip() != "application/json" or charset not in ("", "utf-8", "utf8"):
        raise MediaTypeError(
            "The body must come with Content-Type: application/json (curl: --json) as UTF-8."
        )
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise MediaTypeError("The body must not be compressed; leave Content-Encoding out.")


async def _read_body(request: Request) -> bytes:
    """At most `LONGEST_BODY` bytes, counted as they arrive: a declared length proves nothing."""
    too_long = TooLongError(f"The body is longer than {LONGEST_BODY} bytes; send less history.")
    if int(request.headers.get("content-length", "0")) > LONGEST_BODY:
        raise too_long
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > LONGEST_BODY:
            raise too_long
    return bytes(body)
