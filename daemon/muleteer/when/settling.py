"""What a model wrote for a timer, held against the message: the message's words decide where they say it.

A small model takes a new timer for more time on another one, and loses a "pm". Knows one message and one
call; knows no timers that are set.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from muleteer.when.alarms import read_alarm
from muleteer.when.clocks import read_delay
from muleteer.when.labels import ALARMS, NAMELESS, TIMERS, UNSAID, read_meant
from muleteer.when.requests import EDGES, REMINDS, Request, clauses, cut_times, days_of, named, read_request
from muleteer.when.words import fold, listed

_AFTER_NOON = re.compile(
    r"\b(?:pm|afternoon|evening|tonight|abends?|nachmittags?|tarde|noche|soir|apres midi|pomeriggio|sera"
    r"|avonds?|middags?|noite|aksam)\b"
)
_TODAY = re.compile(
    r"\b(?:this (?:evening|afternoon)|tonight|heute (?:abend|nachmittag|nacht)|esta (?:tarde|noche)|ce soir"
    r"|cet apres midi|stasera|vanavond|hoje a noite)\b"
)
_PURPOSES = (
    re.compile(r"\b(?:for|f(?:\u00fc|ue)r|zum|zur|para|pour|per|voor)\s+(.+)", re.IGNORECASE),
    re.compile(r"(\w+)[ -](?:timer|alarm|wecker)\b", re.IGNORECASE),
)
_TELL = re.compile(r"^.*\btell me to\s+", re.IGNORECASE)
_JOINT = re.compile(r",? (?:and|und|y|e|et|ed|en|ve|as well as|sowie) |, ", re.IGNORECASE)
_BUT = re.compile(
    r"\b(?:not|dont|but|nicht|kein\w*|aber|sondern|no|pero|pas|mais|non|ma|niet|maar|nao|degil)\b"
)
_OBJECTS = listed("me us mich mir uns nos mi ci ons que che dat dass that thanks danke dran daran")
_ASKING = listed(
    "how much many long time left still have has got does do did running run set there any until till it ring"
    " rings remaining whats hows wie viel viele lange zeit noch hat haben lauft laufen gestellt gibt es"
    " klingelt cuanto cuanta cuantos falta faltan queda quedan tiempo hay que combien temps reste il t y a"
    " quanto quanta quanti manca mancano tempo resta rimane ci sono hoeveel lang nog heeft hebben loopt lopen"
    " er zijn tijd quantos faltam resta ainda ha ne kadar kaldi kac var hala sure"
)
MENTIONS = " and "  # between what is said of each of several
STEM = 4  # letters that the forms of a word have in common


def settled(message: str, given: Mapping[str, object], now: datetime) -> dict[str, object]:
    """The arguments of a call (`action`, `when`, `label`) as the message has them. `now` is naive local
    time."""
    when, label = (" ".join(str(given.get(name) or "").split()) for name in ("when", "label"))
    clause, request = _meant(message, when, label, now)
    action = request.action or given.get("action")
    if not request.action and action in ("cancel", "extend"):
        action = "list"  # neither is done without a word for it
    if action == "list":
        asked = () if read_meant(clause).every else (*named(request.rest), *request.times)
        return _without_empty(action=action, label=" ".join(word for word in asked if word not in _ASKING))
    if action == "set":
        when = _with_day(_chosen(request.times, when, now) or _after_noon(when, clause, now), clause, now)
        return _without_empty(action=action, when=when, label=_label(label, when, request, now))
    if action == "cancel" and (several := _several(message, now)):
        return {"action": action, "label": MENTIONS.join(several)}
    when = _chosen(request.times, when, now) or ("" if action == "cancel" else when)
    return _without_empty(action=action, when=when, label=_meant_label(label, clause, request, now))


def _without_empty(**arguments: object) -> dict[str, object]:
    return {name: value for name, value in arguments.items() if value}


def _meant(message: str, when: str, label: str, now: datetime) -> tuple[str, Request]:
    """The piece of the message that the call is about: with its time, else with its label, else the first."""
    pieces = [(piece, read_request(piece, now)) for piece in _pieces(message, now)]
    timed = [each for each in pieces if any(_same(time, when, now) for time in each[1].times)]
    called = [each for each in pieces if label and _is_said(label, each[0])]
    return [*timed, *called, *pieces][0]


def _pieces(message: str, now: datetime) -> list[str]:
    """The clauses, those of a new one without a time together with their neighbour: "set a timer for 10
    minutes and remind me to check the oven" is one request."""
    found = list[str]()
    for clause in clauses(message):
        if (
            found
            and _is_new(clause, now)
            and _is_new(found[-1], now)
            and not _all_timed(clause, found[-1], now)
        ):
            found[-1] += f" and {clause}"
        else:
            found.append(clause)
    return found


def _is_new(clause: str, now: datetime) -> bool:
    return read_request(clause, now).action == "set"


def _all_timed(clause: str, before: str, now: datetime) -> bool:
    return all(names_time(each, now) for each in (clause, before))


