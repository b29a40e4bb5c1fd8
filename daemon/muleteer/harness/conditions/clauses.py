"""Where the conditions of a message stand: "if it is cold", "sollte es regnen", "hava karanlıksa".

Pure. Knows how conditions begin and end in the languages of `phrases`, by the words of `words.py`; not
whether they hold. What may be a condition is one: politeness and plain questions are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby, islice

from muleteer.harness.conditions.words import Words, every
from muleteer.harness.language import language, scores

SENTENCE = re.compile(r"(?:[^.!?;\n]|(?<=\d)\.(?=\d))+[.!?;]*")

# Of each kind in one sentence: with more than one nothing is decided, so more need not be found.
MOST = 4

_WORD = re.compile(r"\w{3,}")
_PRONOUN = re.compile(r"\W*(?:i|we|you|ich|wir|du|ihr|ik|we|wij|je|jij)\W*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Clause:
    """One condition: its place in the message, what it says behind its opener, whether the opener denies it
    ("unless"), the languages that it may be in, and whether one more stands in it."""

    start: int
    end: int
    text: str
    body: str
    denied: bool
    languages: tuple[str, ...]
    nested: bool = False


@lru_cache(maxsize=256)  # a message, its parts and its sentences are each looked at by several rules
def clauses(message: str) -> tuple[Clause, ...]:
    """The conditions of a message, in their order; none overlaps another."""
    found: list[Clause] = []
    for sentence in SENTENCE.finditer(message):
        place = 0
        for start, same in groupby(sorted(_clauses(sentence[0], message), key=_start), _start):
            clause = _likeliest(list(same), message)
            if start < place:
                inside = not set(clause.languages).isdisjoint(found[-1].languages)
                found[-1] = replace(found[-1], nested=found[-1].nested or inside)
            else:
                place = clause.end
                found.append(
                    replace(clause, start=sentence.start() + clause.start, end=sentence.start() + clause.end)
                )
    return tuple(_referred(found, message))


def _referred(found: list[Clause], message: str) -> list[Clause]:
    """Without an "if so" where that is another clause, or with the question that it is about in its place."""
    so = next((each for each in found if _refers(each.text)), None)
    if so is None:
        return found
    if len(found) > 1:
        return [each for each in found if each is not so] if found[0] is not so else found
    asked = next(filter(str.strip, reversed(SENTENCE.findall(message[: so.start]))), "")
    if not asked.rstrip().endswith("?"):
        return found
    body = asked.strip(" ?")
    start = message.index(body)
    return [replace(so, start=start, end=start + len(body), text=body, body=body)]


def _refers(text: str) -> bool:
    return any(words.refers.fullmatch(text.strip(" ,")) for words in every())


def _likeliest(same: Sequence[Clause], message: str) -> Clause:
    """Of the clauses that begin at one place the shortest one in the language that the message is in."""
    evidence = _evidence(message)
    most = max(evidence[each.languages[0]] for each in same)
    likely = [each for each in same if evidence[each.languages[0]] == most]
    first = min(likely, key=lambda each: (not each.denied, each.end))
    return replace(first, languages=tuple(each.languages[0] for each in likely))


def without(message: str) -> str:
    """The message without its conditions."""
    for clause in reversed(clauses(message)):
        message = f"{message[: clause.start]} {message[clause.end :]}"
    return message


def _clauses(sentence: str, message: str) -> Iterator[Clause]:
    for words in every():
        closed = list(_closed(sentence, words, message))
        yield from closed or _opened(sentence, words, message)
        if refer := words.refers.search(sentence):
            yield from _whether(sentence, words, refer.start())
        yield from _inverted(sentence, words)


def _opened(sentence: str, words: Words, message: str) -> Iterator[Clause]:
    for opener in islice(words.opens.finditer(sentence), MOST):
        if _is_polite(sentence, opener) or _is_another(opener[0], words, message):
            continue
        end = _end(sentence, words, opener.end())
        rest = f"{sentence[: opener.start()]} {sentence[end:]}"
        asks = words.asks.match(sentence, 0, opener.end())
        if asks and not (words.wants.search(rest) or ("?" not in rest and _WORD.search(rest))):
            continue
        yield _clause(sentence, words, opener.start(), end, opener.end(), bool(opener["unless"]))


def _whether(sentence: str, words: Words, most: int) -> Iterator[Clause]:
    """What was asked before an "if so"."""
    for opener in islice(words.whether.finditer(sentence, 0, most), MOST):
        yield _clause(sentence, words, opener.start(), _end(sentence, words, opener.end()), opener.end())


def _is_polite(sentence: str, opener: re.Match[str]) -> bool:
    """Whether what follows is a courtesy in any language that has this opener."""
    return any(
        each.polite.match(sentence, opener.end())
        for each in every()
        if each.opens.match(sentence, opener.start())
    )


def _is_another(opener: str, words: Words, message: str) -> bool:
    """Whether the word is one of another language, in which it opens nothing."""
    rivals = words.rivals.get(opener.casefold(), ())
    return (
        bool(rivals) and max(map(_evidence(message).__getitem__, rivals)) > _evidence(message)[words.language]
    )


@lru_cache(maxsize=64)  # of each sentence
def _spoken(message: str) -> str:
    """The language that the message is surely in."""
    return language(message, "")


@lru_cache(maxsize=64)
def _evidence(message: str) -> dict[str, int]:
    """How much speaks for each language: its small words, and its orders."""
    small = scores(message)
    return {each.language: small[each.language] + bool(each.orders.search(message)) for each in every()}


def _inverted(sentence: str, words: Words) -> Iterator[Clause]:
    """A condition without an opener, known by the place of its verb and by the order beside it."""
    for middle in islice(words.middle.finditer(sentence), MOST):
        if words.orders.search(sentence, 0, middle.start()):
            end = _end(sentence, words, middle.end())
            yield _clause(sentence, words, middle.start(), end, middle.start())
    verb = words.begins_comma.match(sentence)
    if verb and (comma := words.after_comma.search(sentence, verb.end())):
        yield _clause(sentence, words, verb.start("verb"), comma.start(), verb.start("verb"))
    elif (verb := words.begins.match(sentence)) and "?" not in sentence:
        end = _end(sentence, words, verb.end())
        alone = _PRONOUN.fullmatch(sentence, verb.end(), end)
        if not alone and sentence[verb.end() : end].strip() and words.orders.match(sentence, end):
            yield _clause(sentence, words, verb.start("verb"), end, verb.start("verb"))


def _closed(sentence: str, words: Words, message: str) -> Iterator[Clause]:
    """A condition that its last word makes one."""
    closes = words.loose if _spoken(message) == words.language else words.closes
    start = 0
    for closing in islice(closes.finditer(sentence), MOST):
        if words.polite.fullmatch(closing[0]):
            continue
        start = max(start, sentence.rfind(",", 0, closing.start()) + 1)
        yield _clause(sentence, words, start, closing.end(), start)
        start = closing.end()


def _end(sentence: str, words: Words, start: int) -> int:
    end = words.end.search(sentence, start)
    return end.start() if end else len(sentence.rstrip(".!?;"))


def _clause(sentence: str, words: Words, start: int, end: int, body: int, denied: bool = False) -> Clause:
    text = sentence[start:end]
    start += len(text) - len(text.lstrip())
    end = start + len(text.strip())
    return Clause(start, end, text.strip(), sentence[body:end].strip(), denied, (words.language,))


def _start(clause: Clause) -> int:
    return clause.start
