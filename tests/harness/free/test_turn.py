"""Whole turns on a scripted brain elsewhere, with a scripted one at home to fall back on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from muleteer.engine.protocol import Message
from muleteer.errors import BrainError, RequestError
from muleteer.harness.brains import Chosen
from muleteer.harness.events import CallStarted, Confirm, Event, Outcome, TurnFailed, TurnFinished
from muleteer.harness.phrases import ENGLISH
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.tool import Notes, Result
from tests.harness.conftest import House
from tests.harness.free.scripted import FreeBrain, Line, Say, ask, call, plan
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write

GONE = BrainError("The brain desk broke off.")


@dataclass
class Desk:
    """`harness.brains.Brains` with one brain, elsewhere unless the turn is private or wants `local`."""

    brain: FreeBrain
    flat: bool = False
    home_flat: bool = False
    prompt: int = 4000

    def choose(self, wanted: str, private: bool, tools: int, skills: int) -> Chosen:
        if wanted not in ("", "desk", "local"):
            raise RequestError(f"There is no brain {wanted!r}.")
        if private or wanted == "local":
            return Chosen("local", "it is private" if private else "", flat=self.home_flat)
        return Chosen("desk", "", self.brain, self.flat, (), self.prompt, 300, 20_000)


@dataclass
class Turn:
    events: list[Event]
    last: Any

    @property
    def answer(self) -> str:
        assert isinstance(self.last, TurnFinished), self.last
        return self.last.answer

    @property
    def brains(self) -> list[str]:
        return [each.brain for each in self.last.brains]


async def turn(
    house: House,
    script: Sequence[Line],
    message: str = "keep that the key is under the pot",
    home: Sequence[Scripted] = (),
    confirm: Sequence[str] = (),
    history: Sequence[Message] = (),
    brain: str = "",
    private: bool = False,
    **desk: Any,
) -> Turn:
    far, near = FreeBrain(*script), ScriptedBrain(*home)
    harness = Harness(near, house.catalogue, Budgets(), brains=Desk(far, **desk))
    run = harness.run(message, history, confirm=confirm, brain=brain, private=private)
    events = [event async for event in run]
    assert isinstance(events[-1], Outcome)
    assert not far.script, "something was not asked elsewhere"
    assert not near.script, "something was not asked at home"
    return Turn(events, events[-1])


async def test_level_by_level(house: House) -> None:
    script: list[Line] = [plan("I'll use @keep."), call("keep", note="the key is under the pot")]
    done = await turn(house, script)
    assert done.answer == 'Noted: "the key is under the pot".'
    assert house.ran == [("keep", "the key is under the pot")]
    assert done.last.handles == ("keep",)
    assert done.brains == ["desk"]
    assert [level.name for level in done.last.levels] == ["planner", "agent:keep"]


async def test_a_skill_with_several_tools(house: House) -> None:
    script: list[Line] = [
        plan("@look-up, please"),
        ask("find_note", "keys"),
        call("find_note", query="keys"),
        "Tea.",
    ]
    done = await turn(house, script, "where are my keys")
    assert house.ran == [("find_note", "keys")]
    assert done.answer == 'One note: "tea".'


async def test_flat(house: House) -> None:
    done = await turn(
        house, [call("clock", place="Rome"), "It is noon."], "what time is it in Rome", flat=True
    )
    assert house.ran == [("clock", "Rome")]
    assert done.answer == "It is noon."
    assert done.last.handles == ()


async def test_tools_that_do_not_fit_are_not_shown_flat(house: House) -> None:
    done = await turn(house, ["Hello."], "hello", flat=True, prompt=120)
    assert [level.name for level in done.last.levels] == ["planner"]
    assert done.answer == "Hello."


@pytest.mark.parametrize("flat", [True, False])
async def test_a_reply_is_a_reply(house: House, flat: bool) -> None:
    done = await turn(house, ["Good morning to you."], "good morning", flat=flat)
    assert done.answer == "Good morning to you."
    assert not house.ran


@pytest.mark.parametrize("flat", [True, False])
async def test_a_claim_without_a_deed_is_never_said(house: House, flat: bool) -> None:
    """Field report A1."""
    done = await turn(
        house, ["I've turned off the kitchen light."] * (3 if flat else 4), "lights off", flat=flat
    )
    assert "turned off" not in done.answer
    assert done.answer == ENGLISH.not_done
    assert not house.ran


@pytest.mark.parametrize("flat", [True, False])
async def test_nothing_at_all_is_an_honest_floor(house: House, flat: bool) -> None:
    """Field report A12: an end at once."""
    done = await turn(house, [""] * (3 if flat else 4), "hello", flat=flat)
    assert done.answer == ENGLISH.floor


async def test_a_plan_that_gives_nothing_is_planned_anew(house: House) -> None:
    house.results["clock"] = [Result.ok("")]
    script: list[Line] = [plan("@clock"), call("clock", place="Rome"), plan("@keep"), call("keep", note="x")]
    done = await turn(house, script, "keep that the key is under the pot")
    assert done.answer == 'Noted: "x".'


async def test_the_correction_is_never_said(house: House) -> None:
    """Field report H5."""
    script: list[Line] = ["<correction>Nothing was called yet: saying it does not do it.</correction> Hello."]
    assert (await turn(house, script, "hello")).answer == "Hello."


async def test_before_a_deed_the_brain_at_home_answers(house: House) -> None:
    done = await turn(house, [GONE], "hello", [Choose({"reply": 1.0}), Write(("Hello ", "from home."))])
    assert done.answer == "Hello from home."
    assert done.brains == ["desk", "local"]
    assert done.last.brains[-1].reason == str(GONE)


async def test_what_was_only_looked_up_may_be_looked_up_again(house: House) -> None:
    home: list[Scripted] = [Choose({"clock": 1.0}), Fill({"place": "Rome"})]
    done = await turn(house, [call("clock", place="Rome"), GONE], "what time is it", home, flat=True)
    assert house.ran == [("clock", "Rome"), ("clock", "Rome")]
    assert [each.tool for each in done.last.calls] == ["clock"]
    assert done.answer == "It is noon."


@pytest.mark.parametrize("result", [Result.ok("Noted: tea."), Result.error("It may have been kept.")])
async def test_a_deed_is_never_repeated(house: House, result: Result) -> None:
    house.results["keep"] = [result]
    done = await turn(house, [call("keep", note="tea"), GONE], "keep tea", flat=True)
    assert house.ran == [("keep", "tea")]
    assert done.answer == result.text
    assert done.brains == ["desk", "local"]


async def test_what_was_said_is_not_taken_back(house: House) -> None:
    class Breaking(FreeBrain):
        async def talk(self, *given: Any, **named: Any) -> Any:
            yield "Bread is made of flour. " * 20
            raise GONE

    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(), brains=Desk(Breaking()))
    events = [event async for event in harness.run("how is bread made")]
    assert isinstance(events[-1], TurnFailed)
    assert events[-1].code == "brain"


async def test_an_answer_that_breaks_off_ends_with_what_was_found(house: House) -> None:
    class Breaking(FreeBrain):
        async def talk(self, conversation: Any, **named: Any) -> Any:
            if not conversation.tools:
                yield "You noted tea. "
                yield "And that is "
                raise GONE
            async for piece in super().talk(conversation, **named):
                yield piece

    notes = Result.ok("Two notes: tea; milk.", Notes(("tea", "milk")))
    house.results["find_note"] = [notes]
    far = Breaking(call("find_note", query="drinks"), "It is tea.")
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(), brains=Desk(far, flat=True))
    events = [event async for event in harness.run("what did I note about drinks")]
    assert isinstance(events[-1], TurnFinished), events[-1]
    assert events[-1].answer == "You noted tea. \nTwo notes: tea; milk."


async def test_the_brain_at_home_has_its_own_budget(house: House) -> None:
    """However much the other one has spent."""
    long = "word " * 3000
    script: list[Line] = [*[plan(f"@nothing {long}")] * 3, GONE]
    home: list[Scripted] = [Choose({"reply": 1.0}), Write(("Hello.",))]
    assert (await turn(house, script, "hello", home, prompt=16_000)).answer == "Hello."


async def test_a_question_is_asked_and_nothing_is_done(house: House) -> None:
    done = await turn(house, [plan("@keep"), call("keep", note="x")], confirm=["write"])
    assert isinstance(done.last, Confirm)
    assert not house.ran


async def test_an_unknown_brain_fails_the_turn(house: House) -> None:
    done = await turn(house, [], brain="nobody")
    assert isinstance(done.last, TurnFailed)
    assert done.last.code == "bad_request"


def keep_private(house: House) -> None:
    skill = replace(house.catalogue.skills["look-up"], private=True)
    house.catalogue.skills["look-up"] = skill
    outer = replace(skill, name="brief", mentions=("look-up", "clock"), private=False)
    house.catalogue.skills["brief"] = outer


@pytest.mark.parametrize("handle", ["look-up", "brief"])
async def test_what_is_private_is_answered_at_home(house: House, handle: str) -> None:
    """Also through a skill that leads to it; the message itself is not sent."""
    keep_private(house)
    home: list[Scripted] = [
        Choose({handle: 1.0}),
        Choose({handle: 1.0}),
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "finish"}),
    ]
    done = await turn(house, [], "where are my keys", home)
    assert done.brains == ["local"]
    assert "private" in done.last.brains[0].reason
    assert done.answer == 'One note: "tea".'


async def test_what_is_not_private_goes_elsewhere_without_what_is(house: House) -> None:
    keep_private(house)
    far = FreeBrain("Hello.")
    harness = Harness(ScriptedBrain(Choose({"reply": 1.0})), house.catalogue, Budgets(), brains=Desk(far))
    events = [event async for event in harness.run("hello")]
    assert isinstance(events[-1], TurnFinished)
    assert events[-1].answer == "Hello."
    assert "look-up" not in str(far.asked)
    assert "brief" not in str(far.asked)


async def test_a_handle_that_is_withheld_does_not_exist(house: House) -> None:
    keep_private(house)
    script: list[Line] = [plan("@look-up"), "I cannot look that up."]
    done = await turn(house, script, "where are my keys", [Choose({"reply": 1.0})])
    assert done.answer == "I cannot look that up."
    assert not house.ran


async def test_a_private_turn_stays_at_home(house: House) -> None:
    home: list[Scripted] = [Choose({"reply": 1.0}), Write(("Hello.",))]
    assert (await turn(house, [], "hello", home, private=True)).brains == ["local"]


async def test_flat_at_home(house: House) -> None:
    home: list[Scripted] = [
        Write(('{"name": "clock", "arguments": {"place": "Rome"}}',)),
        Write(("It is noon in Rome.",)),
    ]
    done = await turn(house, [], "what time is it in Rome", home, brain="local", home_flat=True)
    assert house.ran == [("clock", "Rome")]
    assert [event.tool for event in done.events if isinstance(event, CallStarted)] == ["clock"]
    assert done.answer == "It is noon."
    assert done.brains == ["local"]


async def test_the_conversation_is_told(house: House) -> None:
    far = FreeBrain("You are welcome.")
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(), brains=Desk(far))
    history = [Message("user", "tell me about tea"), Message("assistant", "Tea is a drink.")]
    [event async for event in harness.run("thanks", history)]
    assert far.asked[0].messages[1:3] == tuple(history)


async def test_several_calls_in_text_are_made_flat(house: House) -> None:
    two = Say('[clock(place="Rome"), clock(place="Oslo")]')
    await turn(house, [two, "Noon in both."], "what time is it in Rome and Oslo", flat=True)
    assert house.ran == [("clock", "Rome"), ("clock", "Oslo")]