def names_time(text: str, now: datetime) -> bool:
    """Whether a text names a time, a span or a day."""
    return bool(cut_times(text, now)[0] or days_of(text))


def _chosen(times: Sequence[str], when: str, now: datetime) -> str:
    """The one time that was named; of several the one that is meant by `when`."""
    if len(times) == 1:
        return times[0]
    return next((time for time in times if _same(time, when, now)), when if times else "")


def _same(time: str, when: str, now: datetime) -> bool:
    """Whether two times may be the same: a model may have lost the day, or the half of it."""
    if when.isdecimal() and read_delay(time) is None:
        when = f"at {when}"
    if (span := read_delay(time)) is not None or read_delay(when) is not None:
        return span == read_delay(when)
    first, second = read_alarm(time, now), read_alarm(when, now)
    return first is not None and second is not None and _on_dial(first.at) == _on_dial(second.at)


def _on_dial(at: datetime) -> tuple[int, int]:
    return at.hour % 12, at.minute


def _after_noon(when: str, clause: str, now: datetime) -> str:
    """A time that could only be read as the model wrote it, with the half of the day that was said."""
    alarm = read_alarm(when, now)
    if alarm is None or alarm.at.hour >= 12 or not _AFTER_NOON.search(fold(clause)):
        return when
    later = f"{when} pm"
    return later if read_alarm(later, now) else when


def _with_day(when: str, clause: str, now: datetime) -> str:
    """With a day that stands apart from the time, before it: "remind me tomorrow to call Anna at 6 pm"."""
    if read_delay(when) is not None or read_alarm(when, now) is None or days_of(when):
        return when
    if _TODAY.search(fold(clause)) and read_alarm(f"{when} tonight", now):
        return f"{when} tonight"
    before = fold(clause).partition(when)[0]
    dated = " ".join((*days_of(before), when))
    return dated if read_alarm(dated, now) else when


def _label(label: str, when: str, request: Request, now: datetime) -> str:
    """The model's label without times, if it was said; else what the message names, if its time is known."""
    bare = _trimmed(cut_times(label, now)[1], when, request.reminds)
    if bare and _is_said(bare, request.rest):
        return bare
    if not request.times:
        return ""
    if request.reminds:
        return _trimmed(request.rest, when, reminds=True)
    found = [purpose[1] for each in _PURPOSES if (purpose := each.search(request.rest))] if bare else []
    return next((name for each in found if (name := _trimmed(each, when, reminds=False))), "")


def _meant_label(label: str, clause: str, request: Request, now: datetime) -> str:
    """What says which one is meant: all of them, their kind, and words that were said."""
    meant = read_meant(clause)
    said = {word[:STEM] for word in named(request.rest)}
    words = [word for word in named(cut_times(label, now)[1]) if word[:STEM] in said]
    both = not meant.kind and len(_words(clause) & (ALARMS | TIMERS)) > 1  # "the alarm, not the timer"
    kind = read_meant(label).kind if both else meant.kind
    which = ("all" if meant.every else "", kind, *(words or named(request.rest)))
    return " ".join(word for word in which if word)


def _several(message: str, now: datetime) -> list[str]:
    """What is said of each of several that are to be cancelled: "timer pasta", "alarm 7:00"; none where the
    message speaks of one, or of something else as well."""
    if _BUT.search(fold(message)):
        return []
    pieces = [each for each in _JOINT.split(message) if each.strip(" ,.!")]
    actions = {read_request(clause, now).action for clause in clauses(message)}
    if len(pieces) < 2 or actions != {"cancel"}:
        return []
    found = [_mention(piece, now) for piece in pieces]
    return found if all(found) else []


def _mention(piece: str, now: datetime) -> str:
    meant, request = read_meant(piece), read_request(piece, now)
    words = named(request.rest)
    return " ".join(filter(None, ("all" if meant.every else "", meant.kind, *words, *request.times)))


def _trimmed(text: str, when: str, reminds: bool) -> str:
    """What names it in a request: "remind me to call Anna" is "call Anna"; no day that `when` has. What
    somebody is reminded of may be an order itself, which stays whole: "turn off the oven"."""
    if not named(text):
        return ""
    words = _TELL.sub("", text).split()
    if reminds:
        verb = next((n for n, word in enumerate(words) if REMINDS.search(fold(word))), -1)
        words = words[verb + 1 :]
    empty = (UNSAID | _OBJECTS if reminds else NAMELESS) | EDGES | set(days_of(when))
    while words and _words(words[0]) <= empty:
        del words[0]
    while words and _words(words[-1]) <= empty:
        del words[-1]
    return " ".join(words).strip(" .,;!?\"'")


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", fold(text)))


def _is_said(label: str, text: str) -> bool:
    """Whether every word of a label is one of a text's, in whatever form."""
    stems, words = {word[:STEM] for word in _words(text)}, named(label)
    return bool(words) and all(word[:STEM] in stems for word in words)
