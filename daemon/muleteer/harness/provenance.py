"""Whether what a call holds was said: by the user, by a skill's steps, or by a tool before.

Pure. A small model fills a gap with a number that sounds right, or with a day that stood in the tool's
description, and a sum or a search made of such looks like any other. Knows digits, number words and words of
time (those that `when.words` knows) and the numbers that some words stand for.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping
from fractions import Fraction

from muleteer.sums import number
from muleteer.when.words import (
    FILLERS,
    LAST,
    MONTH,
    NEXT,
    PART,
    RELATIVE,
    THIS,
    UNIT,
    WEEKDAY,
    fold,
    in_digits,
)

_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_SENTENCE = re.compile(r"[.;!?]\s|\n")
_SCALE = {
    "hundred|hundert|cien|ciento|cent|cento|honderd|yuz": 100,
    "thousand|tausend|mil|mille|mila|duizend|bin": 1000,
    "million|millionen|millon|millones|millions|milione|milioni|miljoen|milhao|milhoes|milyon": 10**6,
    "dozen|dutzend|docena|docenas|douzaine|dozzina|dozijn|duzia|duzine": 12,
}
_SCALED = {word: factor for words, factor in _SCALE.items() for word in words.split("|")}
_MULTIPLE = re.compile(rf"(?:(\d+(?:\.\d+)?) )?\b({'|'.join(_SCALED)})s?\b(?: (?:and |y )?(\d{{1,2}})\b)?")

# What a word stands for besides itself. Factors of units are here only where everybody knows them.
_IMPLIED = {
    r"half|halves|halved|halb\w*|halft\w*|halbier\w*|mitad|medi[oa]|demi|moitie|meta|mezz[oa]|helft"
    r"|metade|yari\w*": ("2", "1/2", "30"),
    r"double|doubled|twice|pair|couple|both|doppelt\w*|verdoppel\w*|zweimal|paar|doble|par|doppio"
    r"|dubbel": ("2",),
    r"triple|thrice|thirds?|drittel|dreifach\w*|tercio|tiers|terzo|derde": ("3", "1/3"),
    r"quarters?|viertel|cuart[oa]s?|quarts?|quarto|kwart\w*|ceyrek": ("4", "1/4", "15", "45"),
    r"anderthalb\w*|hour and 1 half|hora y media|heure et demie|ora e mezza": ("1.5", "90"),
    r"squared?|quadrat\w*|cuadrad[oa]|carre|quadrato|kwadraat|kare\w*": ("2", "1/2"),
    r"cubed?|cubic|kubik\w*|hoch drei|cubo|cube": ("3", "1/3"),
    r"per ?cent|percentage|prozent\w*|por ?cient\w*|pour ?cent|percento|procent|yuzde": ("100",),
    r"degrees?|fahrenheit|celsius|grad|grados?|degres?|gradi|graden|derece": (
        "32", "9", "5", "1.8", "273.15"),
    r"seconds?|sekunden?|segundos?|secondes?|secondi|minutes?|minuten?|minutos?|minuti|hours?|stunden?|horas?"
    r"|heures?|ore|uur|uren|dakika\w*|saat\w*": ("60", "3600"),
    r"days?|tage?n?|dias?|jours?|giorn[oi]|dagen?|gun\w*": ("24", "7", "365"),
    r"weeks?|wochen?|semanas?|semaines?|settiman[ae]|weken?|hafta\w*": ("7", "52"),
    r"months?|monate?n?|mes|meses|mois|mes[ei]|maand\w*|ay": ("12",),
    r"years?|jahre?n?|anos?|ans?|annees?|ann[oi]|jaar|jaren|yil\w*": ("12", "52", "365"),
    r"(?:kilo|centi|milli|deci)\w*|k[gm]|[cm]m|ml|[gl]|gram\w*|meters?|metres?|metros?|lit\w*": (
        "10", "100", "1000"),
}  # fmt: skip
_MEAN = re.compile(
    r"\b(?:average|mean|durchschnitt\w*|mittel\w*|promedio|media|moyenne|gemiddeld\w*|ortalama\w*)\b"
)
# Number words of the languages that `when.words` does not count in, with what is hung on to them.
_MORE_NUMBERS = {
    2: "twee|dois|duas|iki", 3: "drie|tres|uc", 4: "vier|quatro|dort", 5: "vijf|cinco|bes",
    6: "zes|seis|alti", 7: "zeven|sete|yedi", 8: "acht|oito|sekiz", 9: "negen|nove|dokuz",
    10: "tien|dez|on(?= (?:dakika|saat|gun))", 11: "elf|onze|on bir", 12: "twaalf|doze|on iki",
    15: "vijftien|quinze|on bes|kwartier", 20: "twintig|vinte|venti|yirmi",
    30: "dertig|trinta|trenta|trente|otuz", 40: "veertig|quarenta|quaranta|quarante|kirk",
    50: "vijftig|cinquenta|cinquanta|cinquante|elli",
}  # fmt: skip
_ENDING = "(?:[dt][ea]|[iu]|[yn]?[ea])?"
_COUNTED = {number: re.compile(rf"\b(?:{words}){_ENDING}\b") for number, words in _MORE_NUMBERS.items()}
_ALWAYS = (Fraction(0), Fraction(1))

# Words that clocks are read with: then a number may be said as the one before it ("halb sieben"), or as
# twelve less than it is ("at 7 in the evening").
_CLOCK = re.compile(
    r"\b(?:halb|half|viertel|quarter|kwart|cuarto|quart|quarto|bucuk|am|pm|uhr|oclock|clock|uur|heures?|saat"
    r"|evening|night|tonight|morning|afternoon|noon|midday|midnight|abends?|nachts?|morgens?|mittags?|nachmittags?"
    r"|mitternacht|fruh|tarde|noche|manana|mediodia|soir|nuit|matin|midi|minuit|sera|notte|mattina|mezzogiorno"
    r"|avond|middag|ochtend|aksam|sabah|gece|noite|manha|at|um|alle|las?|om|as|wake|alarm\w*|weck\w*)\b"
)
_NAMED_TIMES = {
    r"noon|midday|mittags?|mediodia|midi|mezzogiorno|middag|ogle\w*|meio.dia": 12,
    r"midnight|mitternacht|medianoche|minuit|mezzanotte|middernacht|meia.noite": 24,
}
STEM = 4  # letters that the forms of a word have in common
_WEEKEND = "weekend wochenende finde fin fine weekeinde"
_TIMES: tuple[tuple[str, Mapping[str, Hashable]], ...] = (
    ("day", dict(RELATIVE)),
    ("weekday", dict(WEEKDAY)),
    ("month", dict(MONTH)),
    ("part", dict(PART)),
    ("unit", dict(UNIT)),
    ("which", dict.fromkeys(NEXT, 1) | dict.fromkeys(LAST, -1)),
    ("weekend", dict.fromkeys(_WEEKEND.split())),
)
_WORD = re.compile(r"[^\W\d_]{2,}")


def invented(arguments: Mapping[str, object], keys: Iterable[str], sources: Iterable[str]) -> list[str]:
    """The numbers in the arguments of these names that no source has said, as they are written, each once."""
    written = dict.fromkeys(
        found for key in keys if key in arguments for found in _DIGITS.findall(str(arguments[key]))
    )
    if not written:
        return []
    known = said("\n".join(sources))
    return [each for each in written if not known & _readings(each)]


def unused(message: str, arguments: Mapping[str, object]) -> list[str]:
    """The numbers that a message has in digits and none of the arguments has. Where it speaks of times of day
    there are none, since those are written in many ways."""
    if _CLOCK.search(fold(message)):
        return []
    used = {reading for each in _DIGITS.findall(str(list(arguments.values()))) for reading in _readings(each)}
    return [each for each in dict.fromkeys(_DIGITS.findall(message)) if not _readings(each) & used]


def unsaid(value: object, sources: Iterable[str]) -> bool:
    """Whether a value speaks of a time that no source does: "yesterday" where somebody said "gestern" was
    said, and "since Monday" was not where no Monday is."""
    said = _words("\n".join(sources))
    known = {meaning for word in said for meaning in _meanings(word)}
    words = [word for word in _words(str(value)) if word not in FILLERS | THIS]
    times = [meanings for word in words if (meanings := _meanings(word))]
    if times:
        return not all(meanings & known for meanings in times)
    stems = {word[:STEM] for word in said}
    return bool(words) and not any(word[:STEM] in stems for word in words)


def _words(text: str) -> list[str]:
    return [word for each in _SENTENCE.split(text) for word in _WORD.findall(in_digits(fold(each)))]


def _meanings(word: str) -> set[tuple[str, Hashable]]:
    """What a word says of times, in whatever language."""
    return {(kind, words[word]) for kind, words in _TIMES if word in words}


def said(text: str) -> set[Fraction]:
    """Every number that a text says in digits or in words, and those that its words stand for."""
    found = set(_ALWAYS)
    for each in _DIGITS.findall(text):
        found |= _readings(each)
    folded = " ; ".join(in_digits(fold(each)) for each in _SENTENCE.split(text))
    for each in _DIGITS.findall(folded):
        found |= _readings(each)
    for times, scale, more in _MULTIPLE.findall(folded):
        multiple = Fraction(times or 1) * _SCALED[scale]
        found |= {multiple, multiple + Fraction(more or 0), Fraction(_SCALED[scale])}
    numbers = len(_DIGITS.findall(folded))
    if "%" in text or re.search(r"\bper ?cent|prozent|cient|procent|yuzde", folded):
        found |= {share for each in found for share in (each / 100, 1 + each / 100, 1 - each / 100)}
    found |= {Fraction(number) for number, words in _COUNTED.items() if words.search(folded)}
    if _MEAN.search(folded):
        found.add(Fraction(numbers))
    if _CLOCK.search(folded):
        hours = {each for each in found if each.denominator == 1 and 0 < each <= 12}
        found |= {each - 1 for each in hours} | {each + 12 for each in hours}
        found |= {Fraction(value) for words, value in _NAMED_TIMES.items() if re.search(words, folded)}
    for words, values in _IMPLIED.items():
        if re.search(rf"(?<![^\W\d_])(?:{words})\b", folded):
            found |= {Fraction(value) for value in values}
    return found


def _readings(written: str) -> set[Fraction]:
    """What a number may mean: "1.234" is a thousand and more in one country, one and a bit in another. A time
    or a list of numbers is each of its parts."""
    readings = {written, number(written), written.replace(",", "."), re.sub("[.,]", "", written)}
    parts = re.split("[.,]", written)
    readings |= set(parts) if len(parts) > 2 else set()
    found: set[Fraction] = set()
    for reading in readings:
        try:
            found.add(Fraction(reading))
        except ValueError:  # one country's notation only
            continue
    return found
