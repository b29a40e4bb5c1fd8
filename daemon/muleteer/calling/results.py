"""What a tool hands back, made safe for everyone after it: the right types, limited sizes, encodable text.

Knows the types of `tool.py`; knows nothing of calls. Runs in the tool's thread, since what a tool returns or
raises has methods of the tool's own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from muleteer.sentences import Opening, Sentence
from muleteer.tool import Data, Document, Effect, Notes, Payload, Result, Status

TEXT_LIMIT = 16_000  # characters of a result's sentence, or of its sources: far more than is read to anyone
PAYLOAD_LIMIT = 256_000  # characters of a payload: a book's chapter; an answer is written from much less
SENTENCE_LIMIT = 200  # characters about a fault


def checked(value: object) -> Result:
    """The result as plain built-in values, long ones cut with a visible mark. Raises `ValueError` with what
    is wrong with it."""
    if not isinstance(value, Result):
        raise ValueError(f"it returned {type(value).__name__} instead of a Result")
    if not isinstance(value.status, Status):
        raise _wrong("the status of its Result", value.status, "a Status")
    text = clip(_text(value.text, "the text of its Result"), TEXT_LIMIT)
    sources = _several(value.sources, TEXT_LIMIT, "the sources of its Result")
    payload, cut = _payload(value.payload)
    return Result(value.status, f"{text}{_mark(cut)}" if cut else text, payload, sources)


def late(name: str, seconds: float, effect: Effect) -> Result:
    """The result of a call that nobody waits for any more. Whether its end stopped anything is not known."""
    if effect == "read":
        return Result.error(f"{name} took longer than {seconds:g} s and was stopped.")
    return Result.error(f"{name} did not answer within {seconds:g} s; it may have been done all the same.")


def unsure(said: str, effect: Effect) -> str:
    """The sentence about a call that ended without an answer, which says no more than is known."""
    return said if effect == "read" else f"{said} It may have been done all the same."


def tidy(text: str) -> str:
    """The text as UTF-8 can hold it: half a surrogate pair becomes a replacement character."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def clip(text: str, limit: int) -> str:
    """The text's first `limit` characters, with a mark that says how many were cut."""
    if len(text) > limit:
        return tidy(text[:limit]) + _mark(len(text) - limit)
    return text if text == tidy(text) else tidy(text)


def sentence(error: BaseException, limit: int = SENTENCE_LIMIT) -> str:
    """One line about an exception: its own words where it has some, at most `limit` characters."""
    try:
        words = " ".join(tidy(str(error)[: 2 * limit]).split())
    except BaseException:  # noqa: BLE001  # a tool's own __str__ may do anything; the type's name is left
        words = ""
    if isinstance(error, SystemExit):
        words = "it tried to end the program"
    elif not isinstance(error, (OSError, ValueError)) or not words:
        words = f"{type(error).__name__}: {words}".rstrip(": ")
    if len(words) > limit:
        words = words[: limit - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return words if words.endswith((".", "!", "?", "\N{HORIZONTAL ELLIPSIS}")) else words + "."


def _payload(payload: object) -> tuple[Payload | None, int]:
    """The payload, and how many characters were dropped with all of it."""
    match payload:
        case None:
            return None, 0
        case Notes():
            return Notes(_several(payload.items, PAYLOAD_LIMIT, "the items of its Notes")), 0
        case Document():
            name = clip(_text(payload.name, "the name of its Document"), TEXT_LIMIT)
            text = _text(payload.text, "the text of its Document")
            return Document(name, clip(text, PAYLOAD_LIMIT - len(name))), 0
        case Data():
            return _data(payload.values)
        case _:
            raise _wrong("the payload of its Result", payload, "Notes, Document or Data")


def _data(values: object) -> tuple[Data | None, int]:
    """The values as they come back from JSON: a copy that no thread of the tool can change any more."""
    if not isinstance(values, dict):
        raise _wrong("the values of its Data", values, "a dict")
    encoder = json.JSONEncoder(ensure_ascii=False, allow_nan=False)
    parts: list[str] = []
    size = 0
    try:
        for part in encoder.iterencode(values):
            size += len(part)
            if size <= PAYLOAD_LIMIT:
                parts.append(part)
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"the values of its Data are not JSON: {error}") from error
    if size > PAYLOAD_LIMIT:
        return None, size
    plain: dict[str, Any] = json.loads(tidy("".join(parts)))
    return Data(plain), 0


def _several(texts: object, limit: int, what: str) -> tuple[str, ...]:
    """Texts of at most `limit` characters together; the one that does not fit is cut and says how much of
    it and of those after it is missing."""
    if not isinstance(texts, (tuple, list)):
        raise _wrong(what, texts, "a tuple of str")
    kept: list[str] = []
    rest = iter(texts)
    for text in rest:
        text = _text(text, f"one of {what}")
        if len(text) >= limit:
            missing = len(text) - limit + _size(rest, what)
            kept.append(f"{tidy(text[:limit])}{_mark(missing)}" if missing else tidy(text))
            break
        kept.append(tidy(text))
        limit -= len(text) + 1  # the line's end, so that empty texts are not free
    return tuple(kept)


def _size(texts: Iterable[object], what: str) -> int:
    return sum(len(_text(text, f"one of {what}")) for text in texts)


def _text(value: object, what: str) -> str:
    """A built-in string, whatever subclass of it the tool made; a sentence that can be said in another
    language stays one."""
    if not isinstance(value, str):
        raise _wrong(what, value, "str")
    return value if type(value) in (Sentence, Opening) else str.__str__(value)


def _wrong(what: str, value: object, wanted: str) -> ValueError:
    return ValueError(f"it gave {type(value).__name__} instead of {wanted} as {what}")


def _mark(characters: int) -> str:
    return f" [... {characters} characters cut]"
