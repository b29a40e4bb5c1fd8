"""Sentences that keep what they were made of, so that they can be said in another language.

    say("The {thing} is {state} now.", thing="lamp", state=say("on"))    # reads "The lamp is on now."

To everyone who knows nothing of it a sentence is an English text. The English pattern is also the key under
which a table has the other language's; what no table has stays as it is, and so does all that is not a
sentence: names, notes, what a device says. Knows no table.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Sentence(str):
    """`pattern` with `values` in its gaps; values that are sentences are said in the other language, too."""

    pattern: str
    values: Mapping[str, object]

    def __new__(cls, pattern: str, values: Mapping[str, object]) -> Sentence:
        made = super().__new__(cls, pattern.format(**values))
        made.pattern, made.values = pattern, values
        return made

    def __reduce__(self) -> tuple[type[Sentence], tuple[str, Mapping[str, object]]]:
        """What a copy is made from."""
        return type(self), (self.pattern, self.values)


class Opening(Sentence):
    """What a sentence begins with: its first letter is a capital in every language."""

    def __new__(cls, pattern: str, values: Mapping[str, object]) -> Opening:
        made = str.__new__(cls, _capital(pattern.format(**values)))
        made.pattern, made.values = pattern, values
        return made


class Figure(Sentence):
    """A number in plain digits, with a decimal point where it is English."""


def say(pattern: str, /, **values: object) -> Sentence:
    """A sentence; `pattern` as for `str.format`."""
    return Sentence(pattern, values)


def figure(digits: str) -> Figure:
    """A number as part of a sentence."""
    return Figure("{digits}", {"digits": digits})


def opening(text: str) -> Opening:
    """A text as the beginning of a sentence."""
    return Opening("{text}", {"text": text})


def joined(between: str, parts: Iterable[str]) -> Sentence:
    """Several sentences as one; empty ones are left out."""
    values = {f"p{number}": part for number, part in enumerate(filter(None, parts))}
    return Sentence(between.join(f"{{{name}}}" for name in values), values)


def translated(text: str, table: Mapping[str, str]) -> str:
    """The text by a table of patterns, as far as that knows it. `","` in it is what takes the place of a
    decimal point."""
    if isinstance(text, Figure):
        return str(text).replace(".", table.get(",", "."))
    if not isinstance(text, Sentence):
        return text
    values: dict[str, Any] = {
        name: translated(value, table) if isinstance(value, str) else value
        for name, value in text.values.items()
    }
    said = table.get(text.pattern, text.pattern).format(**values)
    return _capital(said) if isinstance(text, Opening) else said


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
