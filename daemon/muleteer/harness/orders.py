"""Whether a message orders a deed, as far as words can tell: what stands between a small model and a switch.

Pure. A rule here can only forbid, and what it forbids is said, so that the user can say it in other words.
Which sentences ask or negate is `moods`' knowledge; the rest is left to plans and permissions.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

from muleteer.harness.conditions import SENTENCE, clauses, holds, without
from muleteer.harness.moods import is_question, negated
from muleteer.harness.phrases import ENGLISH, Phrases
from muleteer.toolbox import Tool

_WORD = re.compile(r"\w{3,}")


def orders(message: str) -> bool:
    """Whether a sentence of it can be an order: none that negates, and none that only asks."""
    return any(_orders(sentence) for sentence in SENTENCE.findall(message))


def refusal(
    tool: Tool,
    arguments: Mapping[str, object],
    message: str,
    steps: str,
    found: Sequence[str] = (),
    words: Phrases = ENGLISH,
) -> str:
    """Why a physical tool may not be called with arguments that a model wrote; empty when it may. It must be
    ordered, its condition met by what was `found` out, and what it acts on named by the message or by the
    skill's `steps`."""
    if tool.effect != "physical":
        return ""
    if not orders(message):
        return words.no_order
    if conditions := clauses(message):
        clause = ", ".join(each.text for each in conditions)
        met = holds(conditions[0], found) if len(conditions) == 1 else None
        if met is None:
            return words.undecided.format(clause=clause)
        if not met:
            return words.unmet.format(clause=clause)
    named = _words(f"{message} {steps}")
    properties = tool.parameters.get("properties", {})
    for key, value in arguments.items():
        free = isinstance(value, str) and "enum" not in properties.get(key, {})
        if free and (said := _words(str(value))) and not said & named:
            return words.not_named.format(value=value)
    return ""


def _orders(sentence: str) -> bool:
    rest = without(sentence)
    return bool(_WORD.search(rest)) and not (is_question(sentence) or negated(rest))


def _words(text: str) -> set[str]:
    """Words without accents and case, cut to what inflection leaves alone."""
    flat = unicodedata.normalize("NFKD", text.replace("_", " ").replace("-", " ")).casefold()
    return {word[:5] for word in _WORD.findall("".join(c for c in flat if not unicodedata.combining(c)))}
