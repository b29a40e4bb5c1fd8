"""What the harness tells a model to put it right, or beside a message, and no user may read.

Every such text is a file of `prompts`, named here, or the mark that stands in a history for what a tool said,
so that whatever a model repeats of it is known. Pure.
"""

from __future__ import annotations

from functools import cache

import regex

from muleteer.harness.prompts import source
from muleteer.session import LOOKED_UP

NAMES = (
    "agent_retry",
    "answer_facts",
    "cut_value",
    "flat_call",
    "flat_claim",
    "flat_empty",
    "forgotten",
    "free_arguments",
    "free_call",
    "free_claim",
    "free_handles",
    "free_narrated",
    "free_plan_form",
    "free_request",
    "guest_results",
    "invented",
    "left_out",
    "long_arguments",
    "no_such_tool",
    "not_now",
    "planner_more",
    "planner_replan",
    "repeated",
    "staged_results",
    "told_before",
    "wind_down",
)
FEWEST_WORDS = 4  # of a sentence that is told by its words; shorter ones are said by people, too
FIRST_WORDS = 5  # of one that is cut off; "Use what you have" is not enough
GAP = 160  # characters that a gap in a text is filled with at most: names, a fault

_SENTENCE = regex.compile(r"\([^()\n]*\)|[^.!?\n]+")  # what stands in parentheses is one
_LABEL = regex.compile(r"(error|refused): ")
_WORD = regex.compile(r"\$\w+|\w+(?:['-]\w+)*")
_PERSON = {"you": "(?:you|i|we)", "your": "(?:your|my|our)", "that": "(?:that|this|the)"}


@cache
def pattern() -> regex.Pattern[str]:
    """Any sentence of these texts, whoever is made to speak it, up to its last word."""
    return regex.compile(rf"(?<!\w)(?:{_any(_sentences())})(?!\w)", regex.IGNORECASE)


@cache
def beginning() -> regex.Pattern[str]:
    """The first words of any of them, as many as it takes to tell one."""
    told = [words[:FIRST_WORDS] for words in _sentences() if len(words) >= FIRST_WORDS]
    plain = [words for words in told if _pattern("$") not in words]
    return regex.compile(_any(plain), regex.IGNORECASE)


def _any(sentences: list[list[str]]) -> str:
    return "|".join(r"\W+".join(words) for words in sentences)


@cache
def _sentences() -> list[list[str]]:
    """The patterns of the words of each sentence that can be told by them."""
    texts = (LOOKED_UP, *map(source, NAMES))
    sentences = [found[0].strip() for text in texts for found in _SENTENCE.finditer(text)]
    return [words for sentence in sentences if (words := _told(sentence))]


def _told(sentence: str) -> list[str]:
    """The patterns of its words; none where it is too short to tell. A label before it may be missing."""
    label = _LABEL.match(sentence)
    rest = sentence[label.end() :] if label else sentence
    words = _words(rest)
    if label and (rest.startswith("$") or len(words) < FEWEST_WORDS):
        before = rf"{label[1]}: " + (_pattern("$") if rest.startswith("$") else "")
    elif len(words) >= FEWEST_WORDS:
        before = rf"(?:{label[1]}: )?" if label else r"\(?"
    elif sentence.startswith("(") and len(words) > 1:
        before = r"\("
    else:
        return []
    first, *others = map(_pattern, words)
    return [before + first, *others]


def _words(text: str) -> list[str]:
    """Words and gaps, without the gaps at either end."""
    words: list[str] = _WORD.findall(text)
    while words and words[-1].startswith("$"):
        words.pop()
    while words and words[0].startswith("$"):
        words.pop(0)
    return words


def _pattern(word: str) -> str:
    if word.startswith("$"):
        return rf"[^\n]{{0,{GAP}}}?"
    return _PERSON.get(word.casefold(), regex.escape(word))
