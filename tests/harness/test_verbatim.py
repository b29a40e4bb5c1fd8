"""A note is what the user said, and not what a model made of it."""

from __future__ import annotations

import pytest

from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.harness.scripted import Choose, Fill, ScriptedBrain


@pytest.mark.parametrize(
    ("message", "written", "noted"),
    [
        (
            "Setz Milch auf die Einkaufsliste",
            "Set Milch on the shopping list",
            "Setz Milch auf die Einkaufsliste",
        ),
        ("note: I am allergic to nuts", "The user is allergic to nuts", "note: I am allergic to nuts"),
        ("remember that the car is on level 3", "the car is on level 3", "the car is on level 3"),
        ("Merk dir, dass der Müll dienstags kommt", "Müll kommt dienstags", "Müll kommt dienstags"),
        ("note that the keys are at Tom's", "key at Tom's", "key at Tom's"),
    ],
)
async def test_words_that_nobody_said_give_way_to_the_message(message: str, written: str, noted: str) -> None:
    ran: list[str] = []

    @tool(effect="write", words=("note",))
    async def keep(note: str) -> Result:
        """Keep a note.

        note: the text
        """
        ran.append(note)
        return Result.ok("Noted.")

    catalogue = Catalogue({}, Toolbox.of([keep]))
    harness = Harness(ScriptedBrain(Choose({"keep": 1.0}), Fill({"note": written})), catalogue, Budgets())
    *_, last = [event async for event in harness.run(message)]
    assert isinstance(last, TurnFinished)
    assert ran == [noted]


def test_only_a_parameter_can_hold_the_words() -> None:
    @tool(effect="write", words=("text",))
    async def keep(note: str) -> Result:
        """Keep a note.

        note: the text
        """
        return Result.ok("Noted.")

    assert Toolbox.of([keep]).disabled["keep"].endswith("its words names text, which is no parameter.")
