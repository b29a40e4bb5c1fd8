"""What a message says of a timer against what a model wrote: the message's words decide."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.when import cut_times, read_alarm, read_delay, settled

NOW = datetime(2026, 11, 30, 17, 24)  # a Monday
TODAY, TOMORROW = datetime(2026, 11, 30), datetime(2026, 12, 1)
ACTIONS = ("set", "extend", "list", "cancel")


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("message", "at"),
    [
        ("remind me at 6 pm to call Anna", TODAY.replace(hour=18)),
        ("remind me at 6 in the evening to call Anna", TODAY.replace(hour=18)),
        ("Erinnere mich um 8 Uhr abends an die Tabletten", TODAY.replace(hour=20)),
        ("erinnere mich heute Abend um 8 an die Tabletten", TODAY.replace(hour=20)),
        ("remind me tomorrow at 5 in the afternoon to water the plants", TOMORROW.replace(hour=17)),
        ("remind me tomorrow to call Anna at 6 pm", TOMORROW.replace(hour=18)),
        ("remind me at 6 to prepare dinner this evening", TODAY.replace(hour=18)),
        ("Erinnere mich um 8 an den Film heute Abend", TODAY.replace(hour=20)),
        ("Weck mich um 7 Uhr", TOMORROW.replace(hour=7)),
        ("Weck mich morgen um 6:30 Uhr", TOMORROW.replace(hour=6, minute=30)),
        ("Weck mich um halb sieben", TOMORROW.replace(hour=6, minute=30)),
        ("Stell den Wecker auf 7 Uhr", TOMORROW.replace(hour=7)),
        ("Stell den Wecker auf sieben", TOMORROW.replace(hour=7)),
        ("stell noch einen Wecker auf sieben", TOMORROW.replace(hour=7)),
        ("wake me at 7 tomorrow", TOMORROW.replace(hour=7)),
        ("weck mich jeden Werktag um 6", TOMORROW.replace(hour=6)),
        ("remind me tomorrow at 10 am about the dentist", TOMORROW.replace(hour=10)),
        ("I'd like to be woken at 8", TOMORROW.replace(hour=8)),
        ("set an alarm for 7", TOMORROW.replace(hour=7)),
        ("Stell einen Wecker fuer morgen frueh um sechs", TOMORROW.replace(hour=6)),
        ("Stell einen Wecker für morgen früh um sechs", TOMORROW.replace(hour=6)),
        ("despiértame a las 6 de la tarde", TODAY.replace(hour=18)),
        ("despiértame mañana a las ocho", TOMORROW.replace(hour=8)),
        ("réveille-moi à 6 heures du soir", TODAY.replace(hour=18)),
        ("réveille-moi demain à sept heures", TOMORROW.replace(hour=7)),
        ("svegliami alle 6", TOMORROW.replace(hour=6)),
        ("maak me wakker om 7 uur", TOMORROW.replace(hour=7)),
        ("can you set an alarm for quarter to seven on weekdays", TOMORROW.replace(hour=6, minute=45)),
        ("maak me wakker om half zeven", TOMORROW.replace(hour=6, minute=30)),
        ("svegliami alle sette e mezza", TOMORROW.replace(hour=7, minute=30)),
        ("saat yedide beni uyandır", TOMORROW.replace(hour=7)),
    ],
)
def test_a_time_is_the_one_that_the_message_says(message: str, at: datetime, action: str) -> None:
    done = settled(message, {"action": action, "when": "tomorrow 06:00", "label": ""}, NOW)
    alarm = read_alarm(str(done["when"]), NOW)
    assert (done["action"], alarm and alarm.at) == ("set", at)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("message", "minutes", "label"),
    [
        ("Erinnere mich in 5 Minuten an den Tee", 5, "Tee"),
        ("remind me in 20 minutes to take out the laundry", 20, "take out the laundry"),
        ("Erinner mich in 20 Minuten an die Waesche", 20, "Waesche"),
        ("remind me in 10 minutes to turn off the oven", 10, "turn off the oven"),
        ("remind me in half an hour to buy more milk", 30, "buy more milk"),
        ("in an hour, tell me to call the bank", 60, "call the bank"),
        ("set another timer for 10 minutes", 10, ""),
        ("an hour for the roast", 60, "roast"),
        ("timer 20 Minuten", 20, ""),
        ("starte einen 10-Minuten-Timer", 10, ""),
        ("Erinnere mich in einer halben Stunde an die Pizza", 30, "Pizza"),
        ("set the oven timer for 30 minutes", 30, "oven"),
        ("set a timer for 1 minute 30", 1.5, ""),
        ("count down three minutes", 3, ""),
        ("set a timer for 10 minutes for 4 eggs", 10, "4 eggs"),
        ("wake me up in 3 hours and 20 minutes", 200, ""),
        ("recuérdame en media hora que llame a Ana", 30, "llame a Ana"),
        ("rappelle-moi dans dix minutes de sortir le pain", 10, "sortir le pain"),
    ],
)
def test_a_new_one_is_never_taken_for_more_of_another(
    message: str, minutes: float, label: str, action: str
) -> None:
    done = settled(message, {"action": action, "when": "", "label": "pasta"}, NOW)
    assert (done["action"], done.get("label", "")) == ("set", label)
    assert read_delay(str(done["when"])) == timedelta(minutes=minutes)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("message", "minutes", "label"),
    [
        ("10 more minutes please", 10, ""),
        ("ten more minutes", 10, ""),
        ("noch zehn Minuten", 10, ""),
        ("noch 5 Minuten bitte", 5, ""),
        ("give the eggs two minutes longer", 2, "eggs"),
        ("ten more minutes for the roast", 10, "roast"),
        ("set the timer 5 minutes longer", 5, "timer"),
        ("mach den Timer 5 Minuten länger", 5, "timer"),
        ("Verlängere den Timer um 10 Minuten", 10, "timer"),
        ("add 5 minutes to the pasta timer", 5, "timer pasta"),
        ("cinco minutos más", 5, ""),
        ("encore cinq minutes", 5, ""),
    ],
)
def test_more_is_what_says_more_and_a_label_that_nobody_said_is_none(
    message: str, minutes: int, label: str, action: str
) -> None:
    done = settled(message, {"action": action, "when": "10", "label": "laundry in 3 minutes"}, NOW)
    assert (done["action"], done.get("label", "")) == ("extend", label)
    assert read_delay(str(done["when"])) == timedelta(minutes=minutes)


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("message", "label", "when"),
    [
        ("cancel the pasta timer", "timer pasta", ""),
        ("cancel pasta", "pasta", ""),
        ("stop the laundry timer please", "timer laundry", ""),
        ("Lösch den Nudel-Timer", "timer nudel", ""),
        ("cancel the alarm", "alarm", ""),
        ("Loesch den Wecker", "alarm", ""),
        ("stell den Wecker ab", "alarm", ""),
        ("kannst du bitte den Wecker ausschalten", "alarm", ""),
        ("turn the alarm off", "alarm", ""),
        ("Timer aus", "timer", ""),
        ("alarm off", "alarm", ""),
        ("please stop reminding me about the pasta", "pasta", ""),
        ("I don't need the alarm any more", "alarm", ""),
        ("cancel all timers", "all timer", ""),
        ("lösche alle Wecker", "all alarm", ""),
        ("cancel the 7 o'clock alarm", "alarm", "7 oclock"),
        ("cancel the 10 minute timer", "timer", "10 minute"),
    ],
)
def test_cancelling_names_one_by_the_words_that_were_said(
    message: str, label: str, when: str, action: str
) -> None:
    written = {"action": action, "when": "in 24 minutes", "label": "pasta in 24 minutes 23 seconds"}
    done = settled(message, written, NOW)
    assert done == {"action": "cancel", "label": label} | ({"when": when} if when else {})


@pytest.mark.parametrize("action", ["extend", "list", "cancel"])
@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("how long is left on the oven", "oven"),
        ("How long does the pasta one still have?", "pasta"),
        ("which timers are running", ""),
        ("welche Wecker sind gestellt", ""),
        ("the pasta", "pasta"),
    ],
)
def test_nothing_is_cancelled_or_lengthened_without_a_word_for_it(
    message: str, name: str, action: str
) -> None:
    done = settled(message, {"action": action, "when": "5 min", "label": "pasta"}, NOW)
    assert done == {"action": "list"} | ({"label": name} if name else {})


TWO = "Set an alarm for quarter to seven on weekdays and remind me to buy eggs tomorrow"


def test_of_two_requests_in_one_message_a_call_takes_the_words_of_its_own() -> None:
    first = settled(TWO, {"action": "set", "when": "weekdays 6:45", "label": "to buy eggs tomorrow"}, NOW)
    assert first == {"action": "set", "when": "quarter to seven on weekdays"}
    both = "set a timer for 5 minutes for the eggs and set a timer for 10 minutes for the pasta"
    for minutes, label in ((5, "eggs"), (10, "pasta")):
        written = {"action": "set", "when": f"{minutes} min", "label": label}
        assert settled(both, written, NOW) == {
            "action": "set",
            "when": f"{minutes} minutes",
            "label": label,
        }


@pytest.mark.parametrize(
    "message",
    [
        "set a timer for 10 minutes and remind me to check the oven",
        "remind me to check the oven and set a timer for 10 minutes",
    ],
)
def test_an_order_without_a_time_belongs_to_the_one_that_has_it(message: str) -> None:
    done = settled(message, {"action": "set", "when": "10 min", "label": "check oven"}, NOW)
    assert done["when"] == "10 minutes"
    assert str(done["label"]).startswith("check")


@pytest.mark.parametrize(
    ("message", "when", "at"),
    [
        ("svegliami alle sei di sera", "6:00", 18),
        ("svegliami alle 6 di sera", "6:00", 18),
        ("svegliami alle sei e mezza di sera", "6:30", 18),
        ("svegliami alle sei del pomeriggio", "6:00", 18),
        ("svegliami alle sei del mattino", "6:00", 6),
        ("maak me wakker om zes uur 's avonds", "6:00", 18),
        ("svegliami alle sei", "6:00", 6),
    ],
)
def test_a_half_of_the_day_counts_where_the_time_can_not_be_read(message: str, when: str, at: int) -> None:
    done = settled(message, {"action": "set", "when": when}, NOW)
    alarm = read_alarm(str(done["when"]), NOW)
    assert alarm is not None
    assert alarm.at.hour == at


def test_two_spans_are_not_added_up_and_the_one_that_was_called_for_is_taken() -> None:
    said = "set two timers, 5 minutes and 10 minutes"
    for when, taken in (("5 min", "5 minutes"), ("ten minutes", "10 minutes")):
        assert settled(said, {"action": "set", "when": when}, NOW) == {"action": "set", "when": taken}


def test_a_label_that_was_said_stays_without_its_time() -> None:
    done = settled(
        "timer for 8 minutes for the green pasta",
        {"action": "set", "when": "8 min", "label": "green pasta in 8 minutes"},
        NOW,
    )
    assert done == {"action": "set", "when": "8 minutes", "label": "green pasta"}


@given(st.text(max_size=300), st.text(max_size=80))
def test_whatever_is_said_is_answered(message: str, label: str) -> None:
    done = settled(message, {"action": "cancel", "when": label, "label": label}, NOW)
    assert done["action"] in ACTIONS
    assert " ".join(cut_times(label, NOW)[1].split()) == cut_times(label, NOW)[1]


@pytest.mark.parametrize("label", ["pasta", "tea", "", "invented"])
@pytest.mark.parametrize(
    ("message", "several"),
    [
        ("cancel the pasta timer and the tea timer", "timer pasta and timer tea"),
        ("cancel the pasta and tea timers", "pasta and timer tea"),
        ("cancel the pasta timer and cancel the tea timer", "timer pasta and timer tea"),
        ("please cancel the pasta, the tea and the rice timer", "pasta and tea and timer rice"),
        ("cancel the pasta timer and the alarm", "timer pasta and alarm"),
        ("cancel the 5 minute timer and the 10 minute timer", "timer 5 minute and timer 10 minute"),
        ("Lösch den Timer für Pasta und den für Tee", "timer pasta and tee"),
        ("annule le minuteur pasta et le minuteur riz", "timer pasta and timer riz"),
        ("cancella il timer pasta e il timer tè", "timer pasta and timer te"),
        ("annuleer de pasta timer en de thee timer", "timer pasta and timer thee"),
        ("makarna zamanlayıcısını ve pirinç zamanlayıcısını iptal et", "timer makarna and timer pirinc"),
    ],
)
def test_each_of_several_that_are_cancelled_is_named(message: str, several: str, label: str) -> None:
    done = settled(message, {"action": "cancel", "when": "", "label": label}, NOW)
    assert done == {"action": "cancel", "label": several}


@pytest.mark.parametrize(
    "message",
    [
        "cancel the pasta timer but not the tea timer",
        "cancel the pasta timer and set a timer for 5 minutes",
        "cancel the pasta timer and please",
    ],
)
def test_what_is_no_list_of_cancellations_names_one(message: str) -> None:
    done = settled(message, {"action": "cancel", "when": "", "label": "pasta"}, NOW)
    assert done == {"action": "cancel", "label": "timer pasta"}
