"""A note is what the user said: where a model has put other words into it, the message takes their place.

Knows one message and what was said around it. A small model translates half of what it should copy, or adds
whom a sentence is about; what is kept for years must not be its guess. A tool says which of its parameters
are the user's own words (`words` of `@tool`), and drops itself what of the message is only the order.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from muleteer.harness.sourced import Missing, Sourced
from muleteer.toolbox import Tool

STEM = 4  # letters that the forms of a word have in common; a shorter word may be any
_WORD = re.compile(r"[^\W_]{4,}")


@dataclass(frozen=True)
class Verbatim:
    """`inner`, and the message in place of words that nobody said; `said` gives all that was."""

    inner: Sourced
    said: Callable[[], Sequence[str]]

    def kept(self, tool: Tool, arguments: Mapping[str, object]) -> dict[str, object]:
        kept = self.inner.kept(tool, arguments)
        for name in tool.words:
            if name in kept and not _within(str(kept[name]), self.said()):
                kept[name] = self.inner.message
        return kept

    def missing(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        return self.inner.missing(tool, arguments)

    def forgotten(self, tool: Tool, arguments: Mapping[str, object]) -> Missing | None:
        return self.inner.forgotten(tool, arguments)


def _within(text: str, sources: Sequence[str]) -> bool:
    """Whether every word of a text, but for the short ones, stands in one of the sources in some form."""
    return _stems(text) <= set[str]().union(*map(_stems, sources))


def _stems(text: str) -> set[str]:
    flat = unicodedata.normalize("NFKD", text.casefold())
    return {word[:STEM] for word in _WORD.findall("".join(c for c in flat if not unicodedata.combining(c)))}
