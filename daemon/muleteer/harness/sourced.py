"""What a model wrote as a tool's arguments, held against all that was said: what nobody said is left out, or
asked for.

Knows one attempt: its message, its steps, what its tools have found, and what the user told before. Which
words and numbers are the same is `provenance.py`'s business; whether a deed is ordered is `orders.py`'s.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from muleteer.engine.protocol import Message
from muleteer.harness import provenance
from muleteer.harness.language import language
from muleteer.harness.moods import asks
from muleteer.harness.phrases import Phrases
from muleteer.harness.prompts import render
from muleteer.session import LOOKED_UP
from muleteer.toolbox import Tool

# Languages whose words of time `when` does not know: what a model translates cannot be held against them.
UNKNOWN_TIMES = ("pt", "tr")

# Statements that a conversation still holds, and characters of each.
TOLD, TOLD_CHARACTERS = 4, 200

_MISSING = "?"


@dataclass(frozen=True, slots=True)
class Missing:
    """What is wrong with a call's numbers: as the model is told, and as the user is if that does not help."""

    told: str
    asked: str


def talked(history: Sequence[Message]) -> tuple[Message, ...]:
    """The history without what tools were called for: where a model only repeats the marks of that."""
    marked = {number for number, each in enumerate(history) if each.content == LOOKED_UP}
    return tuple(
        each for number, each in enumerate(history) if number not in marked and number + 1 not in marked
    )


def told_before(history: Sequence[Message]) -> tuple[str, ...]:
    """What the user told in this conversation and no tool was called for, oldest first: "we are six"."""
    answers = [*(each.content for each in history[1:]), ""]
    said = [
        each.content
        for each, answer in zip(history, answers, strict=False)  # no answer to no message
        if each.role == "user" and answer != LOOKED_UP and not asks(each.content)
    ]
    return tuple(text[:TOLD_CHARACTERS] for text in said[-TOLD:])


@dataclass(frozen=True)
class Sourced:
    """`found` gives the sentences of this attempt's tools so far; `before` is what was told before."""

    message: str
    steps: str
    found: Callable[[], Sequence[str]]
    words: Phrases
    before: Sequence[str] = ()

    def kept(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        """The arguments as the message has them, without optional ones that speak of a time which nobody has
        named."""
        if tool.settled:
            arguments = tool.settled(self.message, arguments)
        if not tool.said or language(self.message) in UNKNOWN_TIMES:
            return dict(arguments)
        said = (self.message, self.steps, *self.found())
        return {
            name: value
            for name, value in arguments.items()
            if name not in tool.said or not provenance.unsaid(value, said)
        }

    def forgotten(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        """The numbers of the message that are in none of an exact tool's arguments; None where all are."""
        left = provenance.unused(self.message, arguments) if tool.exact else []
        told = render("forgotten", value=", ".join(left))
        return Missing(told, self.words.not_done) if left else None

    def missing(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        """The numbers in its exact arguments that nobody has said; None where all were."""
        said = (self.message, self.steps, *self.found(), *self.before)
        made_up = provenance.invented(arguments, tool.exact, said)
        if not made_up:
            return None
        told = render("invented", value=", ".join(made_up))
        if self.before:
            told += " " + render("told_before", told=" ".join(f'"{each}"' for each in self.before))
        given = " ".join(str(arguments[name]) for name in tool.exact if name in arguments)
        for each in made_up:
            given = re.sub(rf"(?<![\d.,]){re.escape(each)}(?![\d]|[.,]\d)", _MISSING, given)
        return Missing(told, self.words.invented.format(given=given))
