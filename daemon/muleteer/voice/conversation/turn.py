"""A turn as far as it has come, by its events (`harness/events.py`). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from muleteer.voice.conversation.manners import Cutter


@dataclass(slots=True)
class Turn:
    """Until it has `acted`, what led to it may still go on. `asked`, once it is `over`: the turn that waits
    for a yes or no, and its question."""

    cutter: Cutter
    acted: bool = False
    answered: bool = False
    over: bool = False
    asked: tuple[str, str] | None = None

    def told(self, name: str, fields: Mapping[str, object]) -> list[str]:
        """The sentences that an event has made whole."""
        if name == "text":
            return self.cutter.feed(str(fields.get("text", "")))
        if name == "call.started":
            self.acted = True
        self.over = name in ("confirm", "turn.finished")
        if name == "confirm":
            self.asked = str(fields.get("turn", "")), str(fields.get("question", ""))
            return [self.cutter.rest(), self.asked[1]]
        return [self.cutter.rest()] if self.over else []
