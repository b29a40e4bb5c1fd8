"""The words for days, months, parts of a day and numbers, folded: lower case, no accents, no punctuation."""

from __future__ import annotations

import re
import unicodedata

from muleteer.when.idioms import after_numbers, before_numbers

LONGEST = 200  # characters; nobody says a time in more, and what is longer is not read


def listed(words: str) -> frozenset[str]:
    return frozenset(words.split())


WEEKDAYS = (
    "monday montag lunes lundi lunedi maandag mon mo lun pazartesi",
    "tuesday dienstag martes mardi martedi dinsdag tue tues di salı",
    "wednesday mittwoch miercoles mercredi mercoledi woensdag wed mi carsamba",
    "thursday donnerstag jueves jeudi giovedi donderdag thu thur thurs do persembe",
    "friday freitag viernes vendredi venerdi vrijdag fri fr cuma",
    "saturday samstag sonnabend sabado samedi sabato zaterdag sat sa cumartesi",
    "sunday sonntag domingo dimanche domenica zondag sun so pazar",
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
    (6, 12): "morning forenoon vormittag vormittags fruh morgens mattina matin ochtend sabah sabahleyin",
    (11, 14): "noon midday lunchtime lunch mittag mittags mediodia midi mezzogiorno",
    (12, 18): "afternoon nachmittag nachmittags tarde pomeriggio middag",
    (18, 24): "evening abend abends tonight night nacht nachts noche soir sera avond vanavond aksam",
}
PART = {word: hours for hours, words in PARTS.items() for word in words.split()}
PART_NAMES = {(6, 12): "morning", (11, 14): "noon", (12, 18): "afternoon", (18, 24): "evening"}

RELATIVE = {
    "today": 0, "heute": 0, "hoy": 0, "oggi": 0, "vandaag": 0, "aujourdhui": 0, "now": 0, "jetzt": 0,
    "tomorrow": 1, "tmrw": 1, "morgen": 1, "manana": 1, "domani": 1, "demain": 1,
    "ubermorgen": 2, "overmorrow": 2, "overmorgen": 2, "dopodomani": 2,
    "yesterday": -1, "gestern": -1, "ayer": -1, "hier": -1, "ieri": -1, "gisteren": -1,
    "vorgestern": -2, "hoje": 0, "amanha": 1, "bugun": 0, "yarın": 1, "yarin": 1,
}  # fmt: skip

NEXT = listed("next following nachste nachsten nachster nachstes kommende kommenden kommender")
THIS = listed("this coming current diese diesen dieser dieses")
LAST = listed("last past previous letzte letzten letzter letztes vergangene vergangenen")
FILLERS = listed(
    "on at am an im in the der die das den dem of for fur el la le les al um zu by around gegen til "
    "a los del please bitte date day um von ab"
)

UNITS = {
    "s sec secs second seconds sek sekunde sekunden segundo segundos seconde secondes seconden secondo "
    "secondi saniye": 1,
    "m min mins minute minutes minuten minuto minutos minuti minuut minuutje minuutjes dakika": 60,
    "h hr hrs hour hours std stunde stunden hora horas heure heures ora ore uur uren uurtje saat": 3600,
    "d day days tag tage tagen dia dias jour jours giorno giorni dag dagen gun": 86_400,
    "w week weeks woche wochen semana semanas semaine semaines settimana settimane weken hafta": 604_800,
}
UNIT = {word: seconds for words, seconds in UNITS.items() for word in words.split()}

_ONES = (
    "zero null nul|one a an ein eine einer einem einen un une una uno een|"
    "two zwei zwo dos deux due twee dois duas|three drei tres trois tre drie|"
    "four vier cuatro quatre quattro quatro|five funf cinco cinq cinque vijf|six sechs seis sei zes|"
    "seven sieben siete sept sette zeven sete|eight acht ocho huit otto oito|nine neun nueve neuf nove negen|"
    "ten zehn diez dix dieci tien|eleven elf once onze undici|twelve zwolf doce douze dodici twaalf doze|"
    "thirteen dreizehn tredici dertien treze|fourteen vierzehn quattordici veertien catorze|"
    "fifteen funfzehn quince quinze quindici vijftien|sixteen sechzehn sedici zestien|"
    "seventeen siebzehn diciassette zeventien|eighteen achtzehn diciotto achttien dezoito|"
    "nineteen neunzehn diciannove negentien"
)
_TENS = {
    20: "twenty zwanzig twintig venti veinte vingt vinte",
    30: "thirty dreissig dertig trenta treinta trente trinta",
    40: "forty vierzig veertig quaranta cuarenta quarante quarenta",
    50: "fifty funfzig vijftig cinquanta cincuenta cinquante cinquenta",
    60: "sixty sechzig zestig sessanta", 70: "seventy siebzig zeventig settanta",
    80: "eighty achtzig tachtig ottanta", 90: "ninety neunzig negentig novanta",
}  # fmt: skip
_GERMAN = ("ein", "zwei", "drei", "vier", "funf", "sechs", "sieben", "acht", "neun")  # before "und"
_DUTCH = ("een", "twee", "drie", "vier", "vijf", "zes", "zeven", "acht", "negen")  # before "en"
_ITALIAN = ("uno", "due", "tre", "quattro", "cinque", "sei", "sette", "otto", "nove")


def _numbers() -> dict[str, int]:
    ones = [words.split() for words in _ONES.split("|")]
    found = {word: number for number, words in enumerate(ones) for word in words}
    for ten, words in _TENS.items():
        found |= dict.fromkeys(words.split(), ten)
        english, german, dutch, italian = words.split()[:4]
        for number in range(1, 10):
            found[f"{english} {ones[number][0]}"] = ten + number
            found[f"{_GERMAN[number - 1]}und{german}"] = ten + number
            found[f"{_DUTCH[number - 1]}en{dutch}"] = ten + number
            stem = italian[:-1] if number in (1, 8) else italian
            found[f"{stem}{_ITALIAN[number - 1]}"] = ten + number
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
    """The folded text with its number words as digits, and idioms with them in English: "twenty five" is 25,
    "kwart over zeven" quarter past 7."""
    digits = _NUMBER_WORD.sub(lambda found: str(NUMBER[found[0]]), before_numbers(folded))
    return after_numbers(digits)
