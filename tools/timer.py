"""Set, list and cancel timers and alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal

from muleteer.tool import (
    Data,
    Meant,
    MissedTimer,
    PendingTimer,
    PendingTimers,
    Result,
    Services,
    apart,
    cut_times,
    each_said,
    joined,
    read_alarm,
    read_delay,
    read_meant,
    read_more,
    say,
    say_day,
    say_delay,
    settled,
    tool,
)

LONGEST_LABEL = 100  # characters; it is read aloud
LONGEST = timedelta(days=366)
UNCLEAR = say(
    'I do not know when that is. Say a span such as "10 minutes" or a time such as "tomorrow 7:30".'
)
NONE_SET = say("No timer or alarm is set.")
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def as_said(message: str, arguments: Mapping[str, object]) -> Mapping[str, object]:
    """What a model wrote, as the message has it."""
    return settled(message, arguments, datetime.now())


def each_alone(message: str) -> Sequence[str]:
    """The message of each timer, where it is about several with a time each."""
    return each_said(message, datetime.now())


@tool(
    effect="write",
    signature="timer(action, when, label)",
    exact=("when",),
    settled=as_said,
    several=each_alone,
    craft="The action is set, list, cancel, or extend for more time on one that runs. When is the span or "
    "time in the user's own words, such as 8 minutes, 6:45, tomorrow 7 am or weekdays 6:30; leave it empty "
    "to list or to cancel by label. The label is what it is for, in one to four words; leave it empty if "
    "nothing is named.",
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
        "ten more minutes",
        "give the eggs two minutes longer",
        "noch fünf Minuten",
        "erinnere mich um acht an die Tabletten",
        "cinco minutos más",
        "encore cinq minutes",
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
    home: Services, action: Literal["set", "extend", "list", "cancel"], when: str = "", label: str = ""
) -> Result:
    """Set, extend, list or cancel a timer or an alarm. Use it to be reminded after a while or at a time.

    action: what to do
    when: how long from now, or at what time
    label: what it is for
    """
    now, when, label = datetime.now(), " ".join(when.split()), " ".join(label.split())[:LONGEST_LABEL]
    more = read_more(when) or (read_more(label) if not when else "")
    try:
        if action == "list":
            return await _list(home, label, now)
        if action == "cancel":
            return await _cancel(home, when, label, now)
        if action == "extend" or read_delay(more) is not None:
            return await _extend(home, more or when or label, label if when else "", now)
        return await _set(home, when, label, now)
    except ValueError as error:  # too many
        return Result.error(str(error))
    except OSError as error:
        failed = "I could not look at the timers" if action == "list" else "Nothing was changed"
        return Result.unavailable(say(f"{failed}: {{why}}", why=str(error)))


async def _set(home: Services, when: str, label: str, now: datetime) -> Result:
    when, label = apart(when, label, now)
    delay = read_delay(when)
    if delay is not None:
        if not timedelta() < delay <= LONGEST:
            return Result.error(say("A timer runs for a second to a year. Say how long."))
        made = await home.timers.set_timer(delay.total_seconds(), label)
        values = {"span": say_delay(delay, 4), "for_": _for(label), "at": _when(made, now)}
        return _made(say("The timer for {span}{for_} is set; it rings {at}.", **values), made)
    alarm = read_alarm(when, now)
    if alarm is None:
        return Result.error(UNCLEAR)
    if alarm.at - now > LONGEST:
        return Result.error(say("An alarm can be at most a year away. Say an earlier day."))
    made = await home.timers.set_alarm(alarm.at, alarm.repeat, label)
    values = {"for_": _for(label), "at": _when(made, now), "again": _again(made)}
    pattern = "The alarm{for_} is set {again}, first {at}." if made.repeat else "The alarm{for_} is set {at}."
    return _made(say(pattern, **values), made)


async def _extend(home: Services, more: str, label: str, now: datetime) -> Result:
    """The one countdown that is meant rings later."""
    delay, there = read_delay(more), await home.timers.pending()
    running = [each for each in there.timers if each.seconds]
    if delay is None or delay <= timedelta():
        return Result.error(say("Say by how much longer, such as ten minutes."))
    if not running:
        if there.unreadable:
            return Result.unavailable(_unreadable(there))
        return Result.empty(say("No timer is running that could be made longer."))
    named = [each for each in running if label and _fits(each, "", label, now)]
    wanted = named or running
    if len(wanted) > 1:
        said = joined("; ", [_said(each, now) for each in wanted])
        return Result.error(say("Several are running: {them}. Say which.", them=said))
    if timedelta(seconds=wanted[0].left) + delay > LONGEST:
        return Result.error(say("A timer runs for a second to a year. Say how long."))
    made = await home.timers.lengthen(wanted[0].id, delay.total_seconds())
    if made is None:
        return Result.empty(say("It rang just now, so it cannot be made longer."))
    values = {"timer": _name(wanted[0]), "span": say_delay(delay, 4), "at": _when(made, now)}
    return _made(say("{span} more for {timer}; it rings {at}.", **values), made)


async def _list(home: Services, label: str, now: datetime) -> Result:
    """Those that are asked for by a name or a time; where none is, all."""
    pending = await home.timers.pending()
    asked = tuple(each for each in pending.timers if _is_asked(each, label, now))
    said = _listed(replace(pending, timers=asked) if asked else pending, now)
    if pending.missed:
        with suppress(OSError):  # it is told again next time
            await home.timers.told(pending.missed)
    return said


def _is_asked(each: PendingTimer, label: str, now: datetime) -> bool:
    times, words = cut_times(label, now)
    said = read_meant(words).words & read_meant(each.label).words
    return bool(said) or any(_is_meant(each, read_meant(time), time, now) for time in times)


def _listed(pending: PendingTimers, now: datetime) -> Result:
    missed, more = _missed(pending.missed, now), _unreadable(pending)
    if not pending.timers and more:
        return Result.unavailable(joined(" ", (missed, more)))
    if not pending.timers:
        said = joined(" ", (missed, NONE_SET))
        return Result.ok(said, Data({"timers": []})) if missed else Result.empty(NONE_SET)
    many = len(pending.timers)
    them = joined("; ", [_said(each, now) for each in pending.timers])
    listed = say("One is set: {them}." if many == 1 else "{many} are set: {them}.", many=many, them=them)
    values = [_values(each) for each in pending.timers]
    return Result.ok(joined(" ", (missed, listed, more)), Data({"timers": values}))


async def _cancel(home: Services, when: str, label: str, now: datetime) -> Result:
    there = await home.timers.pending()
    pending = there.timers
    if not pending and there.unreadable:
        return Result.unavailable(_unreadable(there))
    if not pending:
        return Result.empty(say("No timer or alarm is set, so there is none to cancel."))
    if several := _each_named(pending, label, now):
        return await _cancelled(home, several)
    label = cut_times(label.replace(" and ", " "), now)[1] or label
    wanted = [each for each in pending if _fits(each, when, label, now)]
    if not wanted:
        said = joined("; ", [_said(each, now) for each in pending])
        if _none_of_kind(kind := read_meant(f"{label} {when}").kind, pending):
            none = "No timer is set. Set: {them}." if kind == "timer" else "No alarm is set. Set: {them}."
            return Result.empty(say(none, them=said))
        pattern = 'There is no timer or alarm "{name}". Set: {them}.'
        return Result.empty(say(pattern, name=label or when, them=said))
    if len(wanted) > 1 and not read_meant(f"{label} {when}").every:
        said = joined("; ", [_said(each, now) for each in wanted])
        return Result.error(say("Several are meant: {them}. Say which, or all.", them=said))
    return await _cancelled(home, wanted)


def _each_named(pending: Sequence[PendingTimer], label: str, now: datetime) -> list[PendingTimer]:
    """Those that "timer pasta and alarm 7:00" speaks of, if each part of it is exactly one of them."""
    found: list[PendingTimer] = []
    for part in label.split(" and ") if " and " in label else ():
        times, rest = cut_times(part, now)
        meant = [each for each in pending if all(_fits(each, "", said, now) for said in (rest, *times))]
        if len(meant) != 1:
            return []
        found += [each for each in meant if each not in found]
    return found


async def _cancelled(home: Services, wanted: Sequence[PendingTimer]) -> Result:
    gone = await home.timers.cancel([each.id for each in wanted])
    if not gone:
        return Result.empty(say("It rang just now, so there is none to cancel."))
    them = joined("; ", [_name(each) for each in gone])
    return Result.ok(say("Cancelled: {them}.", them=them), Data({"cancelled": [each.id for each in gone]}))


def _none_of_kind(kind: str, pending: Sequence[PendingTimer]) -> bool:
    return bool(kind) and all((kind == "timer") != bool(each.seconds) for each in pending)


def _fits(each: PendingTimer, when: str, label: str, now: datetime) -> bool:
    """Whether it may be the one that is meant."""
    return all(_is_meant(each, read_meant(said), said, now) for said in (label, when))


def _is_meant(each: PendingTimer, meant: Meant, said: str, now: datetime) -> bool:
    """By its kind, label, number, length or time; nothing said fits all."""
    if meant.kind and (meant.kind == "timer") != bool(each.seconds):
        return False
    if meant.words <= read_meant(each.label).words:
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
    each = [
        say("{name}, due {at}", name=one.label or say("one without a label"), at=_day(one.due, now))
        for one in missed
    ]
    return say("Missed while this device was off or asleep: {them}.", them=joined("; ", each))


def _unreadable(pending: PendingTimers) -> str:
    if not pending.unreadable:
        return ""
    more = "more " if pending.timers else ""
    if pending.unreadable == 1:
        return say(f"One {more}is damaged and cannot be read.")
    return say(f"{{many}} {more}are damaged and cannot be read.", many=pending.unreadable)


def _said(each: PendingTimer, now: datetime) -> str:
    """ "the timer for pasta in 5 minutes"."""
    if each.seconds:
        return say("{name} in {span}", name=_name(each), span=say_delay(timedelta(seconds=each.left)))
    if each.repeat:
        return say("{name} {again}, next {at}", name=_called(each), again=_again(each), at=_when(each, now))
    return say("{name} {at}", name=_called(each), at=_when(each, now))


def _name(each: PendingTimer) -> str:
    if each.seconds:
        return say("the timer for {what}", what=each.label or say_delay(timedelta(seconds=each.seconds)))
    if each.label:
        return say('the alarm for "{label}"', label=each.label)
    return say("the alarm at {time}", time=f"{each.due:%H:%M}")


def _called(each: PendingTimer) -> str:
    """An alarm beside the time it rings at, which is said once."""
    return _name(each) if each.label else say("the alarm")


def _for(label: str) -> str:
    return say(' for "{label}"', label=label) if label else ""


def _again(each: PendingTimer) -> str:
    days = sorted(each.repeat)
    if len(days) == 7:
        return say("every day")
    if days == [0, 1, 2, 3, 4]:
        return say("on weekdays")
    return say("every {days}", days=joined(", ", [say(WEEKDAYS[day]) for day in days]))


def _when(each: PendingTimer, now: datetime) -> str:
    return _day(each.due, now)


def _day(due: datetime, now: datetime) -> str:
    time = f"{due:%H:%M}"
    near = {0: "at {time}", 1: "tomorrow at {time}", -1: "yesterday at {time}"}
    if pattern := near.get((due.date() - now.date()).days):
        return say(pattern, time=time)
    return say("on {day} at {time}", day=say_day(due.date(), now.date()), time=time)
