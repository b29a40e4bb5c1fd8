"""Times as they are said in Romance languages, Dutch and Turkish, in the words that `clocks` reads.

Knows idioms and endings, folded: "sette e mezza", "kwart voor acht", "yedi buçukta". Which number a word is
stands in `words`.
"""

from __future__ import annotations

import re

_HOURS = "een|twee|drie|vier|vijf|zes|zeven|acht|negen|tien|elf|twaalf"
_TEN = {"on": 10, "yirmi": 20, "otuz": 30, "kırk": 40, "kirk": 40, "elli": 50}
_ONE = {
    "bir": 1, "iki": 2, "uc": 3, "dort": 4, "bes": 5, "altı": 6, "alti": 6, "yedi": 7, "sekiz": 8, "dokuz": 9,
}  # fmt: skip
_ENDING = r"(?:y?[aeıiu]|[dt][ae]n?)?"
_COUNTED = "dakika|saniye|saat|gun|hafta"
# "On" is also English: it is ten before another number or what is counted, and with an ending of its own.
_TURKISH = re.compile(
    rf"\b(?:(?P<ten>{'|'.join(_TEN)}) )?(?P<one>{'|'.join(_ONE)}){_ENDING}\b"
    rf"|\b(?P<even>on(?= (?:{_COUNTED}|kala|gec|bucuk))|ona|onda|{'|'.join(list(_TEN)[1:])}){_ENDING}\b"
)
_BEFORE = (  # with their numbers in words
    (rf"\bhalf (?=(?:{_HOURS})\b)", "halb "),
    (r"\bunora\b", "una ora"),
    (r"\bmezz ?(?:a )?ora\b", "30 min"),
)
_AFTER = (
    (r"\b(\d+) quarti d ?ora\b", r"quarti \1"),
    (r"\bquarti 3\b", "45 min"),
    (r"\b(?:1 )?quarto d ?ora\b", "15 min"),
    (r"\b(\d+) or[ae] e (?:mezz[ao]|30)\b", r"\1.5 ore"),
    (r"\b(\d+) horas? y media\b", r"\1.5 horas"),
    (r"\b(\d+) heures? et demie\b", r"\1.5 heures"),
    (r"\b(\d{1,2}) (?:e mezz[ao]|y media|e meia|et demie)\b", r"\1:30"),
    (r"\b(\d{1,2}) (?:y cuarto|et quart)\b", r"quarter past \1"),
    (r"\b(\d{1,2}) (?:menos cuarto|moins le quart)\b", r"quarter to \1"),
    (r"\b(\d{1,2}) e (?:1 )?quarto\b", r"quarter past \1"),
    (r"\b(\d{1,2}) meno (?:1 )?quarto\b", r"quarter to \1"),
    (r"\b(\d{1,2}) meno (\d{1,2})\b", r"\2 to \1"),
    (r"\b(alle \d{1,2}) e (\d\d)\b", r"\1:\2"),
    (r"\bmezzogiorno\b", "noon"),
    (r"\bmezzanotte\b", "midnight"),
    (r"\banderhalf uur\b", "90 min"),
    (r"\b3 kwartier\b", "45 min"),
    (r"\b(?:1 )?kwartier\b", "15 min"),
    (r"\b(?:1 )?half uur(?:tje)?\b", "30 min"),
    (r"\bkwart over (?=\d)", "quarter past "),
    (r"\bkwart voor (?=\d)", "quarter to "),
    (r"\b(\d{1,2}) over (?=\d{1,2}\b)", r"\1 past "),
    (r"\b(\d{1,2}) voor (?=\d{1,2}\b)", r"\1 to "),
    (r"\b(?:middernacht|gece yarısı)\b", "midnight"),
    (rf"\b({_COUNTED})(?:ya|ye|lık|lik|da|de|e|nin|ligine)?(?: (?:sonra(?:ya)?|icin(?:de)?))?\b", r"\1"),
    (r"\byarım saat\b|\byarim saat\b", "30 min"),
    (r"\b(\d+) bucuk saat\b", r"\1.5 saat"),
    (r"\b(\d{1,2}) bucu[kg]\w*", r"\1:30"),
    (r"\b(\d{1,2}) ceyrek gec\w*", r"quarter past \1"),
    (r"\b(\d{1,2}) ceyrek (?:kala|var)\b", r"quarter to \1"),
    (r"\b(\d{1,2}) (\d{1,2}) gec\w*", r"\2 past \1"),
    (r"\b(\d{1,2}) (\d{1,2}) (?:kala|var)\b", r"\2 to \1"),
    (r"\b(?:saat|at) (\d{1,2}(?:[:.]\d\d)?)(?:[dt][ae]|y?[ae])?\b(?! ?[ap]m)", r"at \1"),
    (r"\bom (\d{1,2}) uur\b", r"at \1"),
    (r"\b(?:om|alle|a las?) (?=halb \d|quarter (?:past|to) \d|\d{1,2}:\d\d|\d{1,2} (?:past|to) \d)", "at "),
    (r"\bs (avonds|middags)\b", r"\1"),
    (r"\bs (?:ochtends|morgens)\b", "morgens"),
    (r"\b(?:di sera|del pomeriggio)\b", "pm"),
    (r"\b[a1] (?=noon\b|midnight\b)", ""),
    (r"\b(\d{1,2}(?:[:.]\d\d))(?:[dt][ae]|y?[ae])\b", r"\1"),
)
# What one of them has: a text is read many times, and most have none.
_SIGN = re.compile(
    r"\d|mezz|kwart|uur|nacht|quart|yar[ıi]|dakik|saniy|saat|hafta|\bgun|avonds|middags|ochtends|morgens|sera|pomerig"
)
_WORDED = [(re.compile(pattern), said) for pattern, said in _BEFORE]
_WORD_SIGN = re.compile(r"half|unora|mezz")
_NUMBERED = [(re.compile(pattern), said) for pattern, said in _AFTER]


def before_numbers(folded: str) -> str:
    """What has to be known of a text while its numbers are words; those of Turkish in digits."""
    for pattern, said in _WORDED if _WORD_SIGN.search(folded) else ():
        folded = pattern.sub(said, folded)
    return _TURKISH.sub(lambda found: str(_turkish(found)), folded)


def after_numbers(said: str) -> str:
    """Idioms with their numbers in digits, as the English ones."""
    if not _SIGN.search(said):
        return said
    for pattern, plain in _NUMBERED:
        said = pattern.sub(plain, said)
    return said


def _turkish(found: re.Match[str]) -> int:
    if found["one"]:
        return _TEN.get(found["ten"] or "", 0) + _ONE[found["one"]]
    return next(number for word, number in _TEN.items() if found["even"].startswith(word))
