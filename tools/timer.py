"""Set, list and cancel timers and alarms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Literal

from muleteer.tool import (
    Data,
    MissedTimer,
    PendingTimer,
    PendingTimers,
    Result,
    Services,
    read_alarm,
    read_delay,
    say_day,
    say_delay,
    tool,
)

LONGEST_LABEL = 100  # characters; it is read aloud
LONGEST = timedelta(days=366)
UNCLEAR = 'I do not know when that is. Say a span such as "10 minutes" or a time such as "tomorrow 7:30".'
# What a request begins with before it says when.
LEAD = re.compile(
    r"^(?:please |bitte )?(?:set |start |stelle? |weck mich |wake me |remind me )?(?:up )?"
    r"(?:an? |the |einen |den )?(?:timer |alarm |wecker |countdown )?",
    re.IGNORECASE,
)
EVERYTHING = frozenset(("all", "alle", "everything", "todos", "tous"))
COUNTDOWNS = frozenset(("timer", "timers"))
ALARMS = frozenset(("alarm", "alarms", "wecker"))
UNSAID = frozenset(("the", "my", "for", "now", "der", "die", "das", "den", "meinen"))
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@tool(
    effect="write",
    signature="timer(action, when, label)",
    craft="The action is set, list or cancel. When is the span or time in the user's own words, such as "
    "8 minutes, 6:45, tomorrow 7 am or weekdays 6:30; leave it empty to list or to cancel by label. The "
    "label is what it is for, in one to four words; leave it empty if nothing is named.",
    examples=(
        "timer for 8 minutes for the pasta",
        "Wecker auf halb sieben",
        "wake me at 6:45 on weekdays",
        "how long is left on the oven",
        "stop the laundry timer",
        "remind me at 5 pm to water the plants",
        "set an alarm for tomorrow at 9",
        "count down three minutes",
        "remind me to take the cake out in 40 minutes",
        "cancel all alarms",
        "stell einen Timer auf zwölf Minuten",
        "despiértame a las ocho",
        "recuérdame en media hora que llame a Ana",
        "pon un temporizador de 15 minutos",
        "réveille-moi demain à sept heures",
        "rappelle-moi dans dix minutes de sortir le pain",
        "svegliami alle sei",
        "ricordami tra un'ora di chiamare mamma",
        "saat yedide beni uyandır",
        "beş dakikaya alarm kur",
        "erinnere mich um acht an die Tabletten",
        "maak me wakker om zes uur",
        "herinner me over een kwartier aan de was",
        "alarm at 6",
        "how long until it rings",
        "in an hour, tell me to call the bank",
        "turn off the alarm",
        "let me know in 15 minutes",
        "wake me tomorrow at 7",
        "six minutes for the eggs",
        "Timer 20 Minuten",
        "weck mich um sechs",
        "stell den Wecker ab",
        "sag mir in einer Stunde Bescheid",
        "erinnere mich morgen früh an den Müll",
        "welche Wecker sind gestellt",
        "alarma a las 6",
        "cancela el temporizador",
        "annule le réveil",
        "minuteur 10 minutes",
        "timer di cinque minuti",
        "which timers are running",
    ),
)
async def timer(
    home: Services, action: Literal["set", "list", "cancel"], when: str = "", label: str = ""
) -> Result:
    """Set, list or cancel a timer or an alarm. Use it to be reminded after a while or at a time.

    action: what to do
    when: how long from now, or at what time
    label: what it is for
    """
    when, label = " ".join(when.split()), " ".join(label.split())[:LONGEST_LABEL]
    try:
        if action == "list":
            return await _list(home, datetime.now())
        if action == "cancel":
            return await _cancel(home, when, label, datetime.now())
        return await _set(home, when, label, datetime.now())
    except ValueError as error:  # too many
        return Result.error(str(error))
    except OSError as error:
        failed = "I could not look at the timers" if action == "list" else "Nothing was changed"
        return Result.unavailable(f"{failed}: {error}")


async def _set(home: Services, when: str, label: str, now: datetime) -> Result:
    when, label = _apart(when or label, "" if not when else label, now)
    delay = read_delay(when)
    if delay is not None:
        if not timedelta() < delay <= LONGEST:
            return Result.error("A timer runs for a second to a year. Say how long.")
        made = await home.timers.set_timer(delay.total_seconds(), label)
        return _made(
            f"The timer for {say_delay(delay, 4)}{_for(label)} is set; it rings {_when(made, now)}.", made
        )
    alarm = read_alarm(when, now)
    if alarm is None:
        return Result.error(UNCLEAR)
    if alarm.at - now > LONGEST:
        return Result.error("An alarm can be at most a year away. Say an earlier day.")
    made = await home.timers.set_alarm(alarm.at, alarm.repeat, label)
    again = f" {_again(made)}, first" if made.repeat else ""
    return _made(f"The alarm{_for(label)} is set{again} {_when(made, now)}.", made)


def _apart(when: str, label: str, now: datetime) -> tuple[str, str]:
    """When and label, where both were given as one: "timer 10 minutes for the eggs"."""
    if _is_time(when, now):
        return when, label
    when = LEAD.sub("", when)
    for found in re.finditer(r"\s+(?:for|to|f[uü]r|zum|para|pour)\s+", when):
        first, rest = when[: found.start()], when[found.end() :]
        if _is_time(first, now):
            return first, label or rest[:LONGEST_LABEL]
    return when, label


def _is_time(said: str, now: datetime) -> bool:
    return read_delay(said) is not None or read_alarm(said, now) is not None


async def _list(home: Services, now: datetime) -> Result:
    pending = await home.timers.pending()
    said = _listed(pending, now)
    if pending.missed:
        with suppress(OSError):  # it is told again next time
            await home.timers.told(pending.missed)
    return said


def _listed(pending: PendingTimers, now: datetime) -> Result:
    missed, more = _missed(pending.missed, now), _unreadable(pending)
    if not pending.timers and more:
        return Result.unavailable(f"{missed}{more}")
    if not pending.timers:
        nothing = "No timer or alarm is set."
        return Result.ok(f"{missed}{nothing}", Data({"timers": []})) if missed else Result.empty(nothing)
    said = "; ".join(_said(each, now) for each in pending.timers)
    many = "One is" if len(pending.timers) == 1 else f"{len(pending.timers)} are"
    return Result.ok(
        f"{missed}{many} set: {said}. {more}".rstrip(),
        Data({"timers": [_values(each) for each in pending.timers]}),
    )


async def _cancel(home: Services, when: str, label: str, now: datetime) -> Result:
    there = await home.timers.pending()
    pending = there.timers
    if not pending and there.unreadable:
        return Result.unavailable(_unreadable(there))
    if not pending:
        return Result.empty("No timer or alarm is set, so there is none to cancel.")
    wanted = [each for each in pending if _fits(each, when, label, now)]
    if not wanted:
        said = "; ".join(_said(each, now) for each in pending)
        return Result.empty(f'There is no timer or alarm "{label or when}". Set: {said}.')
    if len(wanted) > 1 and not EVERYTHING & set(f"{label} {when}".lower().split()):
        said = "; ".join(_said(each, now) for each in wanted)
        return Result.error(f"Several are meant: {said}. Say which, or all.")
    gone = await home.timers.cancel([each.id for each in wanted])
    if not gone:
        return Result.empty("It rang just now, so there is none to cancel.")
    return Result.ok(
        f"Cancelled: {'; '.join(_name(each) for each in gone)}.", Data({"cancelled": [e.id for e in gone]})
    )


def _fits(each: PendingTimer, when: str, label: str, now: datetime) -> bool:
    """Whether it may be the one that is meant."""
    return all(_is_meant(each, said, now) for said in (label, when))


def _is_meant(each: PendingTimer, said: str, now: datetime) -> bool:
    """By its kind, label, number, length or time; nothing said fits all."""
    words = set(re.findall(r"\w+", said.lower())) - UNSAID
    if words & (ALARMS if each.seconds else COUNTDOWNS):
        return False
    words -= COUNTDOWNS | ALARMS
    if words <= EVERYTHING or words <= set(re.findall(r"\w+", each.label.lower())):
        return True
    delay, alarm = read_delay(said), read_alarm(said, now)
    if delay is not None and delay.total_seconds() == each.seconds:
        return True
    return said == str(each.id) or (alarm is not None and f"{alarm.at:%H:%M}" == f"{each.due:%H:%M}")


def _made(text: str, made: PendingTimer) -> Result:
    return Result.ok(text, Data(_values(made)))


def _values(each: PendingTimer) -> dict[str, object]:
    due = each.due.isoformat(timespec="seconds")
    repeat = [WEEKDAYS[day] for day in sorted(each.repeat)]
    return {"id": each.id, "label": each.label, "due": due, "left_s": round(each.left), "repeat": repeat}


def _missed(missed: Sequence[MissedTimer], now: datetime) -> str:
    if not missed:
        return ""
    said = "; ".join(f"{each.label or 'one without a label'}, due {_day(each.due, now)}" for each in missed)
    return f"Missed while this device was off or asleep: {said}. "


def _unreadable(pending: PendingTimers) -> str:
    if not pending.unreadable:
        return ""
    more = "more " if pending.timers else ""
    one = pending.unreadable == 1
    return (
        f"{'One' if one else pending.unreadable} {more}{'is' if one else 'are'} damaged and cannot be read."
    )


def _said(each: PendingTimer, now: datetime) -> str:
    """ "the timer for pasta in 5 minutes"."""
    if each.seconds:
        return f"{_name(each)} in {say_delay(timedelta(seconds=each.left))}"
    return f"{_name(each)} {_again(each) + ', next ' if each.repeat else ''}{_when(each, now)}"


def _name(each: PendingTimer) -> str:
    if each.seconds:
        return f"the timer for {each.label or say_delay(timedelta(seconds=each.seconds))}"
    return f"the alarm{_for(each.label)}{'' if each.label else f' at {each.due:%H:%M}'}"


def _for(label: str) -> str:
    return f' for "{label}"' if label else ""


def _again(each: PendingTimer) -> str:
    days = sorted(each.repeat)
    if len(days) == 7:
        return "every day"
    if days == [0, 1, 2, 3, 4]:
        return "on weekdays"
    return "every " + " and ".join(WEEKDAYS[day] for day in days)


def _when(each: PendingTimer, now: datetime) -> str:
    return _day(each.due, now)


def _day(due: datetime, now: datetime) -> str:
    near = {0: "", 1: "tomorrow ", -1: "yesterday "}.get((due.date() - now.date()).days)
    day = f"on {say_day(due.date(), now.date())} " if near is None else near
    return f"{day}at {due:%H:%M}"
