"""What a server's reply says: prose for the user, and calls.

Calls come as data; where there are none, a text that holds calls in one of the dialects is read, since many a
server passes on what its model wrote. Thoughts between tags are neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.brains.wire import RawCall
from muleteer.engine.protocol import ToolSpec
from muleteer.engine.stream import Visible
from muleteer.harness.dialects import shapes
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dialects.reader import Reader


class Reading:
    """One reply, text by text. `prose` is all of it that was given out."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        self._reader, self._visible = Reader(tools), Visible()
        self.prose = ""

    def feed(self, text: str) -> str:
        """What of it is certain to be prose."""
        prose = self._reader.feed(self._visible.feed(text.encode(errors="replace")))
        self.prose += prose
        return prose

    def finish(self, calls: Sequence[RawCall], cut: bool) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the prose, and every call of the reply; `cut` where a limit ended it."""
        rest = self._reader.feed(self._visible.finish(cut))
        more, told = self._reader.finish(cut)
        rest += more
        self.prose += rest
        made = tuple(
            shapes.arguments(call.name, call.arguments.strip() or "{}", cut)
            for call in calls
            if call.name or call.arguments.strip()
        )
        return rest, made or told
