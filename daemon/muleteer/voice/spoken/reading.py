"""One text in one language, as it is read out. Pure.

Rules take turns, the most particular first; what one has put into words no other looks at. In the end nothing
is left but letters and the marks that a voice makes something of.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

from muleteer.voice.spoken.markup import CODE, Blocks, lines
from muleteer.voice.spoken.numbers import Numbers
from muleteer.voice.spoken.times import Times
from muleteer.voice.spoken.units import Units
from muleteer.voice.spoken.words import Words, words

LONGEST = 20_000  # characters; nobody listens to more, and what comes after is not read
_URL = r"(?:https?://|ftp://|www\.)[^\s<>\"'()]+[^\s<>\"'().,;:!?]"
_MAIL = r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
_ZONE = r"\s?\((?:Africa|America|Antarctica|Asia|Atlantic|Australia|Europe|Indian|Pacific)/[\w/+-]+\)"
_KEPT = frozenset(".,;:!?'-")
_ALIKE = str.maketrans(
    {
        "\N{EN DASH}": "-", "\N{EM DASH}": "-", "\N{NON-BREAKING HYPHEN}": "-", "\N{MINUS SIGN}": "-",
        "\N{MULTIPLICATION SIGN}": "*", "\N{MIDDLE DOT}": "*", "\N{DIVISION SIGN}": "/",
        "\N{HORIZONTAL ELLIPSIS}": ".", "\N{ALMOST EQUAL TO}": "~",
        "\N{LEFT SINGLE QUOTATION MARK}": "'", "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "½": "1/2", "¼": "1/4", "¾": "3/4",
    }
)  # fmt: skip
_LOOSE = re.compile(r"\s+([.,;:!?])")
_DOUBLE = re.compile(r"([.,;:!?])(?:\s*[,;:])+")
_SUFFIX = re.compile(r"(?<=[^\W\d_])  ?'(?=[^\W\d_])")  # of a number that is in words now, as in Turkish
_START = re.compile(r"^[\s.,;:!?'-]+")

Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]


def aloud(text: str, language: str) -> str:
    """`text` as a voice should say it: plain words, without digits. "" where nothing can be said."""
    blocks = Blocks()
    heard = blocks.feed(text[:LONGEST].replace("\r\n", "\n")) + blocks.rest()
    return _reader(language).read(heard)


@cache
def _reader(language: str) -> Reader:
    return Reader(words(language))


class Reader:
    """Of one language."""

    def __init__(self, language: Words) -> None:
        self._words, self._numbers = language, Numbers(language)
        self._times, self._units = Times(language, self._numbers), Units(language, self._numbers)
        self._rules = [(re.compile(pattern), said) for pattern, said in self._all() if pattern]

    def read(self, text: str) -> str:
        """Without markup; `CODE` is said to be left out."""
        said = " ".join(
            self._line(line)
            for line in lines(text.translate(_ALIKE).replace(CODE, self._words.words["code"]))
        )
        return _DOUBLE.sub(r"\1", " ".join(said.split()))

    def _line(self, line: str) -> str:
        pieces = [(line, False)]
        for pattern, said in self._rules:
            pieces = [new for piece in pieces for new in _applied(piece, pattern, said)]
        joined = "".join(f" {text} " if is_said else text for text, is_said in pieces)
        return _clean(_SUFFIX.sub("'", joined))

    def _all(self) -> list[tuple[str, Callable[[re.Match[str]], str | None]]]:
        """In their order."""
        language, times, units, number = self._words, self._times, self._units, self._numbers.pattern
        ordinals = language.ordinals and rf"(?<![\w.,])(\d{{1,6}}){language.ordinals}(?!\w)"
        return [
            (_ZONE, lambda _: ""),
            (_URL, self._link),
            (_MAIL, lambda found: self._dotted(found[0].replace("@", f" {language.words['@']} "))),
            (rf"{times.time_pattern}\s?-\s?{times.time_pattern}", self._from_to),
            (times.iso_pattern, times.iso),
            (times.short_pattern, times.short),
            (times.named_pattern, times.named),
            (times.american_pattern, times.american),
            (times.time_pattern, times.time),
            (times.dotted_pattern, times.time),
            (times.letter_pattern if "h" in language.clock.words.split("|") else "", times.time),
            (r"(?<![\d.,])\d+(?:\.\d+){2,}(?!\d)", lambda found: self._dotted(found[0])),
            (_table(language.before_numbers) + r"\s?(?=\d)", self._written(language.before_numbers)),
            (units.money_before_pattern, units.money_before),
            (units.money_after_pattern, units.money_after),
            (units.quantity_pattern, units.quantity),
            (units.percent_pattern, units.percent),
            (_table(language.abbreviations), self._written(language.abbreviations)),
            (r"(?<![\d/])\d/\d(?![\d/])", self._fraction),
            (r"(?<=[\w)%])\s?([-+*/=^<>~])\s(?=[-(]?\d)|(?<=[\d)])([+*=^<>])(?=[-(]?\d)", self._sign),
            (r"([²³])(?!\w)", lambda found: f"{language.signs['^']} {language.spell(ord(found[0]) - 176)}"),
            (rf"(?<![\d.,])({number})\s?-(?={number}(?![\d-]))", self._range),
            (_numbered(language), self._article),
            (r"(?<=\d):(?=\d)", lambda _: ""),
            (ordinals, lambda found: language.spell(int(found[1]), language.ordinal)),
            (rf"(?:(?<![\w.,)])([-+~]))?({number})(?:(?={language.noun})|())", self._number),
            (r"[&@§]", lambda found: language.words[found[0]]),
        ]

    def _link(self, found: re.Match[str]) -> str:
        url = found[0] if "://" in found[0] else f"http://{found[0]}"
        try:
            host = urlsplit(url).hostname or ""
        except ValueError:
            host = ""
        return self._words.words["link"].format(host=self._dotted(host.removeprefix("www.")))

    def _dotted(self, text: str) -> str:
        """Words and numbers with dots that are said."""
        read = re.sub(r"\d+", lambda found: f" {self._numbers.read(found[0], '')} ", text)
        return re.sub(r"[^\w\s-]|_", " ", read.replace(".", f" {self._words.words['.']} "))

    def _from_to(self, found: re.Match[str]) -> str | None:
        one = re.compile(self._times.time_pattern)
        both = [self._times.time(each) for each in one.finditer(found[0])]
        return self._words.range.format(a=both[0], b=both[-1])

    def _written(self, table: dict[str, str]) -> Callable[[re.Match[str]], str | None]:
        known = {_plain(short): said for short, said in table.items()}

        def said(found: re.Match[str]) -> str | None:
            key = _plain(found[0])
            if key in known:
                return known[key]
            whole = known[key[:1].lower() + key[1:]]
            return whole[:1].upper() + whole[1:]

        return said

    def _fraction(self, found: re.Match[str]) -> str | None:
        return self._words.fractions.get(found[0])

    def _sign(self, found: re.Match[str]) -> str | None:
        return self._words.signs.get(found[1] or found[2])

    def _range(self, found: re.Match[str]) -> str | None:
        """The first of two numbers with a dash between them; `_number` reads the other one."""
        first, second = found[1], re.match(self._numbers.pattern, found.string[found.end() :])
        is_up = second and first[0] != "0" and self._numbers.value(first) < self._numbers.value(second[0])
        before, _, after = self._words.range.partition("{a}")
        said = f"{before}{self._numbers.read(first)}"
        return said + (after.partition("{b}")[0] if is_up else "")

    def _article(self, found: re.Match[str]) -> str:
        """An ordinal after its article."""
        language = self._words
        is_bent = re.fullmatch(language.date.bending, found[1], re.IGNORECASE)
        said = language.spell(int(found[2]), language.date.bent if is_bent else "spellout-ordinal")
        return f"{found[1]} {said}"

    def _number(self, found: re.Match[str]) -> str:
        sign, noun = found[1], ""
        if after := re.compile(self._words.noun).match(found.string, found.end()):
            noun = after[1]
        before = "" if sign else found.string[: found.start()]
        read = self._numbers.read(found[2], noun, before)
        return f"{(self._words.signs | self._words.words)[sign]} {read}" if sign else read


def _applied(
    piece: tuple[str, bool], pattern: re.Pattern[str], said: Callable[[re.Match[str]], str | None]
) -> list[tuple[str, bool]]:
    """The piece, cut where the rule has said something."""
    text, is_said = piece
    if is_said:
        return [piece]
    pieces: list[tuple[str, bool]] = []
    start = 0
    for found in pattern.finditer(text):
        if (words := said(found)) is not None:
            pieces += [(text[start : found.start()], False), (words, True)]
            start = found.end()
    return [each for each in [*pieces, (text[start:], False)] if each[0] or each[1]]


def _numbered(language: Words) -> str:
    """A pattern of ordinals with a period: an article, a small number, and a noun."""
    if not language.articles:
        return ""
    return rf"\b((?i:{language.articles}|{language.date.bending}))\s(\d{{1,2}})\.(?=\s[^\W\d_])"


def _table(table: dict[str, str]) -> str:
    """A pattern of what is written in it, with or without its spaces, also at the beginning of a sentence."""
    either = []
    for short in sorted(table, key=len, reverse=True):
        first = short[0]
        letters = re.escape(short[1:]).replace(r"\ ", r"[\s\u00a0\u202f]?")
        either.append(f"[{first}{first.upper()}]{letters}" if first.isalpha() else re.escape(short))
    return rf"(?<!\w)(?:{'|'.join(either)})(?!\w)"


def _plain(short: str) -> str:
    return "".join(short.split())


def _clean(text: str) -> str:
    """Letters, and what a voice makes a pause or a tone of."""
    text = unicodedata.normalize("NFC", text)
    text = re.sub(r"(?<=\S)\s*\((?=\s*\w)", ", ", text)
    text = re.sub(r"\)(?=\s*\w)", ", ", text)
    kept = "".join(each if _is_heard(each) else " " for each in text)
    kept = re.sub(r"(?<!\w)['-]+|['-]+(?!\w)", " ", kept)
    kept = re.sub(r"\.(?:\s?\.)+", ".", _LOOSE.sub(r"\1", " ".join(kept.split())))
    return _START.sub("", kept)


def _is_heard(character: str) -> bool:
    return character in _KEPT or character == " " or unicodedata.category(character)[0] in "LM"
