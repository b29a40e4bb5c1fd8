"""Which functions act: by their names, and what only reads never."""

from __future__ import annotations

import pytest

from muleteer.harness.kinds import kind
from tests.harness.guests.house import TOOLS

READING = {
    "GetLiveContext",
    "todo_get_items",
    "get_device_state",
    "get_temperature",
    "list_timers",
    "get_calendar_events",
    "search_email",
    "now_playing",
    "vacuum_status",
    "appliance_status",
    "get_weather",
}


def test_in_a_house_everything_acts_that_does_not_read() -> None:
    for tools in TOOLS.values():
        for tool in tools:
            assert (kind(tool.name, tool.description) == "acts") is (tool.name not in READING), tool.name


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("light.turn_on", ""),
        ("home_assistant__call_service", "Calls a service"),
        ("HassShoppingListCompleteItem", ""),
        ("HassListAddItem", "Add item to a todo list"),
        ("HassVacuumReturnToBase", ""),
        ("HassClimateSetTemperature", "Sets the target temperature"),
        ("lock_door", ""),
        ("alarm", "Sets an alarm"),
        ("webhook_1", "Schaltet das Licht im Flur"),
        ("door", "Ouvre la porte"),
        ("send_status", "Send the status to a phone"),
    ],
)
def test_a_verb_says_that_it_acts(name: str, description: str) -> None:
    assert kind(name, description) == "acts"


@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("weather", "The weather"),
        ("order_status", "Where an order is"),
        ("window_open_state", ""),
        ("open_windows", "Lists the open windows"),
        ("light_control", "Control or query lights"),
        ("volume", "Gets or sets the volume"),
        ("play_count", ""),
        ("get_set_point", ""),
        ("good_night", "Runs the good night routine"),
        ("lampen", "Zeigt, welche Lampen an sind"),
        ("f", ""),
        ("", ""),
    ],
)
def test_what_may_read_does_not_act(name: str, description: str) -> None:
    assert kind(name, description) != "acts"
