"""What a message wants of timers, by its own words: "remind me at 6 pm" sets one, and at no other time.

Knows verbs and times of such messages. Knows no timers that are set, and where the words decide nothing it
says nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from muleteer.when.alarms import read_alarm
from muleteer.when.clocks import find_clock, read_delay
from muleteer.when.labels import ALARMS, MORE, NAMELESS, ORDERS
from muleteer.when.words import PART, RELATIVE, UNIT, WEEKDAY, fold, in_digits, listed

Action = Literal["set", "extend", "list", "cancel"]

LONGEST_TIME = 9  # words: "every monday and thursday at half past seven pm"

_OPENING = (
    r"^(?:(?:please|bitte|por favor|per favore|hey|ok|okay|and|und|can|could|would|will|you|kannst"
    r"|konntest|du"
    r"|i|want|need|ich|mochte|now|jetzt|then|dann|to|also|auch) )*"
)
_NEW = re.compile(
    r"\b(?:remind|reminder|wake|erinner[en]?|erinnerung|weck(?:e|en)?|uns? erinnern|despiert[ae]\w*"
    r"|recuerd[ae]\w*"
    r"|reveille|rappelle|svegli[ae]mi|ricord[ae]\w*|wakker|herinner|wek|acorde|acorda|lembr[ae]\w*|uyand[\u0131i]r\w*"
    r"|hat[\u0131i]rlat\w*|tell me|let me know|count down|bescheid)\b"
)
REMINDS = re.compile(r"\b(?:tell me to|remind|erinner|recuerd|rappel|ricord|herinner|lembr|hat[\u0131i]rlat)")
_SETS = re.compile(
    rf"{_OPENING}(?:set|start|create|make|put|give me|stelle?|setze?|starte?|mache?|pon\w*|programa|mets"
    rf"|lance"
    r"|metti|imposta|zet|stel|poe|coloque|coloca|define)\b|\b(?:kur|ayarla|baslat)\b"
)
_KIND = (
    r"(?:timers?|alarms?|wecker\w*|reminders?|countdowns?|erinnerung\w*|alarmas?|temporizador\w*|minuteurs?"
    r"|reveils?|alarmes?|sveglia|sveglie|wekkers?|kookwekkers?|despertador\w*)"
)
_CANCELS = re.compile(
    rf"{_OPENING}(?:cancel|stop|delete|remove|clear|kill|end|abort|drop|dismiss|disable|silence|forget"
    rf"|get rid of"
    r"|losche?|losch\w*|stoppe?|beende|storniere|entferne?|streiche?|brich|cancela\w*|quita|borra|elimina"
    r"|apaga|para|annule\w*|supprime|arrete|eteins|cancella|annulla|elimina|ferma|spegni|annuleer|verwijder"
    r"|wis|desliga|remove|pare)\b"
    rf"|{_OPENING}(?:turn|switch|shut) (?:off\b|(?:\w+ )*{_KIND} off\b)"
    rf"|{_OPENING}(?:stelle?|schalte?|mache?|zet) (?:\S+ )*{_KIND}(?: \S+)* (?:ab|aus|weg|uit)$"
    rf"|{_OPENING}{_KIND} (?:off|aus|ab|weg|uit)$"
    r"|\b(?:iptal|kapat|sil)\b"
    rf"|\b{_KIND}(?: \S+)* (?:loschen|stoppen|abbrechen|beenden|abstellen|ausschalten|ausmachen|stornieren)\b"
    rf"|\b(?:not|dont|nicht|kein\w*) .*\b{_KIND} .*(?:any ?more|any longer|mehr)\b"
)
_ASKS = re.compile(
    rf"{_OPENING}(?:(?:how|what)(?! about)|when|which|list|show|is|are|do|wie|wann|welche\w*|was|zeige?"
    rf"|lauft|laufen|gibt|ist|sind"
    r"|cuanto|cuando|que|cuales|hay|combien|quand|quels?|quelles?|quant[oaie]|quando|quali|hoe|wanneer|welke"
    r"|quais|kac|hangi)\b"
)
_UNITS = "|".join(sorted((unit for unit in UNIT if len(unit) > 1), key=len, reverse=True))
_SPAN = rf"(?:\d+(?:[.,]\d+)?|half an?|halbe|quarter|couple) ?(?:{_UNITS})"
_MORE_TIME = re.compile(
    rf"\b{_SPAN} (?:more|longer|extra|langer|mehr|mas|de plus|in piu|meer|langer|a mais|daha)\b"
    rf"|\b(?:more|another|extra|noch(?:mal)?|weitere|otros|otras|encore|altri|altre|ancora|nog"
    rf"|mais) {_SPAN}\b"
    rf"|\b\d+ (?:more|extra|weitere|additional) (?:{_UNITS})\b"
    rf"|\b(?:add|gib) .*\b{_SPAN}\b"
    r"|\b(?:extend|prolong|lengthen|verlanger\w*|alarga\w*|prolong\w*|allong\w*|allunga\w*|verleng\w*|uzat)\b"
)
_LONGER = re.compile(r"\b(?:longer|langer|extend|prolong|lengthen|verlanger\w*)\b")
_A_NEW_ONE = re.compile(rf"\b(?:1|new|another|neue[nr]?|noch 1|weitere[nr]?) {_KIND}\b")
_CLAUSE = re.compile(r"(?<=\w)(?:[;!?]|\.(?= |$)|,? (?:and|und|y|et|ed?|en|then|dann)(?= ))", re.IGNORECASE)
_BARE_CLOCK = re.compile(r"^(?:auf|for|fur|alle|om|zu)(?: the)? (?=\d{1,2}$)")
_BEFORE_SPAN = re.compile(r"^(?:in|en|dans|tra|fra|over|dentro de|em|for|fur|auf|by|um|of|von|de|di) (?=\S)")
_BEFORE_CLOCK = re.compile(r"^(?:for|fur|auf|zu|by|von) (?=\S)")
_NIGHT = r"(?:soir|apres midi|tarde|noche|noite|sera|pomeriggio|avonds?|middags?)"
_ROMANCE_CLOCK = re.compile(  # where "7 heures" alone would be a span
    r"(?:(?:[a1] las?|alle|om|as) (\d{1,2})(?::(\d\d))?(?: (?:horas?|uur|ore))?"
    r"|[a1] (\d{1,2}) heures?(?: (\d\d))?)"  # "a" is also the number one
    rf"(?: (?:(?:du|de l|de la|da|della|di|del|de|s) ?)?({_NIGHT}|pm)"
    r"| (?:du matin|de la manana|da manha|del mattino))?"
)
_JOINED = re.compile(
    r"(?<=\d)-(?=[^\W\d])|-(?=(?:timer|alarm|wecker)\b)", re.IGNORECASE
)  # "10-Minuten-Timer"
_COUNTED = re.compile(r"\d ?([a-z]+)")
_NO_TIME = listed("the my me mich und and y et e den der die mir please bitte")
_DAYS = (RELATIVE.keys() | WEEKDAY.keys() | PART.keys()) - {"now", "jetzt", "hier"}
SHORTEST_DAY = 5  # letters: "so" and "do" are days as seldom as "may" is a month
EDGES = listed("for fur auf to on at um am in the an a zu zum zur by gegen alle om")


@dataclass(frozen=True, slots=True)
class Request:
    """What a message wants. `action` is empty where its words do not decide, `times` are those that it names,
    as it names them, and `rest` its other words; `reminds`: it asks to be reminded of
    something."""

    action: Action | Literal[""]
    times: tuple[str, ...]
    rest: str
    reminds: bool = False


def read_request(message: str, now: datetime) -> Request:
    """What a message wants of timers; `now` is naive local time."""
    action = _action(message)
    times, rest = cut_times(MORE.sub(" ", fold(message)) if action == "extend" else message, now)
    reminds = REMINDS.search(fold(message)) is not None
    return Request(action or ("set" if times else ""), tuple(times), rest, reminds)


def named(text: str) -> list[str]:
    """The words of a text that may name a timer, folded."""
    return [word for word in re.findall(r"\w+", fold(text)) if word not in NAMELESS | EDGES]


def _action(message: str) -> Action | Literal[""]:
    folded = fold(message)
    said = in_digits(folded)
    new, cancels = _NEW.search(folded), _CANCELS.search(folded)
    if cancels and not (new and new.start() < cancels.start()):
        return "cancel"
    more = _MORE_TIME.search(said)
    if new and not (new[0] in ("reminder", "erinnerung") and more):
        return "set"
    if more and not _A_NEW_ONE.search(said) and (not _SETS.search(folded) or _LONGER.search(folded)):
        return "extend"
    if _SETS.search(folded):
        return "set"
    return "list" if _ASKS.search(folded) else ""


def clauses(message: str) -> list[str]:
    """The message cut where each piece opens with a verb of its own; whole where none does."""
    found, begin = list[str](), 0
    for joint in _CLAUSE.finditer(message):
        if _opens(message[joint.end() :]):
            found.append(message[begin : joint.start()].strip(" ,"))
            begin = joint.end()
    return [*found, message[begin:].strip(" ,")]


def _opens(text: str) -> bool:
    folded = fold(text)
    new = _NEW.search(folded)
    return bool((new and new.start() == 0) or _SETS.match(folded) or _CANCELS.match(folded))


def cut_times(text: str, now: datetime) -> tuple[list[str], str]:
    """The times and spans that a text names, as `read_alarm` and `read_delay` take them, and what is left."""
    left, times, kept = _JOINED.sub(" ", text).split(), list[str](), list[str]()
    alarm = bool(ALARMS & set(fold(text).split()) or _NEW.search(fold(text)))
    while left:
        for size in range(min(LONGEST_TIME, len(left)), 0, -1):
            if time := _time(" ".join(left[:size]), now, alarm):
                times.append(time)
                del left[:size]
                break
        else:
            kept.append(left.pop(0))
    return times, " ".join(kept)


def _time(said: str, now: datetime, alarm: bool) -> str:
    """What is said as something that can be read, if it is a time from its first word to its last; where an
    `alarm` is spoken of, "for 7" is one, too."""
    plain = fold(said)
    words, digits = plain.split(), in_digits(plain)
    if not words or (words[-1] in EDGES and not re.search(r"\d am$", digits)):
        return ""
    if {words[0], words[-1]} & (ORDERS | ALARMS | _NO_TIME):
        return ""
    if there := _ROMANCE_CLOCK.fullmatch(digits):
        hour, minute = there[1] or there[3], there[2] or there[4] or "00"
        clock = f"at {hour}:{minute}" + " pm" * bool(there[5] and int(hour) < 12)
        return clock if read_alarm(clock, now) else ""
    if not (re.search(r"\d", digits) or set(words) & UNIT.keys() or find_clock(plain)):
        return ""
    span, clock = _BEFORE_SPAN.sub("", plain), _BEFORE_CLOCK.sub("", plain)
    units = [UNIT.get(unit) for unit in _COUNTED.findall(in_digits(span))]
    if len(set(units)) < len(units):  # "5 minutes and 10 minutes" are two
        return ""
    if not in_digits(span).isdecimal() and read_delay(span) is not None:
        return span
    if not in_digits(clock).isdecimal() and read_alarm(clock, now) is not None:
        return clock
    bare = _BARE_CLOCK.sub("at ", digits) if alarm else ""
    return bare if bare != digits and bare and read_alarm(bare, now) else ""


def days_of(text: str) -> list[str]:
    """The words of a text that name a day or a part of one: "tomorrow", "evening"."""
    return [
        word
        for word in fold(text).split()
        if word in _DAYS and (len(word) >= SHORTEST_DAY or word in RELATIVE)
    ]
