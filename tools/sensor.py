"""Read what is measured at home, and whether things are on."""

from __future__ import annotations

from typing import Annotated

from muleteer.tool import Data, Named, Reading, Result, Services, figure, joined, say, tool

NONE_SET_UP = say(
    "No sensor is set up; the README shows how to add one to the settings under [serial.devices]."
)


@tool(
    effect="read",
    timeout=60,
    craft="Leave the name out if the user names no sensor, or wants all.",
    examples=(
        "how warm is it in the greenhouse",
        "what do the sensors say",
        "wie feucht ist es im Keller",
        "está abierta la puerta del garaje",
        "is the bathroom window shut",
        "what is the temperature in the hall",
        "is the lamp in the study still burning",
        "did I leave the oven on",
        "is it dark outside",
        "does the basil need watering",
        "brennt im Flur noch Licht",
        "ist die Heizung an",
        "está apagada la lámpara",
        "cuántos grados hay en la cocina",
        "la porte du garage est-elle fermée",
        "fait-il froid dans le salon",
        "la luce in bagno è accesa",
        "che temperatura c'è in camera",
        "kapı kapalı mı",
        "mutfak kaç derece",
        "brandt het licht in de gang",
        "ist das Fenster im Schlafzimmer offen",
        "hoe warm is het in de kas",
        "how cold is it outside",
        "has the dryer finished",
        "are the windows closed",
        "is there movement in the garden",
        "how much water is in the rain barrel",
        "humidity in the bathroom",
        "is the front door locked",
        "is the TV on",
        "is the dishwasher running",
        "wie kalt ist es im Schlafzimmer",
        "sind alle Fenster zu",
        "ist die Garage offen",
        "läuft die Waschmaschine",
        "ist der Ofen aus",
        "Temperatur im Wohnzimmer",
        "wie hell ist es im Büro",
        "hace frío en el dormitorio",
        "está cerrada la ventana",
        "combien de degrés fait-il dans le salon",
        "is the heating on",
    ),
)
async def sensor(home: Services, name: Annotated[str, Named("serial", "readings")] = "") -> Result:
    """Read the sensors at home now: temperature, moisture, light, doors, and what is on or off. Use it for
    questions about the home's state.

    name: which sensor; or none of these
    """
    names = await home.serial.find("readings", name)
    if not names:
        known = await home.serial.find("readings", "")
        if not known:
            return Result.unavailable(NONE_SET_UP)
        there = ", ".join(map(_spoken, known))
        return Result.empty(say("There is no such sensor. There are: {names}.", names=there))
    return told(await home.serial.read(names))


def told(readings: list[Reading]) -> Result:
    """One sentence for each reading. Some read is `ok`; none is `error` if a device answered, else
    `unavailable`."""
    read = [each for each in readings if each.value is not None]
    rest = [each for each in readings if each.value is None]
    sentences = [_sentence(each, alone=len(readings) == 1) for each in (*read, *rest)]
    text = joined(" ", sentences)
    if not read:
        return Result.error(text) if any(each.answered for each in rest) else Result.unavailable(text)
    values = {each.name: {"value": each.value, "unit": each.unit} for each in read}
    problems = {each.name: {"problem": each.problem} for each in rest}
    return Result.ok(text, Data({**values, **problems}), tuple(each.name for each in read))


def _sentence(reading: Reading, *, alone: bool) -> str:
    name = _spoken(reading.name)
    if reading.value is None:
        return say("I could not read the {name}: {why}.", name=name, why=reading.problem)
    state: str = say(reading.text) if reading.text in ("on", "off") else reading.text
    if isinstance(reading.value, float):
        state = figure(reading.text)
    if alone:
        return say("The {name} is {state}.", name=name, state=state)
    return say("{name}: {state}.", name=name.capitalize(), state=state)


def _spoken(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")
