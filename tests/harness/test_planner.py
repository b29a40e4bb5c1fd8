"""L1: one choice over the menu; a plan ends it by signal."""

from collections import Counter

import pytest

from muleteer.harness.ledger import Ledger
from muleteer.harness.planner import REPLY_EXAMPLES, ROUNDS, Planner, decide
from muleteer.harness.signals import BudgetExceeded, Plan, PlanSignal
from muleteer.skills import MenuLine
from tests.harness.scripted import Choose, ScriptedBrain

MENU = [
    MenuLine("search-info", "Find what the user told earlier.", ("where did I put the keys", "who is Ann")),
    MenuLine("calculator", "Arithmetic.", ("2 plus 2",)),
]


def ledger(budget: int = 1000) -> Ledger:
    return Ledger(budget, lambda event: None)


def test_the_likeliest_handle_is_the_plan() -> None:
    assert decide({"a": 0.8, "b": 0.1, "reply": 0.1}) == Plan(("a",), 0.8)


def test_a_second_handle_joins_when_it_is_likely_enough() -> None:
    assert decide({"a": 0.42, "b": 0.5, "reply": 0.08}) == Plan(("b", "a"), 0.5)
    assert decide({"a": 0.35, "b": 0.6, "reply": 0.05}) == Plan(("b",), 0.6)


def test_a_likely_reply_is_no_plan() -> None:
    assert decide({"a": 0.45, "reply": 0.55}) is None


def test_an_unsure_reply_goes_to_the_likeliest_handle() -> None:
    assert decide({"a": 0.35, "b": 0.17, "reply": 0.48}) == Plan(("a",), 0.35)


def test_without_handles_everything_is_a_reply() -> None:
    assert decide({"reply": 1.0}) is None


async def test_a_plan_is_a_signal_and_a_reply_returns() -> None:
    brain = ScriptedBrain(
        Choose({"calculator": 0.9, "reply": 0.1}), Choose({"calculator": 0.1, "reply": 0.9})
    )
    planner, book = Planner(MENU, 1000), ledger()
    with pytest.raises(PlanSignal) as signal:
        await planner.plan(brain, book, "3 times 4")
    assert signal.value.plan == Plan(("calculator",), 0.9)
    assert await planner.plan(brain, book, "hello") == 0.9
    assert [level.name for level in book.levels] == ["planner", "planner"]


async def test_the_prompt_is_constant_but_for_the_message() -> None:
    planner = Planner(MENU, 1000)
    first, second = planner.prompt("one"), planner.prompt("two")
    assert first.messages[:-1] == second.messages[:-1]
    assert first.constant == len(first.messages) - 1
    assert first.tool is None


def test_the_menu_shows_one_line_a_handle_and_no_schema() -> None:
    system = Planner(MENU, 1000).prompt("x").messages[0].content
    assert system.count("- @") == len(MENU) + 1
    assert "- @calculator: Arithmetic." in system


def test_example_exchanges_alternate_between_handles() -> None:
    messages = Planner(MENU, 1000).prompt("x").messages[1:-1]
    said = [message.content for message in messages[1::2]]
    assert said[:4] == ["@search-info", "@reply", "@calculator", "@reply"]
    assert len(said) == 3 + len(REPLY_EXAMPLES)


def test_no_handle_has_more_example_exchanges_than_rounds() -> None:
    menu = [MenuLine(name, "About it.", tuple(f"{name} {i}" for i in range(9))) for name in "abcd"]
    messages = Planner(menu, 1000).prompt("x").messages[1:-1]
    said = Counter(message.content for message in messages[1::2])
    assert said == {**{f"@{name}": ROUNDS for name in "abcd"}, "@reply": len(REPLY_EXAMPLES)}
    assert [message.content for message in messages if message.content.startswith("a ")] == [
        "a 0",
        "a 4",
        "a 8",
    ]


def test_fewer_rounds_have_fewer_replies() -> None:
    messages = Planner(MENU, 1000, rounds=1).prompt("x").messages[1:-1]
    assert [message.content for message in messages[1::2]].count("@reply") == len(REPLY_EXAMPLES) // ROUNDS


async def test_a_failed_plan_is_told_and_not_offered_again() -> None:
    brain = ScriptedBrain(Choose({"search-info": 1.0}))
    with pytest.raises(PlanSignal):
        await Planner(MENU, 1000).plan(brain, ledger(), "3 times 4", failed=[Plan(("calculator",), 0.9)])
    assert list(brain.options[0]) == ["@search-info", "@reply"]
    asked = brain.asked[0].messages[-1].content
    assert asked.startswith("3 times 4")
    assert "@calculator" in asked


async def test_only_the_shortlist_is_scored() -> None:
    brain = ScriptedBrain(Choose({"reply": 1.0}))
    await Planner(MENU, 1000).plan(brain, ledger(), "x", among=["calculator"])
    assert list(brain.options[0]) == ["@calculator", "@reply"]


async def test_a_spent_budget_asks_nothing() -> None:
    brain, book = ScriptedBrain(), ledger(budget=0)
    with pytest.raises(BudgetExceeded):
        await Planner(MENU, 1000).plan(brain, book, "x")
    assert brain.asked == []
