"""What does not fit is refused with counts or cut with a mark; what a level must see is never dropped."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Conversation, Message
from muleteer.harness.answer import FACT_CHARACTERS, facts, values
from muleteer.harness.clip import clipped
from muleteer.harness.events import CallFinished, Event, TurnFailed, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.tool import Document, Notes, Result
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write

REPLY = Choose({"reply": 1.0})
LOOK = Choose({"look-up": 1.0})


class CharacterBrain(ScriptedBrain):
    """Counts a character as a token: no text is denser than what a byte vocabulary makes of it."""

    def _tokens(self, prompt: Conversation) -> int:
        return sum(len("".join((m.content, *map("".join, m.calls)))) for m in prompt.messages)


# A character is a token here, so the budgets are what the defaults are in characters of English text.
WIDE = Budgets(
    turn=20_000, planner_prompt=8000, follower_prompt=2000, agent_prompt=3600, answer_prompt=3000, message=800
)


async def run(
    house: House,
    message: str,
    *script: Scripted,
    history: tuple[Message, ...] = (),
    budgets: Budgets = WIDE,
    brain: type[ScriptedBrain] = CharacterBrain,
) -> tuple[list[Event], ScriptedBrain]:
    one = brain(*script)
    events = [event async for event in Harness(one, house.catalogue, budgets).run(message, history)]
    return events, one


def looked_up(words: str) -> tuple[dict[str, str], dict[str, str]]:
    """What L2 and L3 write to look something up."""
    return {"tool": "find_note", "instruction": words}, {"query": words}


def constant(prompt: Conversation) -> tuple[object, ...]:
    return (*prompt.messages[: prompt.constant], tuple(tool.name for tool in prompt.tools))


def assert_whole(house: House, brain: ScriptedBrain, budgets: Budgets = WIDE) -> None:
    """Every prompt that was asked began with all of its constant part."""
    static = Harness(ScriptedBrain(), house.catalogue, budgets).prompts().values()
    known = {constant(prompt) for prompt in static}
    for prompt in brain.asked:
        assert constant(prompt) in known
        assert prompt.constant >= 1


@pytest.mark.parametrize("words", [401, 2048, 6000])
async def test_a_message_larger_than_its_budget_is_refused_with_both_counts_and_never_cut(
    house: House, words: int
) -> None:
    events, brain = await run(house, "word " * words, budgets=Budgets(), brain=ScriptedBrain)
    (refused,) = [event for event in events if isinstance(event, TurnFailed)]
    assert (refused.code, refused.status) == ("too_long", 413)
    assert refused.message == f"The message has {words} tokens, but only 400 fit; shorten it."
    assert brain.asked == []


@pytest.mark.parametrize("turns", [0, 1, 5, 200])
async def test_a_long_history_is_trimmed_from_its_oldest_message_and_the_menu_never(
    house: House, turns: int
) -> None:
    history = tuple(
        message
        for n in range(turns)
        for message in (Message("user", f"{n} question " * 9), Message("assistant", f"{n} answer " * 9))
    )
    events, brain = await run(house, "what else?", REPLY, Write(("Now.",)), history=history)
    assert isinstance(events[-1], TurnFinished)
    assert_whole(house, brain)
    planner, reply = brain.asked
    assert "@look-up: " in planner.messages[0].content
    kept = reply.messages[1:-1]
    dropped = len(history) - len(kept)
    assert kept[1:] == history[dropped + 1 :], "whole messages, the newest ones"
    assert [m.content for m in kept[:1]] == [
        f"{'(Earlier messages were left out here.)' + chr(10) if dropped else ''}{m.content}"
        for m in history[dropped : dropped + 1]
    ]
    assert events[-1].dropped == dropped, "counted"
    assert await brain.count(reply) <= WIDE.answer_prompt
    assert len(kept) == len(history) or len(kept) > 10


async def test_a_longest_message_leaves_the_constant_part_of_every_level_whole(house: House) -> None:
    message = "x" * WIDE.message
    script = (
        LOOK,
        Fill({"tool": "find_note", "instruction": "y" * 300}),
        Fill({"query": "z" * 300}),
        Fill({"tool": "finish", "instruction": "done"}),
    )
    events, brain = await run(house, message, *script)
    assert isinstance(events[-1], TurnFinished), events[-1]
    assert len(brain.asked) == 4
    assert_whole(house, brain)


async def test_several_long_results_are_cut_with_a_mark_and_the_skill_goes_on(house: House) -> None:
    house.results["find_note"] = [Result.ok(f"{n} " + "found " * 500) for n in range(3)]
    script: tuple[Scripted, ...] = (
        LOOK,
        *(Fill(step) for n in range(3) for step in looked_up(str(n))),
        Fill({"tool": "clock", "instruction": "now"}),
        Fill({"place": ""}),
    )
    events, brain = await run(house, "where are my keys", *script)
    last = events[-1]
    assert isinstance(last, TurnFinished), last
    assert [call.tool for call in last.calls] == ["find_note"] * 3 + ["clock"]
    follower = [prompt for prompt in brain.asked if [tool.name for tool in prompt.tools] == ["call_tool"]]
    results = [message.content for message in follower[-1].messages if message.role == "tool"]
    assert len(results) == 3
    for result in results:
        assert result.endswith(" characters cut]")
    for prompt in follower:
        assert await brain.count(prompt) <= WIDE.follower_prompt


async def test_a_skill_that_outgrows_its_prompt_says_what_it_found(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    house.results["find_note"] = [Result.ok("The keys hang on the hook.")]
    room = len(str(Harness(ScriptedBrain(), house.catalogue, WIDE).prompts()["follower:look-up"].messages[0]))
    budgets = WIDE.model_copy(update={"follower_prompt": room})
    script = (LOOK, Fill({"tool": "find_note", "instruction": "k" * 200}), Fill({"query": "keys"}))
    events, brain = await run(house, "where are my keys", *script, budgets=budgets)
    last = events[-1]
    assert isinstance(last, TurnFinished), last
    assert last.answer == "The keys hang on the hook."
    assert "a plan ended early: The prompt has" in caplog.text
    assert not brain.script


@pytest.mark.parametrize("budgets", [WIDE, Budgets(message=300, answer_prompt=1000)])
async def test_a_result_as_large_as_a_house_is_cut_for_the_model_and_whole_beside_it(
    house: House, budgets: Budgets
) -> None:
    everything = "".join(f"lamp {n} is off. " for n in range(12_000))
    assert len(everything) > 200_000
    house.results["find_note"] = [Result.ok("Found the house.", Document("house", everything))]
    script = (Choose({"look-up": 1.0}), Fill({"tool": "find_note", "instruction": "all"}),
              Fill({"query": "all"}), Fill({"tool": "finish", "instruction": "done"}),
              Write(("Lamp 3 is off.",)))  # fmt: skip
    brain = CharacterBrain if budgets is WIDE else ScriptedBrain
    events, one = await run(house, "lamps?", *script, budgets=budgets, brain=brain)
    last = events[-1]
    assert isinstance(last, TurnFinished), last
    assert last.answer == "house: Lamp 3 is off."
    assert await one.count(one.asked[-1]) <= budgets.answer_prompt
    shown = one.asked[-1].messages[-1].content
    assert "characters cut]" in shown
    assert len(shown) < FACT_CHARACTERS + 200
    assert all("lamp 9 " not in str(prompt) for prompt in one.asked[:-1]), "no other level sees the payload"
    (finished,) = [event for event in events if isinstance(event, CallFinished)]
    assert finished.text == "Found the house."


@pytest.mark.parametrize("limit", range(60, 90))
def test_a_cut_never_goes_through_a_value(limit: int) -> None:
    notes = Notes(tuple(f"code {n} is {n * 111_111}" for n in range(101, 140)))
    cut = facts([Result.ok("Many codes.", notes)], limit)
    kept, mark, _ = cut.partition(" [...")
    assert mark
    assert values(kept) <= values(facts([Result.ok("Many codes.", notes)]))


def test_what_is_no_words_is_cut_all_the_same() -> None:
    assert clipped("x" * 500, 100) == "x" * 100 + " [... 400 characters cut]"
    assert clipped("a bc def", 8) == "a bc def"
    assert clipped("a bc def", 5) == "a bc [... 3 characters cut]"
    assert clipped("a bc def", 4) == "a bc [... 4 characters cut]"
    assert clipped("a bc def", 0) == " [... 8 characters cut]"
