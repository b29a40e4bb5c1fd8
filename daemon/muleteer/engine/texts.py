"""Patterns and formats of strings, narrowed so that every reader of the text agrees.

Knows the dialects of regular expressions that disagree (JSON Schema's own, Python's, Rust's); nothing of
schemas.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from re import _parser  # type: ignore[attr-defined]  # the one parser of this dialect; it has no public name
from typing import Any

# What \d, \w and \s stand for differs: the least and the most that any of the three dialects takes. Within a
# negated class the most makes the least.
LEAST = {"d": "[0-9]", "w": "[0-9A-Za-z_]", "s": r"[ \t\n\r\f\v]"}
MOST = {
    "d": r"\p{Nd}",
    "w": r"[\p{Alphabetic}\p{M}\p{N}\p{Pc}]",
    "s": r"[\p{White_Space}\x1c-\x1f\x{feff}]",
}
PIECES = re.compile(r"\\.|\[\^?\]?|\]|[^\\\[\]]+", re.DOTALL)
# JSON in this style has no spelling for other control characters; without this a text could not go on.
WRITABLE = r"^[^\x00-\x07\x0b\x0e-\x1f\x7f]*$"
UNWRITABLE = re.compile(r"[\x00-\x07\x0b\x0e-\x1f\x7f]")

_YEAR = r"(?:[0-9]{3}[1-9]|[0-9]{2}[1-9]0|[0-9][1-9]00|[1-9]000)"
_LEAP = r"(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:0[48]|[2468][048]|[13579][26])00)"
_DATE = (
    rf"(?:{_YEAR}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    rf"|02-(?:0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
)
_CLOCK = r"(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_TIME = rf"{_CLOCK}:[0-5][0-9](?:\.[0-9]{{1,6}})?(?:Z|[+-]{_CLOCK})"
_MARK = r"(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})"
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_PORT = r"(?:[1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
_HOST = rf"{_LABEL}(?:\.{_LABEL}){{0,9}}(?::{_PORT})?"
# llguidance's own allow the 29th of February in every year, second 60, the year 0 and empty hosts.
FORMATS = {
    "date": rf"^{_DATE}$",
    "time": rf"^{_TIME}$",
    "date-time": rf"^{_DATE}T{_TIME}$",
    "uri": (
        rf"^[A-Za-z][A-Za-z0-9+.-]*:(?://{_HOST}(?:/{_MARK}*)*|{_MARK}+(?:/{_MARK}*)*)"
        rf"(?:\?(?:{_MARK}|[/?])*)?(?:#(?:{_MARK}|[/?])*)?$"
    ),
}


# llguidance counts the length of a text in each state of its pattern, and gives up in the middle of a text
# when that makes too many. Of 478 patterns with up to ten loops none did at loops * loops * length = 1600, of
# 242 three did at 3200.
LOOPS_ROOM = 1200


def longest_text(pattern: str, limit: int) -> int:
    """How long (characters) a text of this pattern may become so that the decoder does not give up, at most
    `limit`. A shorter limit leads only to texts that keep the longer one, too."""
    try:
        loops = _loops(_parser.parse(pattern))
    except (re.error, RecursionError, OverflowError):  # a dialect of its own
        loops = pattern.count("*") + pattern.count("+")
    return limit if loops < 2 else min(limit, max(1, LOOPS_ROOM // loops**2))


def _loops(parsed: Iterable[tuple[object, Any]]) -> int:
    """Repeats without an end, each as often as what it stands in is repeated."""
    total = 0
    for kind, given in parsed:
        if kind in (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT):
            least, most, inner = given
            endless = most == _parser.MAXREPEAT
            total += endless + _loops(inner) * (max(1, least) if endless else int(most))
        elif kind in (_parser.SUBPATTERN, _parser.ATOMIC_GROUP):
            total += _loops(given[-1] if kind is _parser.SUBPATTERN else given)
        elif kind is _parser.BRANCH:
            total += sum(_loops(each) for each in given[1])
    return total


def narrowed(pattern: str) -> str:
    """The pattern in Rust's dialect, matching no text that another dialect would not match. Raises
    `ValueError` for one that the dialects read as different things."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            re.compile(pattern)
        except FutureWarning as warning:
            raise ValueError(f"dialects disagree about it ({warning})") from warning
        except re.error:
            pass  # Rust's dialect has more, and llguidance has the last word
    parts, opened = [], ""
    for piece in PIECES.findall(pattern):
        if piece.startswith("["):
            if opened:
                raise ValueError("dialects disagree about a [ within [...]; write \\[")
            opened = piece
        elif piece.startswith("]"):
            opened = ""
        parts.append(_class(piece, within=opened) if piece.startswith("\\") else piece)
    return "".join(parts)


def _class(piece: str, within: str) -> str:
    """An escape, or the class it stands for, negated if that is what a capital letter means."""
    kind, negative = piece[1], within.startswith("[^")
    if kind.lower() not in LEAST:
        return piece
    few, many = (MOST, LEAST) if negative else (LEAST, MOST)
    return few[kind] if kind in few else f"[^{many[kind.lower()]}]"
