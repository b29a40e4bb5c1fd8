"""Messages about timers through the harness over real timers, with a model that writes the wrong call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.ringing import DeviceTimers
from muleteer.services import Absent, Services
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.store.timers import TimerStore
from muleteer.toolbox import Toolbox
from tests.harness.scripted import Choose, Fill, ScriptedBrain
from tools.timer import timer


class Kitchen:
    """A device whose model always picks the timer, and calls it as the test says."""

    def __init__(self, timers: DeviceTimers) -> None:
        self.timers = timers
        toolbox = Toolbox.of([timer], Services(Absent("no notes"), timers=timers))
        self.catalogue = Catalogue({}, toolbox)

    async def ask(self, message: str, language: str = "en", plans: int = 1, **written: object) -> str:
        brain = ScriptedBrain(*[Choose({"timer": 1.0})] * plans, *[Fill(written)] * 3)
        run = Harness(brain, self.catalogue, Budgets(), language=language).run(message)
        *_, last = [event async for event in run]
        assert isinstance(last, TurnFinished), last
        return last.answer

    async def labels(self) -> list[str]:
        return sorted(each.label for each in (await self.timers.pending()).timers)

    async def three(self) -> None:
        for label, seconds in (("pasta", 1463.5), ("tea", 300.5), ("laundry", 2400.5)):
            await self.timers.set_timer(seconds, label)

    async def lengths(self) -> dict[str, float]:
        return {each.label: each.seconds for each in (await self.timers.pending()).timers}


@pytest.fixture
async def kitchen(tmp_path: Path) -> AsyncIterator[Kitchen]:
    timers = DeviceTimers(TimerStore(tmp_path / "timers.db"), Broadcast(), Chime((), 1.0))
    yield Kitchen(timers)
    await timers.close()


@pytest.mark.parametrize("action", ["set", "extend", "cancel", "list"])
@pytest.mark.parametrize(
    ("message", "hour", "minute"),
    [
        ("remind me at 6 pm to call Anna", 18, 0),
        ("Erinnere mich um 6 Uhr abends an Anna", 18, 0),
        ("Weck mich um 7 Uhr", 7, 0),
        ("Weck mich morgen um 6:30 Uhr", 6, 30),
        ("Weck mich um halb sieben", 6, 30),
        ("Stell einen Wecker fuer morgen frueh um sechs", 6, 0),
    ],
)
async def test_an_alarm_is_set_at_the_time_that_was_said(
    kitchen: Kitchen, message: str, hour: int, minute: int, action: str
) -> None:
    await kitchen.three()
    await kitchen.ask(message, action=action, when="tomorrow 5:00", label="invented")
    (alarm,) = [each for each in (await kitchen.timers.pending()).timers if not each.seconds]
    assert (alarm.due.hour, alarm.due.minute) == (hour, minute)
    assert alarm.label in ("", "Anna", "call Anna")


@pytest.mark.parametrize("action", ["set", "extend", "cancel", "list"])
@pytest.mark.parametrize(
    ("message", "minutes", "label"),
    [
        ("Erinnere mich in 5 Minuten an den Tee", 5, "Tee"),
        ("remind me in 20 minutes to take out the laundry", 20, "take out the laundry"),
        ("Erinner mich in 20 Minuten an die Waesche", 20, "Waesche"),
    ],
)
async def test_a_reminder_touches_no_other_timer(
    kitchen: Kitchen, message: str, minutes: int, label: str, action: str
) -> None:
    await kitchen.three()
    before = await kitchen.lengths()
    await kitchen.ask(message, action=action, when=f"{minutes} minutes", label="pasta")
    assert await kitchen.lengths() == before | {label: minutes * 60}


@pytest.mark.parametrize(
    ("message", "language"), [("10 more minutes please", "en"), ("noch zehn Minuten", "de")]
)
@pytest.mark.parametrize("action", ["set", "extend", "cancel", "list"])
async def test_more_minutes_ask_which_where_several_run(
    kitchen: Kitchen, message: str, language: str, action: str
) -> None:
    await kitchen.three()
    before = await kitchen.lengths()
    answer = await kitchen.ask(message, language, action=action, when="10 minutes", label="pasta")
    assert await kitchen.lengths() == before
    assert answer.startswith("Several are running: " if language == "en" else "Es laufen mehrere: ")


@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("cancel the pasta timer", ["alarm", "laundry", "tea"]),
        ("cancel the pasta", ["alarm", "laundry", "tea"]),
        ("Lösch den Timer für pasta", ["alarm", "laundry", "tea"]),
        ("cancel all timers", ["alarm"]),
        ("lösche alle Timer", ["alarm"]),
        ("cancel everything", []),
    ],
)
async def test_cancelling_finds_what_was_said_whatever_of_the_list_the_model_copied(
    kitchen: Kitchen, message: str, left: list[str]
) -> None:
    await kitchen.three()
    await kitchen.timers.set_alarm(datetime.now() + timedelta(hours=3), frozenset(), "alarm")
    copied = "pasta in 24 minutes 23 seconds"
    await kitchen.ask(message, action="cancel", when="24 minutes 23 seconds", label=copied)
    assert await kitchen.labels() == left


@pytest.mark.parametrize("label", ["pasta", "", "laundry"])
@pytest.mark.parametrize(
    ("message", "left"),
    [
        ("cancel the pasta timer and the tea timer", ["laundry"]),
        ("cancel the pasta timer and the rice timer", ["laundry", "pasta", "tea"]),
    ],
)
async def test_several_are_cancelled_in_one_breath_or_none(
    kitchen: Kitchen, message: str, left: list[str], label: str
) -> None:
    await kitchen.three()
    await kitchen.ask(message, plans=3, action="cancel", when="", label=label)  # both parts, and the whole
    assert await kitchen.labels() == left


@pytest.mark.parametrize("label", ["", "alarm", "the alarm at 07:00"])
@pytest.mark.parametrize("message", ["cancel the alarm", "Loesch den Wecker"])
async def test_of_two_alarms_it_is_asked_which(kitchen: Kitchen, message: str, label: str) -> None:
    for hours in (3, 4):
        await kitchen.timers.set_alarm(datetime.now() + timedelta(hours=hours))
    answer = await kitchen.ask(message, action="cancel", when="", label=label)
    assert answer.startswith(("Several are meant: the alarm ", "Das können mehrere sein: der Wecker "))
    assert len(await kitchen.labels()) == 2


@pytest.mark.parametrize(
    ("message", "language", "said"),
    [
        ("cancel the alarm", "en", "No alarm is set. Set: the timer for tea in "),
        ("Lösch den Wecker", "de", "Kein Wecker ist gestellt. Gestellt: der Timer für tea in "),
        ("Loesch den Wecker", "de", "Kein Wecker ist gestellt. Gestellt: der Timer für tea in "),
    ],
)
async def test_where_no_alarm_is_set_that_is_said_and_what_is(
    kitchen: Kitchen, message: str, language: str, said: str
) -> None:
    await kitchen.timers.set_timer(300.5, "tea")
    answer = await kitchen.ask(message, language, action="cancel", when="", label="alarm")
    assert answer.startswith(said)
    assert await kitchen.labels() == ["tea"]


@pytest.mark.parametrize(
    ("message", "language", "said"),
    [
        ("which alarms are set", "en", "One is set: the alarm tomorrow at 07:00."),
        ("welche Wecker sind gestellt", "de", "Einer ist gestellt: der Wecker morgen um 07:00 Uhr."),
    ],
)
async def test_an_alarm_without_a_label_is_named_by_its_time_once(
    kitchen: Kitchen, message: str, language: str, said: str
) -> None:
    at = datetime.now().replace(hour=7, minute=0, second=0, microsecond=0) + timedelta(days=1)
    await kitchen.timers.set_alarm(at)
    assert await kitchen.ask(message, language, action="list") == said


async def test_two_orders_with_a_time_each_are_two(kitchen: Kitchen) -> None:
    said = "Set an alarm for quarter to seven on weekdays and remind me to buy eggs tomorrow"
    wrong = {"action": "set", "when": "weekdays 6:45", "label": "to buy eggs tomorrow"}
    day = Fill({"action": "set", "when": "tomorrow", "label": "buy eggs"})
    brain = ScriptedBrain(*[Choose({"timer": 1.0})] * 2, Fill(wrong), day, day, day)
    run = Harness(brain, kitchen.catalogue, Budgets()).run(said)
    *_, last = [event async for event in run]
    assert isinstance(last, TurnFinished)
    (alarm,) = (await kitchen.timers.pending()).timers
    assert (alarm.label, len(alarm.repeat), f"{alarm.due:%H:%M}") == ("", 5, "06:45")
    assert "I do not know when that is" in last.answer, "of the second, which names no time"


@pytest.mark.parametrize(
    ("message", "language", "plans", "wanted"),
    [
        (
            "Set a timer for 25 minutes for the cake and one for 5 minutes for the eggs",
            "en",
            3,
            {"cake": 25, "eggs": 5},
        ),
        (
            "Set a timer for 7 minutes for the pasta and a timer for 3 minutes for the eggs",
            "en",
            3,
            {"pasta": 7, "eggs": 3},
        ),
        ("Set two timers: 4 minutes for tea and 9 minutes for rice", "en", 3, {"tea": 4, "rice": 9}),
        ("timer 2 minutes tea, timer 6 minutes rice", "en", 1, {"tea": 2, "rice": 6}),
        (
            "Stell einen Timer auf 25 Minuten für den Kuchen und einen auf 5 Minuten für die Eier",
            "de",
            3,
            {"Kuchen": 25, "Eier": 5},
        ),
    ],
)
async def test_two_times_are_two_timers_whatever_the_model_writes(
    kitchen: Kitchen, message: str, language: str, plans: int, wanted: dict[str, int]
) -> None:
    fills = [Fill({"action": "set", "when": "9 hours", "label": label}) for label in wanted]
    brain = ScriptedBrain(*[Choose({"timer": 1.0})] * plans, *fills)
    run = Harness(brain, kitchen.catalogue, Budgets(), language=language).run(message)
    *_, last = [event async for event in run]
    assert isinstance(last, TurnFinished)
    assert await kitchen.lengths() == {label: 60 * minutes for label, minutes in wanted.items()}
    assert last.answer.count("\n") == 1


@pytest.mark.parametrize(
    ("message", "language", "named"),
    [
        ("How long does the pasta one still have?", "en", ["pasta"]),
        ("how much time is left on the laundry?", "en", ["laundry"]),
        ("Wie lange hat die Pasta noch?", "de", ["pasta"]),
        ("¿Cuánto le queda al temporizador de la pasta?", "es", ["pasta"]),
        ("Combien de temps reste-t-il pour la pasta ?", "fr", ["pasta"]),
        ("Quanto manca per la pasta?", "it", ["pasta"]),
        ("Hoe lang heeft de pasta nog?", "nl", ["pasta"]),
        ("Quanto tempo falta para a pasta?", "pt", ["pasta"]),
        ("pasta için ne kadar kaldı?", "tr", ["pasta"]),
        ("which timers are running", "en", ["laundry", "pasta", "tea"]),
        ("how long does the rice still have?", "en", ["laundry", "pasta", "tea"]),
    ],
)
async def test_asked_for_one_by_its_name_that_one_is_told(
    kitchen: Kitchen, message: str, language: str, named: list[str]
) -> None:
    await kitchen.three()
    answer = await kitchen.ask(message, language, action="list", when="", label="")
    assert [each for each in ("laundry", "pasta", "tea") if each in answer] == named
