"""What a reply asked for: tool calls, read from text or handed over by a server.

Data and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call. `arguments` are what the model wrote, not yet checked against a schema; they are None if they
    could not be read, and then `fault` is the sentence that says why and where. A call with a fault is never
    run. `written` is the call as it stood in the text, for showing it to the model again. `closed`: the text
    ended within a value, which was taken as it stood; enough for looking something up, not for a deed."""

    name: str
    arguments: dict[str, object] | None
    fault: str = ""
    written: str = ""
    closed: bool = False
