"""Server-sent events from bytes, however they are cut. Pure: bytes in, events out.

Follows the WHATWG HTML standard, section 9.2.6, without `id` and `retry`: nobody here continues a stream.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LARGEST_EVENT = 4 << 20  # bytes; a whole turn with its longest answer is under 200 kB, and memory is finite
LINE_END = re.compile(rb"\r\n|\r|\n")


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name (`message` when none was given) and its data, lines joined by line feeds."""

    name: str
    data: str


class EventParser:
    """Feed it chunks as they arrive. An event is complete at its blank line; an unfinished one at the end of
    the stream is dropped, as the standard says. `largest` is in bytes of one event."""

    def __init__(self, largest: int = LARGEST_EVENT) -> None:
        self._largest = largest
        self._rest = b""
        self._after_return = False
        self._name = ""
        self._data: list[str] = []
        self._size = 0

    def feed(self, chunk: bytes) -> list[ServerEvent]:
        """The events that `chunk` completes. Raises `ValueError` for bytes that are no event stream."""
        if not chunk:
            return []
        if self._after_return and chunk.startswith(b"\n"):
            chunk = chunk[1:]
            self._after_return = False
        if chunk:
            self._after_return = chunk.endswith(b"\r")
        *lines, self._rest = LINE_END.split(self._rest + chunk)
        events = [event for line in lines if (event := self._line(line))]
        if self._size + len(self._rest) > self._largest:
            raise ValueError(f"an event is larger than {self._largest} bytes")
        return events

    def _line(self, line: bytes) -> ServerEvent | None:
        if not line:
            return self._complete()
        self._size += len(line)
        field, _, value = line.decode().partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            self._name = value
        elif field == "data":
            self._data.append(value)
        return None

    def _complete(self) -> ServerEvent | None:
        event = ServerEvent(self._name or "message", "\n".join(self._data)) if self._data else None
        self._name, self._data, self._size = "", [], 0
        return event
