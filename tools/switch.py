"""Turn things at home on and off. Says that it was done only once the device has said so.

The name is free text that must be one of the settings'. A model that could write only names that exist
switched the hall lamp when the kitchen light was meant, which is not there.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator

from muleteer.tool import Data, Result, Services, say, tool

NONE_SET_UP = say(
    "No switch is set up; the README shows how to add one to the settings under [serial.devices]."
)
WORDS = {
    "on": ("an", "ein", "einschalten", "true", "1", "yes", "start", "encender", "allumer"),
    "off": ("aus", "ausschalten", "false", "0", "no", "stop", "apagar", "éteindre"),
}
STATES = {word: state for state, words in WORDS.items() for word in (state, *words)}


def as_state(value: object) -> object:
    """On or off, however it is said; anything else stays as it is, to be refused."""
    said = str(value).strip().casefold()
    return STATES.get(said.removeprefix("turn ").removeprefix("switch "), value)


@tool(
    effect="physical",
    timeout=60,
    craft="name is copied from the request; state is what it shall be afterwards.",
    examples=(
        "turn on the kitchen light",
        "start the sprinkler",
        "mach das Licht im Flur aus",
        "enciende la lámpara",
        "switch the radio off",
        "lights on in the bedroom",
        "would you please turn off the fan",
        "stop the fountain",
        "open the valve of the garden hose",
        "schalte die Pumpe ein",
        "Licht aus",
        "kannst du bitte den Ofen anmachen",
        "pon la calefacción",
        "éteins la lumière du couloir",
        "mets le chauffage en marche",
        "accendi la luce",
        "spegni il ventilatore",
        "ışığı aç",
        "pompayı durdur",
        "zet de lamp aan",
        "doe de verwarming uit",
        "apaga el ventilador",
        "put the heating on",
        "lamp off",
        "I need light in the cellar, switch it on",
        "close the valve",
        "fan on",
        "shut off the water",
        "Licht an",
        "Heizung aus",
        "Ventilator an",
        "mach die Lampe an",
        "schalt bitte den Fernseher aus",
        "dreh die Heizung auf",
        "starte die Pumpe",
        "enciende la luz del salón",
        "apaga la tele",
        "allume la lampe",
        "accendi il riscaldamento",
        "lambayı yak",
        "pompayı çalıştır",
        "make the bedroom dark",
        "the heater can go off now",
    ),
)
async def switch(
    name: str,
    state: Annotated[Literal["on", "off"], BeforeValidator(as_state)],
    home: Services,
) -> Result:
    """Turn a light, pump, fan or other thing at home on or off. Use it only when told to, not when asked
    whether something is on.

    name: what to turn on or off, as the user calls it
    state: on or off
    """
    found = await home.serial.find("switches", name)
    if len(found) != 1 or not name.strip():
        known = await home.serial.find("switches", "")
        if not known:
            return Result.unavailable(NONE_SET_UP)
        there = ", ".join(map(_spoken, known))
        return Result.empty(
            say("There is no such switch, so nothing was switched. There are: {names}.", names=there)
        )
    thing = _spoken(found[0])
    try:
        told = await home.serial.switch(found[0], state == "on")
    except OSError as error:
        return Result.unavailable(say("The {name} was not switched: {why}.", name=thing, why=str(error)))
    if not told.sent:
        return Result.error(say("The {name} was not switched: {why}.", name=thing, why=told.problem))
    if not told.answer:
        pattern = f"I told the {{name}} to switch {state}, but it is not confirmed: {{why}}."
        return Result.unavailable(say(pattern, name=thing, why=told.problem))
    if told.answer != state:
        pattern = f"I told the {{name}} to switch {state}, but {{why}}."
        return Result.error(say(pattern, name=thing, why=told.problem))
    said = say("The {name} is {state} now.", name=thing, state=say(state))
    return Result.ok(said, Data({"name": found[0], "state": state}), (found[0],))


def _spoken(name: str) -> str:
    return name.replace("_", " ").replace("-", " ")
