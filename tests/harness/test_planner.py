"""L1: one choice over the menu; a plan ends it by signal."""

from collections import Counter

import pytest

from muleteer.harness.ledger import Ledger
from muleteer.harness.likeness import MOST
from muleteer.harness.menu import BESIDE, ROUND_REPLIES, ROUNDS, Fit
from muleteer.harness.planner import Planner
from muleteer.harness.rules import ASKS
from muleteer.harness.signals import BudgetExceeded, Plan, PlanSignal
from muleteer.skills import MenuLine
from tests.harness.scripted import Choose, ScriptedBrain

MENU = [
    MenuLine("search-info", "Find what the user told earlier.", ("where did I put the keys", "who is Ann")),
    MenuLine("calculator", "Arithmetic.", ("2 plus 2",)),
]


def ledger(budget: int = 1000) -> Ledger:
    return Ledger(budget, lambda event: None)


async def test_a_plan_is_a_signal_and_a_reply_returns() -> None:
    brain = ScriptedBrain(
        Choose({"calculator": 0.9, "reply": 0.1}), Choose({"calculator": 0.1, "reply": 0.9})
    )
    planner, book = Planner(MENU, 1000), ledger()
    with pytest.raises(PlanSignal) as signal:
        await planner.plan(brain, book, "3 times 4")
    assert signal.value.plan.handles == ("calculator",)
    assert await planner.plan(brain, book, "hello") > 0.5
    assert [level.name for level in book.levels] == ["planner", "planner"]


async def test_the_prompt_is_constant_but_for_the_message() -> None:
    planner = Planner(MENU, 1000)
    first, second = planner.prompt("one"), planner.prompt("two")
    assert first.messages[:-1] == second.messages[:-1]
    assert first.constant == len(first.messages) - 1


def test_the_menu_shows_one_line_a_handle_and_no_schema() -> None:
    system = Planner(MENU, 1000).prompt("x").messages[0].content
    assert system.count("- @") == len(MENU) + 1
    assert "- @calculator: Arithmetic." in system


def test_example_exchanges_alternate_between_handles() -> None:
    messages = Planner(MENU, 1000).prompt("x").messages[1:-1]
    said = [message.content for message in messages[1::2]]
    assert said[:4] == ["@search-info", "@reply", "@calculator", "@reply"]
    assert len(said) == 3 + ROUNDS * ROUND_REPLIES


def test_no_handle_has_more_example_exchanges_than_rounds() -> None:
    menu = [MenuLine(name, "About it.", tuple(f"{name} {i}" for i in range(9))) for name in "abcd"]
    messages = Planner(menu, 1000).prompt("x").messages[1:-1]
    said = Counter(message.content for message in messages[1::2])
    assert said == {**{f"@{name}": ROUNDS for name in "abcd"}, "@reply": ROUNDS * ROUND_REPLIES}
    assert [message.content for message in messages if message.content.startswith("a ")] == [
        "a 0",
        "a 4",
        "a 8",
    ]


def test_fewer_exchanges_are_the_first_ones() -> None:
    whole = Planner(MENU, 1000).prompt("x").messages
    fit = Fit(frozenset({"search-info", "calculator"}), 4)
    assert Planner(MENU, 1000, fit).prompt("x").messages == (*whole[: 1 + 2 * 4], whole[-1])


async def test_a_failed_plan_is_told_and_not_offered_again() -> None:
    brain = ScriptedBrain(Choose({"search-info": 1.0}))
    with pytest.raises(PlanSignal):
        await Planner(MENU, 1000).plan(brain, ledger(), "3 times 4", failed=[Plan(("calculator",), 0.9)])
    assert list(brain.options[0]) == ["@search-info", "@reply"]
    asked = brain.asked[0].messages[-1].content
    assert asked.startswith("3 times 4")
    assert "@calculator" in asked


FEW = Fit(frozenset({"search-info"}), 3)


async def test_a_line_that_is_not_always_shown_stands_beside_the_message_if_it_is_on_the_shortlist() -> None:
    brain = ScriptedBrain(Choose({"reply": 1.0}), Choose({"reply": 1.0}))
    planner = Planner(MENU, 1000, FEW)
    weighed = await planner.weigh(brain, ledger(), "3 times 4", (), ["calculator", "search-info"])
    assert weighed.beside == ("calculator",)
    assert list(brain.options[0]) == ["@search-info", "@calculator", "@reply"]
    said = brain.asked[0].messages[-1].content
    assert "- @calculator: Arithmetic." in said
    assert said.endswith("3 times 4")
    assert brain.asked[0].constant == len(planner.prompt("").messages) - 1
    await planner.weigh(brain, ledger(), "3 times 4")
    assert list(brain.options[1]) == ["@search-info", "@reply"], "what is not shown cannot be chosen"


