"""A plan of a free brain that had to wait for a yes goes on where it was: its other calls, then its words."""

from __future__ import annotations

from typing import Any

import pytest

from muleteer.errors import BrainError
from muleteer.harness.events import Confirm, Event, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House, anybody
from tests.harness.free.scripted import FreeBrain, Line, Say, ask, call, plan
from tests.harness.free.test_turn import Desk
from tests.harness.scripted import ScriptedBrain

BOTH = Say(calls=(("keep", {"note": "tea"}), ("clock", {"place": "Rome"})))


class Waiting:
    """A turn at the desk that needs a yes, and what was done in it."""

    def __init__(self, house: House, *script: Line, flat: bool = False) -> None:
        self.house = house
        self.desk = Desk(FreeBrain(*script), flat)
        self.home = ScriptedBrain()
        self.harness = Harness(self.home, house.catalogue, Budgets(), brains=self.desk)

    async def ask(self, message: str) -> Any:
        last: Event
        *_, last = [event async for event in self.harness.run(message, confirm=["write"])]
        return last

    async def answer(self, asked: Any, yes: bool = True) -> Any:
        assert isinstance(asked, Confirm), asked
        pending = self.harness.take(asked.turn, anybody)
        last: Event
        *_, last = [event async for event in self.harness.confirmed(pending, yes)]
        return last


async def test_the_other_calls_of_the_same_reply_follow_flat(house: House) -> None:
    waiting = Waiting(house, BOTH, "Noted, and it is noon.", flat=True)
    done = await waiting.answer(await waiting.ask("keep tea and tell me the time in Rome"))
    assert isinstance(done, TurnFinished)
    assert house.ran == [("keep", "tea"), ("clock", "Rome")]
    assert done.answer == 'Noted: "tea".\nIt is noon.'
    assert [each.brain for each in done.brains] == ["desk"]
    assert not waiting.desk.brain.script, "it heard what became of its calls"


async def test_the_rest_of_a_plan_follows_level_by_level(house: House) -> None:
    script: list[Line] = [
        plan("@keep and then @clock"),
        ask("keep", "note tea"),
        call("keep", note="tea"),
        ask("clock", "the time in Rome"),
        call("clock", place="Rome"),
        "It is noted, and it is noon.",
    ]
    waiting = Waiting(house, *script)
    asked = await waiting.ask("keep tea and tell me the time in Rome")
    assert house.ran == []
    done = await waiting.answer(asked)
    assert house.ran == [("keep", "tea"), ("clock", "Rome")]
    assert done.answer == 'Noted: "tea".\nIt is noon.'


@pytest.mark.parametrize("flat", [True, False])
async def test_a_no_ends_the_plan(house: House, flat: bool) -> None:
    script: list[Line] = [BOTH] if flat else [plan("@keep and @clock"), ask("keep"), call("keep", note="tea")]
    waiting = Waiting(house, *script, flat=flat)
    done = await waiting.answer(await waiting.ask("keep tea and tell me the time in Rome"), yes=False)
    assert isinstance(done, TurnFinished)
    assert house.ran == []
    assert done.answer == "As you wish: keep was not called."


async def test_a_brain_that_is_gone_by_then_leaves_what_was_done(house: House) -> None:
    waiting = Waiting(house, Say(calls=(("keep", {"note": "tea"}),)), BrainError("It is gone."), flat=True)
    done = await waiting.answer(await waiting.ask("keep tea"))
    assert isinstance(done, TurnFinished)
    assert (house.ran, done.answer) == ([("keep", "tea")], 'Noted: "tea".')
