"""The words of conditions, one TOML file a language: data of `clauses.py` and `comparing.py`, nothing else.

`when` and `unless` open a condition, and `asking` ones of them open questions as well; `beginning` are verbs
that open one at the head of a sentence ("should it be cold, ..."), `beginning_comma` those that do so only
where an order follows behind a comma, `middle` behind an order; `closing` and `loose` are words that end one,
`loose` in a message of this language alone. `polite` is what follows an opener without a condition. `then`,
`request` and `order` begin what is to be done. `refers` points back to what was asked ("if so"), `whether`
opens that. `rivals`: languages in which an opener is another word. `less`, `more`, `least` and `most` compare
with a number, `$n`; `not` negates, `joined` joins two conditions; `state` is how a tool tells a state, `$s`,
and `be` what may stand behind a state in a clause.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from muleteer.harness.phrases import LANGUAGES

NUMBER = r"(?:-|\b(?:minus|moins|meno|menos|min|eksi) )?\d+(?:[.,]\d+)?"

_STATE = r"(?P<state>[^\W\d]+)"

# What may stand before the first word of a sentence, in any language.
_LEAD = (
    r"^\W*(?:(?:hey|hi|hello|hallo|hola|ciao|ok(?:ay)?|please|bitte|and|but|und|aber|also|y|et|e|en|ve"
    r"|por favor|per favore|lütfen)\b\W*){0,8}"
)
_BREAK = r"(?<!\d)[,:]|[,:](?!\d)|[;!?\n]|\s[-\N{EN DASH}\N{EM DASH}]\s"


@dataclass(frozen=True, slots=True)
class Words:
    """One language, as compiled patterns. `end` is what a clause ends at, `orders` what begins an
    order, `wants` a polite one as well."""

    language: str
    opens: re.Pattern[str]
    asks: re.Pattern[str]
    polite: re.Pattern[str]
    begins: re.Pattern[str]
    begins_comma: re.Pattern[str]
    middle: re.Pattern[str]
    closes: re.Pattern[str]
    loose: re.Pattern[str]
    end: re.Pattern[str]
    orders: re.Pattern[str]
    wants: re.Pattern[str]
    after_comma: re.Pattern[str]
    refers: re.Pattern[str]
    whether: re.Pattern[str]
    rivals: Mapping[str, Sequence[str]]
    relations: Mapping[str, Sequence[re.Pattern[str]]]
    negates: re.Pattern[str]
    joins: re.Pattern[str]
    states: Sequence[re.Pattern[str]]
    be: str

    def ends_in(self, state: str, body: str) -> bool:
        """Whether a clause, without accents, ends in a state: "the lamp is on", not "the lamp on the wall is
        off"."""
        return bool(re.search(rf"\b{re.escape(state)}(?:{self.be})?\W*$", body))


@cache
def every() -> tuple[Words, ...]:
    """All languages, in the order of `LANGUAGES`."""
    return tuple(map(_words, LANGUAGES))


def _words(language: str) -> Words:
    lists = tomllib.loads(files(__name__.rpartition(".")[0]).joinpath(f"{language}.toml").read_text("utf-8"))
    then, request, order, refers = (_any(lists[each]) for each in ("then", "request", "order", "refers"))
    return Words(
        language,
        _compiled(rf"\b(?:(?P<unless>{_any(lists['unless'])})|{_any(lists['when'])})(?:(?<=\W)|(?!\w))"),
        _compiled(rf"{_LEAD}(?:{_any(lists['asking'])})(?!\w)"),
        _compiled(rf"\W*(?:{_any(lists['polite'])})(?!\w)"),
        _compiled(rf"{_LEAD}(?P<verb>{_any(lists['beginning'])})\b"),
        _compiled(rf"{_LEAD}(?P<verb>{_any([*lists['beginning'], *lists['beginning_comma']])})\b"),
        _compiled(rf"\b(?:{_any(lists['middle'])})(?!\w)"),
        _compiled(rf"\b(?:{_any(lists['closing'])})(?!\w)"),
        _compiled(rf"\b(?:{_any([*lists['closing'], *lists['loose']])})(?!\w)"),
        _compiled(rf"{_BREAK}|\b(?:{then}|{request}|{order}|{refers})(?!\w)"),
        _compiled(rf"\b(?:{order})(?!\w)"),
        _compiled(rf"\b(?:{request}|{order})(?!\w)"),
        _compiled(rf",\s*(?:{then}\b|(?:(?:{request})\s+)?(?:{order})(?!\w))"),
        _compiled(rf"\b(?:{refers})(?!\w)"),
        _compiled(rf"\b(?:{_any(lists['whether'])})(?!\w)"),
        lists.get("rivals", {}),
        {each: _numbered(lists[each]) for each in ("less", "more", "least", "most")},
        _compiled(rf"\b(?:{_any(lists['not'])})(?!\w)"),
        _compiled(rf"\b(?:{_any(lists['joined'])})(?!\w)"),
        [_compiled(rf"(?:\b|(?=:)){each.replace('$s', _STATE)}") for each in lists["state"]],
        _any(lists["be"]),
    )


def _numbered(patterns: Sequence[str]) -> list[re.Pattern[str]]:
    return [_compiled(each.replace("$n", f"(?P<number>{NUMBER})")) for each in patterns]


def _any(patterns: Sequence[str]) -> str:
    """One pattern; what never matches for none."""
    return "|".join(f"(?:{each})" for each in patterns) or r"(?!)"


def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
