"""Each shipped skill asked of the default model, over the real socket, about a home that is really there."""

from __future__ import annotations

from datetime import date

import pytest

from tests.conftest import Served
from tests.test_end_to_end import ask, calls

pytestmark = pytest.mark.model("standard")


def test_search_info_finds_in_the_files_what_no_note_has(served: Served) -> None:
    turn = ask(served, "Have I got anything about the chimney sweep?")
    assert turn["handles"] == ["search-info"]
    assert ("find_file", "ok") in calls(turn)
    assert "14 March" in turn["answer"]


def test_fetch_file_answers_from_the_document(served: Served) -> None:
    turn = ask(served, "Read me the chimney letter.")
    assert turn["handles"] == ["fetch-file"]
    assert ("read_file", "ok") in calls(turn)
    assert "14 March" in turn["answer"] or "chimney letter" in turn["answer"]


def test_check_schedule_reads_the_calendar(served: Served) -> None:
    turn = ask(served, "Do I have any appointments today?")
    assert turn["handles"] == ["check-schedule"]
    assert calls(turn) == [("check_calendar", "ok")]
    assert "Dentist" in turn["answer"]


def test_home_control_acts_on_what_the_sensor_says(served: Served) -> None:
    turn = ask(served, "If the greenhouse is colder than 25 degrees, turn on the lamp.")
    assert turn["handles"] == ["home-control"]
    assert ("sensor", "ok") in calls(turn)
    assert ("lamp is on now" in turn["answer"]) is ("L1" in served.heard), "what is said is what was done"


def test_home_control_does_nothing_when_the_condition_is_not_met(served: Served) -> None:
    before = served.heard.count("L1")
    turn = ask(served, "If the greenhouse has under 5 degrees, turn on the lamp.")
    assert turn["handles"] == ["home-control"]
    assert calls(turn) == [("sensor", "ok")]
    assert "21.5" in turn["answer"]
    assert served.heard.count("L1") == before


@pytest.mark.parametrize("message", ["Do not turn on the lamp.", "Should I turn on the lamp tonight?"])
def test_what_is_no_order_switches_nothing(served: Served, message: str) -> None:
    before = served.heard.count("L1")
    turn = ask(served, message)
    assert ("switch", "ok") not in calls(turn)
    assert served.heard.count("L1") == before


def test_daily_brief_is_made_by_code(served: Served) -> None:
    turn = ask(served, "Give me the overview of my day.")
    assert turn["handles"] == ["daily-brief"]
    assert [level["name"] for level in turn["levels"]] == ["planner"]
    for part in (str(date.today().year), "Dentist", "21.5 °C"):
        assert part in turn["answer"]


def test_device_health_is_made_by_code(served: Served) -> None:
    turn = ask(served, "Is everything all right with this device?")
    assert turn["handles"] == ["device-health"]
    assert [level["name"] for level in turn["levels"]] == ["planner"]
    assert calls(turn) == [("device_info", "ok")]
