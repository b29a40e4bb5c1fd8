"""Values in an answer that a model wrote from what functions returned: each must stand in its source. Pure.

Knows numbers, dates, codes and addresses as text; a rounded number is the number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from muleteer.harness.answer import values
from muleteer.harness.clip import clipped
from muleteer.harness.guests.talk import is_deep
from muleteer.harness.scrub import plain

# Characters that can be said as they are, in place of an answer with a wrong value. What is longer is no
# answer to anybody, so an answer from it is not checked.
SAYABLE = 600

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")
_NUMBERING = re.compile(r"^\s*\d+[.)]\s", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d+")
_LEADING = re.compile(r"^0+(?=\d)")


class Values:
    """Lets an answer through sentence by sentence, up to the first with a value that is nowhere in `source`;
    then `tripped`."""

    def __init__(self, source: str) -> None:
        rounded = (f"{float(n):.{places}f}" for n in set(_NUMBER.findall(source)) for places in (0, 1, 2))
        self._source = f"{source} {' '.join(rounded)}".casefold()
        self._held = ""
        self.tripped = False

    def feed(self, text: str) -> str:
        self._held += text
        shown = ""
        while not self.tripped and (border := _SENTENCE.search(self._held)):
            shown += self._pass(border.end())
        return shown

    def finish(self) -> str:
        return "" if self.tripped else self._pass(len(self._held))

    def _pass(self, end: int) -> str:
        sentence, self._held = self._held[:end], self._held[end:]
        self.tripped = not all(map(self._known, values(_NUMBERING.sub("", sentence))))
        return "" if self.tripped else sentence

    def _known(self, value: str) -> bool:
        bare = re.escape(_LEADING.sub("", value).rstrip("%°"))
        return bool(re.search(rf"(?<!\d)0*{bare}(?!\d)", self._source))


def readable(results: Sequence[str]) -> str:
    """What functions returned, for people: JSON as its values by name, one result a line."""
    return "\n".join(filter(None, (_readable(each) for each in results)))


def shortened(result: str) -> str:
    """One result, for people, at the length that can be said."""
    return clipped(_readable(result), SAYABLE)


def _readable(result: str) -> str:
    try:
        found = json.loads(result)
    except (ValueError, RecursionError):
        found = result
    return plain(result if is_deep(found) else _spelled(found)).strip()


def _spelled(value: object) -> str:
    match value:
        case dict():
            return ", ".join(f"{key}: {_spelled(inner)}" for key, inner in value.items())
        case list():
            return "; ".join(map(_spelled, value))
        case str():
            return value
    return json.dumps(value, ensure_ascii=False)
