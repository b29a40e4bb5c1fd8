"""A free brain's words on their way to the user, while it is not yet known whether they are a reply.

The beginning is held back: a plan that was told instead of made, or a claim of a deed, shows in the first
sentences. What is longer than that is conversation, and is said as it comes, up to the first claim. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from muleteer.harness.claims import Guard
from muleteer.harness.free.handles import narrated
from muleteer.harness.scrub import Scrubber

# Characters held back: the longest narrations are two sentences. At fifty tokens a second it costs one.
HELD = 240


class Speech:
    """`say` is told what the user may see; `denied` is what is said in place of a claim."""

    def __init__(self, say: Callable[[str], None], handles: Collection[str], denied: str) -> None:
        self._say, self._handles, self._denied = say, handles, denied
        self.begun = False
        self._start()

    def _start(self) -> None:
        self._held = ""
        self._scrubber, self._guard = Scrubber(self._handles), Guard()

    def drop(self) -> None:
        """What is held is no reply: another one follows."""
        if not self.begun:
            self._start()

    def feed(self, piece: str) -> None:
        if self.begun:
            self._pass(self._scrubber.feed(piece))
            return
        self._held += piece
        if len(self._held) > HELD and not narrated(self._held, self._handles) and not self._claims():
            self.begun = True
            self._pass(self._scrubber.feed(self._held))

    def finish(self) -> None:
        """It was a reply: say what is left of it."""
        held, self._held = ("" if self.begun else self._held), ""
        self._pass(self._scrubber.feed(held) + self._scrubber.finish())
        if not self._guard.tripped:
            self._say(self._guard.finish())
        if self._guard.tripped:
            self._say(self._denied)
        self.begun = True

    def _pass(self, text: str) -> None:
        if not self._guard.tripped:
            self._say(self._guard.feed(text))

    def _claims(self) -> bool:
        guard = Guard()
        guard.feed(self._held)
        return guard.tripped
