"""Whether the condition of an order holds, by what was read: code compares, since small models do not.

Pure. Knows comparisons with a number and states in one word. What it cannot decide it says so of; it never
takes a condition for met because nothing speaks against it.
"""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from muleteer.harness.conditions.clauses import Clause
from muleteer.harness.conditions.words import NUMBER as DIGITS
from muleteer.harness.conditions.words import Words, every
from muleteer.when.words import NUMBER

_RELATIONS: Mapping[str, Callable[[float, float], bool]] = {
    "less": operator.lt,
    "more": operator.gt,
    "least": operator.ge,
    "most": operator.le,
}
_NUMBERS = re.compile(DIGITS, re.IGNORECASE)
_TENS = "twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_WORDS = re.compile(rf"\b(?:{_TENS})[ -][^\W\d]+|[^\W\d]+", re.IGNORECASE)
_OTHER_SCALE = re.compile(r"fahrenheit|°\s*f\b", re.IGNORECASE)


def holds(clause: Clause, found: Sequence[str]) -> bool | None:
    """Whether a condition holds by the last sentence that was found out; None if that cannot be told, or if
    the languages that it may be in do not agree."""
    if not found or clause.nested:
        return None
    results = {_holds(clause, found[-1], words) for words in every() if words.language in clause.languages}
    return results.pop() if len(results) == 1 else None


def _holds(clause: Clause, reading: str, words: Words) -> bool | None:
    body = _in_digits(clause.body)
    met = (_compared if _NUMBERS.search(body) else _stated)(body, reading, words)
    if met is None:
        return None
    negated = bool(words.negates.search(clause.body)) is not clause.denied
    return met is not negated


def _compared(body: str, reading: str, words: Words) -> bool | None:
    """By the one number of each."""
    found = {
        name: match
        for name, patterns in words.relations.items()
        for pattern in patterns
        if (match := pattern.search(body))
    }
    read, said = _NUMBERS.findall(reading), _NUMBERS.findall(body)
    if len(found) != 1 or len(read) != 1 or len(said) != 1:
        return None
    if bool(_OTHER_SCALE.search(body)) != bool(_OTHER_SCALE.search(reading)):
        return None
    ((name, match),) = found.items()
    if words.joins.search(body[: match.start()]) or words.joins.search(body[match.end() :]):
        return None
    return _RELATIONS[name](_value(read[0]), _value(match["number"]))


def _stated(body: str, reading: str, words: Words) -> bool | None:
    """True where the state that was read stands at the end of the clause."""
    if words.joins.search(body):
        return None
    read = [match["state"] for each in every() for one in each.states if (match := one.search(reading))]
    return True if any(words.ends_in(_flat(state), _flat(body)) for state in read) else None


def _in_digits(body: str) -> str:
    """With digits for a number in words, as a recogniser of speech may write it."""
    return body if re.search(r"\d", body) else _WORDS.sub(_digits, body)


def _digits(words: re.Match[str]) -> str:
    """Of two words the number that both are, or each by itself; "one" is an article too often."""
    said = _flat(words[0]).replace("-", " ")
    if NUMBER.get(said, 0) > 1:
        return str(NUMBER[said])
    parts = [(part, NUMBER.get(_flat(part), 0)) for part in words[0].split(" ")]
    return " ".join(str(number) if number > 1 else part for part, number in parts)


def _value(number: str) -> float:
    sign = -1 if re.match(r"\D", number) else 1
    return sign * float(re.sub(r"^\D+", "", number).replace(",", "."))


def _flat(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if not unicodedata.combining(c))
