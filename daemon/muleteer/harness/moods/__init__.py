"""What a sentence is by its words: a question, an order or a prohibition. One TOML file a language.

`asks` are first words of questions, `tells` those of statements as well, `inside` marks of a question at any
place, `be` verbs that make one of a statement with a question mark; `whether` asks for a report, unless there
is `more`. `prohibits` and `deletes` begin such orders, `not` negates at any place; `fillers` may stand before
all of them. `which` and `all` say which of several things is meant, and nothing else. Pure; what is asked or
ordered is not known here. A sentence is taken in whatever language it may be in: which one that is, is hard
to tell from three words.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files

from muleteer.harness.conditions import without
from muleteer.harness.conditions.words import every
from muleteer.harness.phrases import LANGUAGES

_SENTENCE = re.compile(r"[^.!?\n]+(?:[.!?](?=\S)[^.!?\n]*)*[.!?]*")
_MARK = re.compile(r"\?\W*$")


def asks(message: str) -> bool:
    """Whether every sentence of it is a question, or asks whether something is so."""
    sentences = _sentences(message)
    return bool(sentences) and all(map(is_question, sentences))


def forbids(message: str) -> bool:
    """Whether every sentence of it is a prohibition by its first words; one that only asks counts as none.
    A "not" of a condition forbids nothing."""
    sentences = _sentences(message)
    forbidden = [bool(_beginning("prohibits").search(without(each))) for each in sentences]
    return any(forbidden) and all(
        each or is_question(sentence) for sentence, each in zip(sentences, forbidden, strict=True)
    )


def deletes(message: str) -> bool:
    """Whether it begins as an order to delete or to stop something."""
    return bool(_beginning("deletes").search(message))


def negated(message: str) -> bool:
    """Whether anything in it is said with a not."""
    return bool(_anywhere("not").search(_plain(message)))


def chosen(message: str) -> str:
    """Which one of several is named, where a message does nothing else: "pasta" for "the pasta one", `all`
    for all of them; empty for any other."""
    plain = _plain(message).strip(" ,.!")
    if _whole("all").fullmatch(plain):
        return "all"
    found = _whole("which").fullmatch(plain)
    return next(filter(None, found.groups()), "") if found else ""


@lru_cache(maxsize=256)  # every line of a menu looks at the same message
def is_question(sentence: str) -> bool:
    """Whether one sentence only asks. What it asks under a condition is no order either."""
    plain = _plain(sentence)
    for language, lists in _lists().items():
        if found := _whether(language).search(plain):
            return not re.search(rf"[,;]|\b(?:{_any(lists['more'])})\b", plain[found.end() :], re.IGNORECASE)
    rest = without(plain)
    if any(words.after_comma.search(rest) for words in every()):
        return False
    if _beginning("asks").search(rest) or _inside().search(rest):
        return True
    if _beginning("tells").search(rest):
        return not any(words.orders.search(rest) for words in every())
    return bool(_MARK.search(rest)) and _is_marked(rest)


def _is_marked(sentence: str) -> bool:
    """Whether it is one by its question mark and a verb, and asks for no deed."""
    if any(words.wants.search(sentence) for words in every()):
        return False
    verb = any(words.begins_comma.match(sentence) for words in every())
    return verb or bool(_anywhere("be").search(sentence))


def _sentences(message: str) -> list[str]:
    return [each for each in _SENTENCE.findall(_plain(message)) if re.search(r"\w", each)]


def _plain(text: str) -> str:
    return text.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")


@cache
def _lists() -> Mapping[str, Mapping[str, Sequence[str]]]:
    return {
        each: tomllib.loads(files(__name__).joinpath(f"{each}.toml").read_text(encoding="utf-8"))
        for each in LANGUAGES
    }


@cache
def _beginning(key: str) -> re.Pattern[str]:
    """One of the patterns at the beginning of a sentence, in any language."""
    fillers = _any([each for lists in _lists().values() for each in lists["fillers"]])
    return re.compile(rf"^\W*(?:(?:{fillers})[\s,]+){{0,8}}(?:{_all(key)})(?:(?<=\W)|(?!\w))", re.IGNORECASE)


@cache
def _anywhere(key: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{_all(key)})(?!\w)", re.IGNORECASE)


@cache
def _inside() -> re.Pattern[str]:
    return re.compile(_all("inside"), re.IGNORECASE)


@cache
def _whole(key: str) -> re.Pattern[str]:
    """One of the patterns and nothing else but fillers around it; `$n` are a few words."""
    fillers = _any([each for lists in _lists().values() for each in lists["fillers"]])
    pattern = _all(key).replace("$n", r"(\w[\w:' -]{0,40}?)")
    return re.compile(rf"(?:(?:{fillers})[\s,]+){{0,8}}(?:{pattern})(?:[\s,]+(?:{fillers}))?", re.IGNORECASE)


@cache
def _whether(language: str) -> re.Pattern[str]:
    lists = _lists()[language]
    fillers = _any(lists["fillers"])
    return re.compile(rf"^\W*(?:(?:{fillers})[\s,]+){{0,8}}(?:{_any(lists['whether'])})(?!\w)", re.IGNORECASE)


def _all(key: str) -> str:
    return _any([each for lists in _lists().values() for each in lists[key]])


def _any(patterns: Sequence[str]) -> str:
    """One pattern; what never matches for none."""
    return "|".join(f"(?:{each})" for each in patterns) or r"(?!)"
