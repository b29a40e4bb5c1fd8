"""What was decoded once is not decoded again: a turn pays for what is new in it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import pytest

from muleteer.engine import models
from muleteer.engine.client import Engine
from muleteer.engine.protocol import LoadSettings, Message
from muleteer.harness.answer import Writer
from muleteer.harness.events import Event, LevelFinished, LevelUse, TurnFinished
from muleteer.harness.exact import Audit, ExactLane
from muleteer.harness.ledger import Ledger
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.tool import Document, Result
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, ScriptedBrain, Write

READY_S = 60.0
NEW = 24  # tokens of a short message and of what the template puts around it
NEAR_EXAMPLES = 160  # tokens of a second look: six examples and the message


def looked_up() -> tuple[Choose, Fill, Fill, Fill, Write]:
    """A turn through every level."""
    return (
        Choose({"look-up": 1.0}),
        Fill({"tool": "find_note", "instruction": "bill"}),
        Fill({"query": "bill"}),
        Fill({"tool": "finish", "instruction": "done"}),
        Write(("It is paid.",)),
    )


async def test_every_prompt_of_a_turn_begins_as_one_that_is_decoded_ahead(house: House) -> None:
    house.results["find_note"] = [Result.ok("Found it.", Document("bill", "It is paid."))] * 2
    brain = ScriptedBrain(*looked_up(), Choose({"reply": 1.0}), Write(("Hello.",)))
    harness = Harness(brain, house.catalogue, Budgets())
    ahead = harness.prompts()
    for message in ("is the bill paid", "hello"):
        async for _ in harness.run(message):
            pass
    known = {str((p.messages[: p.constant], p.tools)) for p in ahead.values()}
    asked = {str((p.messages[: p.constant], p.tools)) for p in brain.asked}
    assert asked <= known
    assert list(ahead) == [
        "planner",
        "follower:look-up",
        "agent:find_note",
        "agent:clock",
        "agent:keep",
        "reply",
        "answer",
    ], "in the menu's order; no agent for a tool without parameters, none for what no plan reaches"


def test_nothing_that_changes_stands_in_a_prompt_that_is_kept(house: House) -> None:
    now = datetime.now()
    volatile = [str(now.year), now.strftime("%A"), now.strftime("%B"), now.strftime("%H:%M")]
    for name, prompt in Harness(ScriptedBrain(), house.catalogue, Budgets()).prompts().items():
        kept = str(prompt.messages[: prompt.constant])
        assert not [word for word in volatile if word in kept], name


async def test_the_time_is_asked_for_each_time_and_never_remembered(house: House) -> None:
    house.results["clock"] = [Result.ok("It is 12:00."), Result.ok("It is 12:01.")]
    steps = (Choose({"clock": 1.0}), Fill({"place": ""}))
    harness = Harness(ScriptedBrain(*steps, *steps), house.catalogue, Budgets())
    answers = []
    for _ in range(2):
        *_, last = [event async for event in harness.run("what time is it")]
        assert isinstance(last, TurnFinished)
        answers.append(last.answer)
    assert answers == ["It is 12:00.", "It is 12:01."]
    assert [tool for tool, _ in house.ran] == ["clock", "clock"]


async def test_the_first_word_is_timed(house: House) -> None:
    harness = Harness(
        ScriptedBrain(Choose({"reply": 1.0}), Write(("He", "llo."))), house.catalogue, Budgets()
    )
    *_, last = [event async for event in harness.run("hello")]
    assert isinstance(last, TurnFinished)
    assert 0 < last.first_ms <= last.ms


# On a real engine, which decides for itself what it says; only tokens are looked at.


@pytest.fixture
async def engine() -> AsyncIterator[Engine]:
    path = models.locate("tiny")
    assert path, "The tiny model is missing; run `make setup`."
    one = Engine(path, LoadSettings(context=2048, threads=1), load_timeout=READY_S)
    await one.start()
    await one.ready(READY_S)
    yield one
    await one.stop()


@pytest.mark.model("tiny")
async def test_a_first_hello_fits_and_every_turn_decodes_only_what_is_new_in_it(
    engine: Engine, house: House
) -> None:
    harness = Harness(engine, house.catalogue, Budgets(answer_output=16))
    await harness.prepare()
    for prompt in harness.prompts().values():
        await engine.lane(background=True).warm(prompt)
    before = engine.status().totals
    levels: list[LevelUse] = []
    for message in ("hello", "what time is it", "what time is it in Rome"):
        *_, last = [event async for event in harness.run(message)]
        assert isinstance(last, TurnFinished), last
        assert last.levels[0].prompt <= Budgets().planner_prompt - Budgets().message
        levels += last.levels
    for level in levels:
        most = NEAR_EXAMPLES if level.name == "planner" else NEW * (1 + level.name.startswith("follower"))
        assert level.decoded <= most, level
        assert level.reused > 0, level
    assert harness.audit == Audit(requests=len(levels), mismatches=0)
    after = engine.status().totals
    assert after.decoded - before.decoded == sum(level.decoded for level in levels)
    menu = 3 * (await engine.warm(harness.planner.prompt(""))).prompt  # every turn makes sure of it
    assert after.reused - before.reused == sum(level.reused for level in levels) + menu


@pytest.mark.model("tiny")
async def test_an_answer_that_comes_back_trimmed_or_with_white_space_is_reused(engine: Engine) -> None:
    events: list[Event] = []
    audit = Audit()
    lane = ExactLane(engine.lane(), "t1", audit)
    writer = Writer(lane, Ledger(4000, events.append), Budgets(answer_output=30), ())
    asked = Message("user", "Write two sentences about mules.")
    text = "".join([piece async for piece in writer.reply(asked.content, [])])
    assert text == text.rstrip()
    for ending in ("", "\n", "  ", " \n\n"):
        async for _ in writer.reply("And now?", [asked, Message("assistant", text + ending)]):
            pass
    first, *others = [event.level for event in events if isinstance(event, LevelFinished)]
    for level in others:
        assert level.decoded <= NEW, "the last words of the answer at most, and what is new"
        assert level.reused > first.prompt
    assert audit == Audit(requests=5, mismatches=0)
