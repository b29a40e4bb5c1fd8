"""The routing battery over scripted choices: every menu, what is written down, and what a run cannot ask."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Case
from muleteer.evaluate.material import Material
from muleteer.evaluate.routing.battery import Routing
from muleteer.evaluate.routing.cases import Line
from muleteer.harness.planner import REPLY
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from tests.harness.scripted import Choose, ScriptedBrain

LINES = [
    Line(1, "is the pump on", "sensor", "report"),
    Line(2, "look into my diary", "check-schedule", "development"),
    Line(3, "who was Napoleon", REPLY, "report"),
]
BUDGETS = Budgets(planner_prompt=4000)


@pytest.fixture
def catalogue(tmp_path: Path) -> Catalogue:
    return Material.shipped(tmp_path).catalogue


async def asked(battery: Routing, brain: ScriptedBrain, case: Case, side: str) -> Any:
    engine = cast(Any, brain)
    await battery.warm(engine, case, side)
    answered, levels = await battery.answer(engine, case, side)
    assert [level.name for level in levels] == ["planner"]
    return answered


async def test_what_was_chosen_is_written_down_with_why(catalogue: Catalogue) -> None:
    battery = Routing(LINES, catalogue, BUDGETS)
    brain = ScriptedBrain(Choose({"sensor": 1.0}), Choose({"timer": 1.0}), Choose({REPLY: 1.0}))
    found = [await asked(battery, brain, case, "shipped") for case in battery.cases]
    assert [(each.right, each.got) for each in found] == [(True, "sensor"), (False, "timer"), (True, REPLY)]
    assert found[1].why == "check-schedule was wanted"
    assert found[0].extra["asks"] is True
    assert found[1].extra["effect"] == "write"
    assert found[1].extra["wanted_effect"] == "read"
    assert found[0].extra["half"] == "report"
    assert found[0].extra["confidence"] > 0.5


@pytest.mark.parametrize(
    ("side", "n"), [("shipped", 14), ("+5", 19), ("+20", 34), ("2", 2), ("8", 8), ("24", 24)]
)
async def test_each_menu_has_its_size_and_the_wanted_handle(catalogue: Catalogue, side: str, n: int) -> None:
    battery = Routing(LINES, catalogue, BUDGETS, (side,))
    for case in battery.cases:
        brain = ScriptedBrain(Choose({REPLY: 1.0}))
        await asked(battery, brain, case, side)
        shown = brain.asked[0].messages[0].content
        assert shown.count("- @") == n + 1
        assert f"- @{case.group}:" in shown


@pytest.mark.parametrize("side", ["1", "0", "+0", "many", "+21", "99", "-3"])
def test_a_menu_that_cannot_be_is_refused(catalogue: Catalogue, side: str) -> None:
    with pytest.raises(ConfigError, match=r"[Tt]he(re is no)? menu"):
        Routing(LINES, catalogue, BUDGETS, (side,))


def test_a_run_is_the_same_only_if_lines_and_menus_are(catalogue: Catalogue) -> None:
    digests = {
        Routing(lines, catalogue, BUDGETS, menus).digest
        for lines, menus in ((LINES, ("shipped",)), (LINES[:2], ("shipped",)), (LINES, ("+5",)))
    }
    assert len(digests) == 3
    assert Routing(LINES, catalogue, BUDGETS).digest in digests


async def test_a_tool_of_the_wanted_skill_is_related(catalogue: Catalogue) -> None:
    line = Line(1, "if it is cold, turn on the heater", "home-control", "report")
    battery = Routing([line], catalogue, BUDGETS)
    answered = await asked(battery, ScriptedBrain(Choose({"sensor": 1.0})), battery.cases[0], "shipped")
    assert (answered.right, answered.extra["related"]) == (False, True)
