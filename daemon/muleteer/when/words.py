"""The words for days, months, parts of a day and numbers, folded: lower case, no accents, no punctuation."""

from __future__ import annotations

import re
import unicodedata

LONGEST = 200  # characters; nobody says a time in more, and what is longer is not read


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


WEEKDAYS = (
    "monday montag lunes lundi lunedi maandag mon mo lun",
    "tuesday dienstag martes mardi martedi dinsdag tue tues di",
    "wednesday mittwoch miercoles mercredi mercoledi woensdag wed mi",
    "thursday donnerstag jueves jeudi giovedi donderdag thu thur thurs do",
    "friday freitag viernes vendredi venerdi vrijdag fri fr",
    "saturday samstag sonnabend sabado samedi sabato zaterdag sat sa",
    "sunday sonntag domingo dimanche domenica zondag sun so",
)
MONTHS = (
    "january januar janner enero janvier gennaio januari jan",
    "february februar feber febrero fevrier febbraio februari feb",
    "march marz maerz marzo mars maart mar mrz",
    "april abril avril aprile apr",
    "may mai mayo maggio mei",
    "june juni junio juin giugno jun",
    "july juli julio juillet luglio jul",
    "august agosto aout augustus aug",
    "september septiembre septembre settembre sep sept",
    "october oktober octubre octobre ottobre oct okt",
    "november noviembre novembre nov",
    "december dezember diciembre decembre dicembre dec dez",
)
WEEKDAY = {word: number for number, words in enumerate(WEEKDAYS) for word in words.split()}
MONTH = {word: number for number, words in enumerate(MONTHS, 1) for word in words.split()}

# Whole hours, the end not included; 24 is the end of the day.
PARTS = {
    (6, 12): "morning forenoon vormittag vormittags fruh morgens mattina matin ochtend",
    (11, 14): "noon midday lunchtime lunch mittag mittags mediodia midi mezzogiorno",
    (12, 18): "afternoon nachmittag nachmittags tarde pomeriggio middag",
    (18, 24): "evening abend abends tonight night nacht nachts noche soir sera avond vanavond",
}
PART = {word: hours for hours, words in PARTS.items() for word in words.split()}
PART_NAMES = {(6, 12): "morning", (11, 14): "noon", (12, 18): "afternoon", (18, 24): "evening"}

RELATIVE = {
    "today": 0, "heute": 0, "hoy": 0, "oggi": 0, "vandaag": 0, "aujourdhui": 0, "now": 0, "jetzt": 0,
    "tomorrow": 1, "tmrw": 1, "morgen": 1, "manana": 1, "domani": 1, "demain": 1,
    "ubermorgen": 2, "overmorrow": 2, "overmorgen": 2, "dopodomani": 2,
    "yesterday": -1, "gestern": -1, "ayer": -1, "hier": -1, "ieri": -1, "gisteren": -1,
    "vorgestern": -2,
}  # fmt: skip

NEXT = listed("next following nachste nachsten nachster nachstes kommende kommenden kommender")
THIS = listed("this coming current diese diesen dieser dieses")
LAST = listed("last past previous letzte letzten letzter letztes vergangene vergangenen")
FILLERS = listed(
    "on at am an im in the der die das den dem of for fur el la le les al um zu by around gegen til "
    "a los del please bitte date day um von ab"
)

UNITS = {
    "s sec secs second seconds sek sekunde sekunden segundo segundos seconde secondes": 1,
    "m min mins minute minutes minuten minuto minutos minuti": 60,
    "h hr hrs hour hours std stunde stunden hora horas heure heures ora ore uur": 3600,
    "d day days tag tage tagen dia dias jour jours": 86_400,
    "w week weeks woche wochen semana semanas semaine semaines": 604_800,
}
UNIT = {word: seconds for words, seconds in UNITS.items() for word in words.split()}

_ONES = (
    "zero null|one a an ein eine einer einem einen un une una uno|two zwei zwo dos deux due|"
    "three drei tres trois|"
    "four vier cuatro quatre quattro|five funf cinco cinq cinque|six sechs seis sei|seven sieben siete sept|"
    "eight acht ocho huit otto|nine neun nueve neuf nove|ten zehn diez dix dieci|eleven elf once onze|"
    "twelve zwolf doce douze|thirteen dreizehn|fourteen vierzehn|fifteen funfzehn quince quinze|"
    "sixteen sechzehn|seventeen siebzehn|eighteen achtzehn|nineteen neunzehn"
)
_TENS = {
    20: "twenty zwanzig veinte vingt", 30: "thirty dreissig treinta trente", 40: "forty vierzig",
    50: "fifty funfzig", 60: "sixty sechzig",
    70: "seventy siebzig", 80: "eighty achtzig", 90: "ninety neunzig",
}  # fmt: skip
_GERMAN = ("ein", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun")  # before "und"


def _numbers() -> dict[str, int]:
    ones = [words.split() for words in _ONES.split("|")]
    found = {word: number for number, words in enumerate(ones) for word in words}
    for ten, words in _TENS.items():
        found |= dict.fromkeys(words.split(), ten)
        english, german = words.split()[:2]
        for number in range(1, 10):
            found[f"{english} {ones[number][0]}"] = ten + number
            found[f"{_GERMAN[number - 1]}und{german}"] = ten + number
    return found


NUMBER = _numbers()
_SAID = "|".join(sorted((word for word in NUMBER if word != "once"), key=len, reverse=True))
_NUMBER_WORD = re.compile(rf"\b(?:{_SAID})\b")
_MARKS = re.compile("[\u0300-\u036f'\u2019`\u00b4]+")
_TIDY = re.compile(r"(?<!\d),|,(?!\d)|[;!?\"„“”()\[\]]+|(?<=[a-z])\.(?=\s|$)|(?<=[a-z])-(?=[a-z])")


# German without its keyboard: "fuer morgen frueh um fuenf".
_SPELT = re.compile(
    r"\b(?:f(?:ue)(?:r|nf|nfzehn|nfzig)|frueh|zwoelf|uebermorgen|naechste[nrs]?|taeglich|maerz|spaeter"
    r"|laenger|loesche?n?|verlaenger[ent]*|koenntest|moechte)\b"
)


def fold(text: str) -> str:
    """Lower case, without accents and punctuation, single spaces; cut at `LONGEST` characters."""
    plain = unicodedata.normalize("NFKD", text[:LONGEST].casefold())
    plain = re.sub(r"\b([ap])\. ?m\b\.?", r"\1m", _MARKS.sub("", plain).replace("\u2013", "-"))
    tidy = " ".join(_TIDY.sub(" ", plain).split())
    return _SPELT.sub(lambda found: re.sub("([aou])e", r"\1", found[0], count=1), tidy)


def in_digits(folded: str) -> str:
    """The folded text with its number words as digits: "twenty five" is 25."""
    return _NUMBER_WORD.sub(lambda found: str(NUMBER[found[0]]), folded)
