"""What in a request for a timer names it: "wake me at 7 to water the plants" is for "water the plants".

Knows the words of such requests in seven languages. Knows no timers, and not what is set.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from muleteer.when.alarms import read_alarm
from muleteer.when.clocks import read_delay
from muleteer.when.words import fold, listed

TIMERS = listed(
    "timer timers countdown temporizador temporizadores minuteur minuterie kookwekker cronometro "
    "zamanlayıcı zamanlayıcıyı zamanlayıcısı zamanlayıcısını zamanlayıcıları zamanlayıcılar"
)
ALARMS = listed(
    "alarm alarms wecker alarma alarmas alarme alarmes reveil sveglia sveglie wekker despertador "
    "alarmı alarmi alarmını alarmlar alarmları"
)
_ALL = listed("all alle everything every todos todas tous toutes tutti tutte alles hepsini")
UNSAID = listed(
    "the my our a an that this it one for at now please running set der die das den dem des mein meine "
    "meinen bitte el la los las un una mi le les l mon ma il lo i gli mio mia de het een mijn o "
    "os minha meu for"
)
ORDERS = listed(
    "cancel stop delete turn switch shut off remove clear end kill losche loschen stopp stoppe stell "
    "stelle schalt schalte mach mache ab aus weg beende annule annuler arrete supprime eteins cancela "
    "cancelar para annuleer wis schrap "
    "quita borra apaga cancella annulla ferma spegni verwijder zet uit stoppen desliga iptal et kapat sil "
    "set start create make add put wake weck wecke remind erinnere reminder erinnerung"
)
MORE = re.compile(
    r"\b(?:more|another|extra|additional|longer|later|on top|weitere[rn]?|mehr|noch|langer|spater|dazu"
    r"|mas|otros?|otras?|de plus|encore|altri|altre|in piu|ancora|meer|nog|langer|mais|daha)\b"
)
_POLITE = listed(
    "brauche reminding about loschen stoppen abbrechen beenden abstellen ausschalten ausmachen stornieren "
    "can could would will you kindly du kannst konntest me mir mich us uns thanks thank danke hey ok okay "
    "i ich "
    "erinner losch loesch einen another new neue neuen dont doesnt extra mas langer uhr oclock want need "
    "to no not nicht kein keine keinen any longer more mehr anymore up down add give gib gebe noch and "
    "und also auch then dann extend lengthen verlangere verlangern mal doch minute minutes minuten how "
    "long wie "
    "lange is are ist sind left what which when was welche wann s brich storniere entferne abort dismiss "
    "disable silence drop forget get rid let know tell bescheid sag mas minutos encore altri ancora nog"
)
_LEAD = re.compile(
    r"^(?:(?:please|bitte|can you|could you|kannst du|so|and|und)\s+)*"
    r"(?:(?:set|start|create|make|add|put|stelle?|setze?|mach|pon|mets|metti|zet)\s+"
    r"|wake me(?: up)?\s+|weck mich\s+|remind (?:me|us)\s+|erinnere mich\s+|count down\s+|despi[eé]rtame\s+"
    r"|recu[eé]rdame\s+|r[eé]veille-moi\s+|rappelle-moi\s+|svegliami\s+|ricordami\s+|maak me wakker\s+)?"
    r"(?:(?:an?|the|my|einen|eine|den|die|un|une|una|een)\s+)?"
    r"(?:(?:timer|alarm|wecker|countdown|reminder|erinnerung|alarma|temporizador|minuteur|r[eé]veil|sveglia"
    r"|wekker)\b\s*)?",
    re.IGNORECASE,
)
_BETWEEN = re.compile(
    r"\s+(?:for|to|that|f[uü]r|zum|zur|an|para|pour|de|per|di|voor|om|at|um|in|on|am|a|tra)\s+"
)
_WORDS_BEFORE = re.compile(
    r"^(?:for|of|to|at|in|on|um|am|von|f[uü]r|auf|para|de|pour|per|di|van|voor)\s+", re.IGNORECASE
)

# Words that name no timer in any message about one.
NAMELESS = TIMERS | ALARMS | _ALL | UNSAID | ORDERS | _POLITE


@dataclass(frozen=True, slots=True)
class Meant:
    """Which timers somebody speaks of: of what kind (any if empty), all of them or one, and by what words."""

    kind: Literal["", "timer", "alarm"]
    every: bool
    words: frozenset[str]


def read_meant(said: str) -> Meant:
    """What "cancel the alarm for the eggs" says of the one that is meant."""
    words = set(re.findall(r"\w+", fold(said))) - UNSAID - ORDERS
    timer, alarm = bool(words & TIMERS), bool(words & ALARMS)
    kind: Literal["", "timer", "alarm"] = "" if timer == alarm else "timer" if timer else "alarm"
    return Meant(kind, bool(words & _ALL), frozenset(words - TIMERS - ALARMS - _ALL))


def read_more(said: str) -> str:
    """The span of "ten more minutes"; empty where no more is asked for."""
    folded = fold(said)
    return " ".join(MORE.sub(" ", folded).split()) if MORE.search(folded) else ""


def apart(when: str, label: str, now: datetime) -> tuple[str, str]:
    """When, and what names it, however the two were given: "timer 10 minutes for the eggs"."""
    if not when:
        when, label = label, ""
    if not _is_time(when, now):
        when, found = _split(when, now)
        label = label or found
    return when, _name(label, when, now)


def _name(label: str, when: str, now: datetime) -> str:
    """Of a label that may be a whole command, what names it."""
    text = _LEAD.sub("", label.strip(" .,!?\"'"))
    plain = _WORDS_BEFORE.sub("", text)
    words = set(re.findall(r"\w+", fold(plain))) - UNSAID - ORDERS - TIMERS - ALARMS
    if not words or words <= set(re.findall(r"\w+", fold(when))) or _is_time(plain, now):
        return ""
    return _split(text, now)[1] or text


def _split(said: str, now: datetime) -> tuple[str, str]:
    """The time in a request, and what is left of it; as it is, and nothing, where there is no time."""
    said = _LEAD.sub("", said)
    for found in _BETWEEN.finditer(f" {said}"):
        first, rest = said[: max(0, found.start() - 1)], said[found.end() - 1 :]
        if first and _is_time(bare := _WORDS_BEFORE.sub("", first), now):
            return bare, rest
        if first and _is_time(rest, now):
            return rest, _WORDS_BEFORE.sub("", first)
    return _WORDS_BEFORE.sub("", said) if _is_time(_WORDS_BEFORE.sub("", said), now) else said, ""


def _is_time(said: str, now: datetime) -> bool:
    return read_delay(said) is not None or read_alarm(said, now) is not None
