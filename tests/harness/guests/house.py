"""Lists of functions as programs for a house bring them, and what people ask and order with them."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

from muleteer.engine.protocol import ToolSpec


def _spec(called: str, description: str, /, **properties: str) -> ToolSpec:
    schema = {
        "type": "object",
        "properties": {key: {"type": kind} for key, kind in properties.items()},
        "required": [],
    }
    return ToolSpec(called, description, schema)


ASSISTANT = [
    _spec(
        "HassTurnOn",
        "Turns on/opens/presses a device or entity. For locks, this performs a 'lock' action. Use for"
        " requests like 'turn on', 'activate', 'enable', or 'lock'.",
        name="string",
        area="string",
        domain="string",
    ),
    _spec(
        "HassTurnOff",
        "Turns off/closes a device or entity. For locks, this performs an 'unlock' action. Use for requests"
        " like 'turn off', 'deactivate', 'disable', or 'unlock'.",
        name="string",
        area="string",
    ),
    _spec(
        "HassLightSet",
        "Sets the brightness percentage or color of a light",
        name="string",
        area="string",
        brightness="integer",
        color="string",
    ),
    _spec(
        "HassClimateSetTemperature",
        "Sets the target temperature of a climate device or entity",
        name="string",
        temperature="number",
    ),
    _spec("HassMediaPause", "Pauses a media player", name="string"),
    _spec("HassListAddItem", "Add item to a todo list", item="string", name="string"),
    _spec(
        "HassSetVolume", "Sets the volume percentage of a media player", name="string", volume_level="integer"
    ),
    _spec(
        "GetLiveContext",
        "Provides real-time information about the CURRENT state, value, or mode of devices, sensors,"
        " entities, or areas. Use this tool for: 1. Answering questions about current conditions (e.g., 'Is"
        " the light on?'). 2. As the first step in conditional actions.",
    ),
    _spec("todo_get_items", "Query a to-do list to find out what items are on it.", todo_list="string"),
]
"""What Home Assistant offers to a model, with its own words."""

SERVERS = [
    _spec("get_device_state", "Get the current state of a device, door, window or sensor.", device="string"),
    _spec("turn_on_light", "Turn on a light.", light="string"),
    _spec("turn_off_light", "Turn off a light.", light="string"),
    _spec("set_brightness", "Set the brightness of a light.", light="string", percent="integer"),
    _spec("lock_door", "Lock a door.", door="string"),
    _spec("unlock_door", "Unlock a door.", door="string"),
    _spec("open_blinds", "Open the blinds of a room.", room="string"),
    _spec("close_blinds", "Close the blinds of a room.", room="string"),
    _spec("set_thermostat", "Set the target temperature of a room.", room="string", degrees="number"),
    _spec("get_temperature", "Get the temperature of a room.", room="string"),
    _spec("list_timers", "List all running timers."),
    _spec("start_timer", "Start a timer.", minutes="number", name="string"),
    _spec("cancel_timer", "Cancel a timer.", name="string"),
    _spec("get_calendar_events", "Get the events of the calendar.", day="string"),
    _spec("create_calendar_event", "Create an event in the calendar.", title="string", start="string"),
    _spec("delete_calendar_event", "Delete an event of the calendar.", title="string"),
    _spec("search_email", "Search the mailbox.", query="string"),
    _spec("send_email", "Send an e-mail.", to="string", text="string"),
    _spec("play_music", "Play music.", what="string"),
    _spec("stop_music", "Stop the music."),
    _spec("now_playing", "Tell which song is playing."),
    _spec("start_vacuum", "Start the vacuum robot.", room="string"),
    _spec("dock_vacuum", "Send the vacuum robot to its dock."),
    _spec("vacuum_status", "The battery and the state of the vacuum robot."),
    _spec("arm_alarm", "Arm the alarm system."),
    _spec("disarm_alarm", "Disarm the alarm system.", code="string"),
    _spec("start_appliance", "Start an appliance such as the washing machine.", appliance="string"),
    _spec("stop_appliance", "Stop an appliance.", appliance="string"),
    _spec("appliance_status", "Whether an appliance runs, and until when.", appliance="string"),
    _spec("get_weather", "Get the weather forecast.", place="string"),
]
"""What a few servers of a household offer together."""

TOOLS = {"ha": ASSISTANT, "mcp": SERVERS}


@dataclass(frozen=True, slots=True)
class Pair:
    """A question, and an order about the same thing with the function that carries it out."""

    tools: str
    language: str
    question: str
    order: str
    deed: str


def pairs() -> list[Pair]:
    with (Path(__file__).parent / "questions_and_orders.tsv").open(encoding="utf-8", newline="") as file:
        return [Pair(**row) for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
