"""What a server's reply says: prose for the user, and calls.

Calls come as data; a text that holds calls in one of the dialects is read as well, since many a server passes
on what its model wrote.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from muleteer.brains.wire import RawCall
from muleteer.engine.protocol import ToolSpec
from muleteer.harness.dialects.calls import ToolCall


class Reading:
    """One reply, text by text. `prose` is all of it that was given out."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self.prose = ""

    def feed(self, text: str) -> str:
        """What of it is certain to be prose."""
        self.prose += text
        return text

    def finish(self, calls: Sequence[RawCall]) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the prose, and every call of the reply."""
        return "", tuple(_read(call) for call in calls if call.name or call.arguments.strip())


def _read(call: RawCall) -> ToolCall:
    try:
        arguments = json.loads(call.arguments or "{}")
    except (ValueError, RecursionError) as error:
        where = f" at character {error.pos}" if isinstance(error, json.JSONDecodeError) else ""
        return ToolCall(call.name, None, f"the arguments of {call.name} are no JSON{where}", call.arguments)
    if not isinstance(arguments, dict):
        return ToolCall(call.name, None, f"the arguments of {call.name} are no JSON object", call.arguments)
    return ToolCall(call.name, arguments, written=call.arguments)
