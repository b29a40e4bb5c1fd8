"""Whether the condition of an order holds, by what was read: code compares, since small models do not.

Pure. Knows comparisons with a number and states in one word, in English, German, Spanish and French. What it
cannot decide it says so of; it never takes a condition for met because nothing speaks against it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_POLITE = r"(?:you (?:can|could|would|please|like|don't mind)|possible|möglich|du (?:kannst|magst)|puedes)\b"
_ORDER = r"(?:then|dann|turn|switch|start|stop|mach\w*|schalt\w*|stell\w*|enciende|apaga|allume|éteins)\b"
CLAUSE = re.compile(
    rf"\b(?:if|when|unless|in case|should it|wenn|falls|sobald|si|cuando|quand)\b(?! {_POLITE})"
    rf"(?:(?<=\d)[.,](?=\d)|(?!\b{_ORDER})[^,.;!?])*",
    re.IGNORECASE,
)
"""A condition, up to the comma or the order that follows; not "if you can"."""

_LESS = (
    r"under|below|less than|(?:lower|colder|cooler|smaller|darker) than|beneath"
    r"|unter|weniger als|(?:kälter|kühler|niedriger|kleiner) als|menos de|por debajo de|moins de|sous|<"
)
_MORE = (
    r"over|above|more than|(?:higher|warmer|hotter|greater|larger) than|exceeds"
    r"|über|mehr als|(?:wärmer|heißer|höher|größer) als|más de|por encima de|plus de|au-dessus de|>"
)
_NUMBER = r"-?\d+(?:[.,]\d+)?"
_COMPARED = re.compile(rf"(?:\b|\s)(?:(?P<less>{_LESS})|{_MORE})\s*(?P<number>{_NUMBER})", re.IGNORECASE)
_NEGATION = re.compile(r"\b(?:unless|not|n't|nicht|kein\w*|no|pas)\b|n't\b", re.IGNORECASE)
_OTHER_SCALE = re.compile(r"fahrenheit|°\s*f\b", re.IGNORECASE)
_STATE = re.compile(r"\b(?:is|are|ist|sind|está|est)\s+(?P<state>[^\W\d]+)", re.IGNORECASE)


def condition(message: str) -> str:
    """The condition in a message, empty without one."""
    found = CLAUSE.search(message)
    return found[0].strip() if found else ""


def holds(clause: str, found: Sequence[str]) -> bool | None:
    """Whether a condition holds by the last sentence that was found out; None if that cannot be told."""
    if not found:
        return None
    negated, reading = bool(_NEGATION.search(clause)), found[-1]
    if compared := _COMPARED.search(clause):
        numbers = re.findall(_NUMBER, reading)
        if len(numbers) != 1 or bool(_OTHER_SCALE.search(clause)) != bool(_OTHER_SCALE.search(reading)):
            return None
        read, limit = (float(each.replace(",", ".")) for each in (numbers[0], compared["number"]))
        return (read < limit if compared["less"] else read > limit) is not negated
    state = _STATE.search(reading)
    if state is None or not re.search(rf"\b{re.escape(_flat(state['state']))}\b", _flat(clause)):
        return None
    return not negated


def _flat(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