async def test_no_more_lines_stand_beside_a_message_than_may() -> None:
    menu = [MenuLine(f"tool-{i}", f"Does {i}.", ()) for i in range(BESIDE + 5)]
    brain = ScriptedBrain(Choose({"reply": 1.0}))
    planner = Planner(menu, 1000, Fit(frozenset(), 0))
    weighed = await planner.weigh(brain, ledger(), "x", (), planner.handles)
    assert weighed.beside == planner.handles[:BESIDE]


async def test_what_a_rule_takes_away_is_not_offered_and_says_why() -> None:
    menu = [*MENU, MenuLine("switch", "Switch.", ("turn on the lamp",), effect="physical")]
    brain = ScriptedBrain(Choose({"reply": 1.0}))
    weighed = await Planner(menu, 1000).weigh(brain, ledger(), "is the lamp on")
    assert weighed.ruled_out == {"switch": ASKS}
    assert "@switch" not in brain.options[0]
    assert "switch" not in weighed.shares


async def test_a_spent_budget_asks_nothing() -> None:
    brain, book = ScriptedBrain(), ledger(budget=0)
    with pytest.raises(BudgetExceeded):
        await Planner(MENU, 1000).plan(brain, book, "x")
    assert brain.asked == []


TWO = [
    MenuLine(
        "sensor", "Read sensors.", ("is the attic warm", "is the pump running", "how damp is the cellar")
    ),
    MenuLine("device-info", "About this device.", ("are you warm", "how long have you been running")),
]


async def test_where_the_first_look_is_unsure_the_nearest_examples_are_shown_and_it_is_asked_again() -> None:
    brain, book = ScriptedBrain(Choose({"sensor": 0.4, "device-info": 0.4, "reply": 0.2})), ledger()
    brain.second = Choose({"sensor": 0.9, "device-info": 0.1})
    planner = Planner(TWO, 1000)
    weighed = await planner.weigh(brain, book, "xyz")
    (looked,) = brain.looked
    constant = len(planner.prompt("").messages) - 1
    assert looked.messages[:constant] == planner.prompt("").messages[:constant], "the constant part stays"
    assert looked.constant == constant
    near = [message.content for message in looked.messages[constant:-1]]
    assert near[near.index("are you warm") + 1] == "@device-info"
    assert looked.messages[-1].content == "xyz"
    assert weighed.again["sensor"] == 0.9
    assert weighed.plan is not None
    assert weighed.plan.handles == ("sensor",)
    assert [level.name for level in book.levels] == ["planner", "planner"]


def test_of_the_examples_the_nearest_comes_last() -> None:
    near = Planner(TWO, 1000).learn().nearest("is the pump running now", ["sensor", "device-info"], 1)
    assert near[-1] == ("is the pump running", "sensor")
    assert [handle for _, handle in near] == ["device-info", "sensor"]


async def test_where_it_is_sure_it_is_asked_once() -> None:
    brain = ScriptedBrain(Choose({"sensor": 0.98, "reply": 0.02}))
    weighed = await Planner(TWO, 1000).weigh(brain, ledger(), "is the pump running")
    assert brain.looked == []
    assert weighed.again == {}


async def test_a_message_too_long_for_a_second_look_is_decided_by_the_first() -> None:
    brain = ScriptedBrain(Choose({"sensor": 0.4, "device-info": 0.4, "reply": 0.2}))
    planner = Planner(TWO, 0)
    planner = Planner(TWO, await brain.count(planner.prompt("xyz")))
    weighed = await planner.weigh(brain, ledger(), "xyz")
    assert brain.looked == []
    assert weighed.again == {}
    assert weighed.plan is not None


def test_very_many_tools_without_examples_cost_the_others_none_of_theirs() -> None:
    plain = [MenuLine(f"far-{number}", f"Does thing {number}.", ()) for number in range(MOST)]
    likeness = Planner([*TWO, *plain], 1000).learn()
    assert "far-1" not in likeness.labels
    assert likeness.scores("how damp is the cellar")["sensor"] > 0.5
    few = Planner([*TWO, *plain[:9]], 1000).learn()
    assert "far-1" in few.labels
