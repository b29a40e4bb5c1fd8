"""Takes tool calls and corrective texts out of a stream that goes to a user. Pure.

Each class is a stage: chunks in, what may be shown out, and the same whatever the chunks were. What might
become something hidden is held back; nothing else is.
"""

from __future__ import annotations

from collections.abc import Collection

import regex

from muleteer.harness import correctives
from muleteer.harness.dialects import shapes
from muleteer.harness.dialects.lenient import Fault
from muleteer.harness.dialects.marks import CALL, FENCE, forming
from muleteer.harness.sameness import form

# Characters of one call that are waited for; a longer one is judged by how it begins.
LONGEST_CALL = 8000

SURPLUS = "}]>;"  # what models write behind a call, without a need for it

ENDS = ".!?:;,) \n"  # what is left of a sentence that is hidden

_NAME = regex.compile(r"""["'](?:name|function|tool)["']\s*:\s*["']""")
_GIVEN = regex.compile(r"""["'](?:arguments|parameters)["']\s*:""")
_KEYS = regex.compile(r"""["'](\w+)["']\s*:""")
_PYTHON = regex.compile(r"\[\s*([A-Za-z_]\w*)\s*\(")
_SAFE = regex.compile(r"[\w.-]+")


class Calls:
    """Hides calls as objects in JSON, whatever they name, and as Python lists of these `names`; a fence that
    has nothing else goes with them. Other JSON is shown when it is complete."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = {form(name) for name in names}
        self._held = self._after = ""

    def feed(self, chunk: str) -> str:
        self._held += chunk
        return self._advance(ended=False)

    def finish(self) -> str:
        return self._advance(ended=True)

    def _advance(self, ended: bool) -> str:
        shown = ""
        while True:
            if self._after:
                self._held = self._held.lstrip(SURPLUS)
                behind = self._held.lstrip()
                if self._after == FENCE and behind.startswith(FENCE):
                    self._held = behind[len(FENCE) :]
                elif not ended and (not self._held or (self._after == FENCE and FENCE.startswith(behind))):
                    return shown
                self._after = ""
            found = CALL.search(self._held, partial=True)
            start = found.start() if found else len(self._held)
            shown, self._held = shown + self._held[:start], self._held[start:]
            if found is None or found.partial:
                if ended:
                    shown, self._held = shown + ("" if forming(self._held) else self._held), ""
                return shown
            length = self._length(found.group(), ended or len(self._held) > LONGEST_CALL)
            if length is None:
                return shown
            if length:
                self._after = FENCE if found.group().startswith(FENCE) else "bare"
            else:
                shown += self._held[0]
            self._held = self._held[length or 1 :]

    def _length(self, beginning: str, ended: bool) -> int | None:
        """Characters of the call that is held; 0 if it is none, None if that cannot be told yet."""
        held, at = self._held, 0
        if beginning.endswith(FENCE):
            return len(beginning)
        if beginning.startswith(FENCE):
            at = min(i for i in (beginning.find("{"), beginning.find("[")) if i >= 0)
        listed = _PYTHON.match(held, at)
        if listed and form(listed[1]) not in self._names:
            return 0
        try:
            read = shapes.read(held, at, ())
        except Fault as fault:
            return self._broken(fault, ended)
        if not read.complete and not ended:
            return None
        named = all(_SAFE.fullmatch(call.name) for call in read.calls)
        return read.end if read.exact and named else 0

    def _broken(self, fault: Fault, ended: bool) -> int | None:
        """The same for a text that cannot be read as a call, as far as it goes."""
        line = self._held.find("\n", fault.at)
        if not ended and line < 0:
            return None
        end = line if line >= 0 else len(self._held)
        likely = bool(_NAME.search(self._held, 0, end) and _GIVEN.search(self._held, 0, end))
        if fault.at >= len(self._held):  # it is cut, and may have been to say more
            likely = (
                likely
                or bool(_GIVEN.search(self._held))
                or shapes.AROUND.issuperset(_KEYS.findall(self._held))
            )
        return end if likely or _PYTHON.match(self._held) else 0


class Told:
    """Hides what is said to models only (`correctives.NAMES`)."""

    def __init__(self) -> None:
        self._held = self._before = ""
        self._after = False

    def feed(self, chunk: str) -> str:
        self._held += chunk
        return self._advance(ended=False)

    def finish(self) -> str:
        return self._advance(ended=True)

    def _advance(self, ended: bool) -> str:
        shown = ""
        while True:
            if self._after:
                self._held = self._held.lstrip(ENDS)
                self._after = not self._held
            text = self._before + self._held
            found = correctives.pattern().search(text, len(self._before), partial=True)
            start = (found.start() if found else len(text)) - len(self._before)
            open_ended = found is not None and (found.partial or (found.end() == len(text) and not ended))
            if found and found.partial and ended and not correctives.beginning().match(text, found.start()):
                start = len(self._held)
            shown += self._held[:start]
            self._before = self._held[:start][-1:] or self._before
            self._held = self._held[start:]
            if found is None or open_ended:
                if ended:
                    self._held = ""
                return shown
            self._held, self._after = self._held[found.end() - found.start() :], True
