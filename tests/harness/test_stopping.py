"""A single word of stopping switches nothing, and is answered in a sentence."""

from __future__ import annotations

import pytest

from muleteer.harness import stopping
from muleteer.harness.events import TurnFinished
from muleteer.skills import MenuLine
from tests.harness.scripted import Choose
from tests.harness.test_compound import Home


@pytest.mark.parametrize(
    "message", ["stop", "Stop!", "stop it please", "Stopp", "halt", "arrête", "dur", "basta"]
)
def test_a_word_of_stopping_alone(message: str) -> None:
    assert stopping.bare(message)


@pytest.mark.parametrize(
    "message", ["stop the pump", "stop at nine", "how do I stop", "bus stop", "para dos", ""]
)
def test_what_names_more_is_another_message(message: str) -> None:
    assert not stopping.bare(message)


@pytest.mark.parametrize(
    ("effect", "examples", "may"),
    [
        ("write", ("timer for 8 minutes", "stop the laundry timer"), True),
        ("write", ("note that the key is at Tom's",), False),
        ("physical", ("stop the fountain",), False),
        ("read", (), False),
    ],
)
def test_only_what_ends_what_it_began_can_be_meant(effect: str, examples: tuple[str, ...], may: bool) -> None:
    line = MenuLine("it", "It.", examples, effect=effect)  # type: ignore[arg-type]
    assert (stopping.against("stop", line) == "") is may
    assert stopping.against("stop the pump", line) == ""


@pytest.mark.parametrize("message", ["stop", "Stop!"])
async def test_nothing_runs_that_could_be_stopped(message: str) -> None:
    home = Home()
    last = await home.turn(message, Choose({"reply": 1.0}))
    assert isinstance(last, TurnFinished)
    assert (last.answer, home.ran) == ("All right: nothing was changed.", [])
