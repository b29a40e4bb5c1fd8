"""What the harness tells a model to put it right, or beside a message, and no user may read.

Every such text is a file of `prompts`, named here, so that whatever a model repeats of it is known. Pure.
"""

from __future__ import annotations

from functools import cache

import regex

from muleteer.harness.prompts import source

NAMES = (
    "agent_retry",
    "answer_facts",
    "cut_value",
    "flat_call",
    "flat_claim",
    "flat_empty",
    "free_arguments",
    "free_call",
    "free_claim",
    "free_handles",
    "free_narrated",
    "free_plan_form",
    "free_request",
    "invented",
    "left_out",
    "long_arguments",
    "no_such_tool",
    "not_now",
    "planner_more",
    "planner_replan",
    "repeated",
    "staged_more",
    "wind_down",
)
FEWEST_WORDS = 4  # of a sentence that is told by its words; shorter ones are said by people, too
GAP = 160  # characters that a gap in a text is filled with at most: names, a fault

_SENTENCE = regex.compile(r"\([^()\n]*\)|[^.!?\n]+")  # what stands in parentheses is one
_LABEL = regex.compile(r"(error|refused): ")
_WORD = regex.compile(r"\$\w+|\w+(?:['-]\w+)*")
_PERSON = {"you": "(?:you|i|we)", "your": "(?:your|my|our)", "that": "(?:that|this|the)"}


@cache
def pattern() -> regex.Pattern[str]:
    """Any sentence of these texts, whoever is made to speak it, up to its last word."""
    sentences = [found[0].strip() for name in NAMES for found in _SENTENCE.finditer(source(name))]
    told = dict.fromkeys(filter(None, map(_told, sentences)))
    return regex.compile(rf"(?<!\w)(?:{'|'.join(told)})(?!\w)", regex.IGNORECASE)


def _told(sentence: str) -> str:
    """The pattern of one sentence; empty where it is too short to tell. A label before it may be missing."""
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
        return ""
    return before + r"\W+".join(map(_pattern, words))


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
