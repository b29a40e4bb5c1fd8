"""Many skills and hidden tools: what the planner is shown and may choose stays within bounds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from muleteer.harness.ledger import Ledger
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import Choose, ScriptedBrain

BUDGETS = Budgets(planner_prompt=1000, message=400)


def book() -> Ledger:
    return Ledger(10_000, lambda event: None)


@pytest.mark.parametrize("said", ["list ports", "please call list_ports", "@list-ports", "list-ports now"])
async def test_a_hidden_tool_is_never_offered_however_it_is_called(house: House, said: str) -> None:
    """And so nothing that writes can stand in for it by a likeness of names."""
    brain = ScriptedBrain(Choose({"list-ports": 1.0}))
    harness = Harness(brain, house.catalogue, Budgets())
    await harness.measure()
    weighed = await harness.planner.weigh(brain, book(), said, (), harness.shortlist.pick(said))
    assert "@list-ports" not in brain.options[0]
    assert "list-ports" not in weighed.shares
    assert "@list-ports" not in brain.asked[0].messages[0].content


async def test_with_forty_more_skills_the_menu_stays_in_its_budget_and_each_can_be_chosen(
    house: House,
) -> None:
    skill = house.catalogue.skills["look-up"]
    things = [f"{first}{second}" for first in ("bark", "corn", "dusk", "fern") for second in "abcdefghij"]
    for thing in things:
        description = f"Tell about {thing} and whatever belongs to it, as long as somebody wants to know."
        house.catalogue.skills[thing] = replace(
            skill, name=thing, description=description, examples=(f"what is it with {thing}",)
        )
    brain = ScriptedBrain(*(Choose({thing: 1.0}) for thing in things))
    harness = Harness(brain, house.catalogue, BUDGETS)
    await harness.prepare()
    assert not house.catalogue.disabled
    assert len(harness.planner.fit.shown) < len(harness.planner.handles) == 44
    for thing in things:
        message = f"tell me about {thing}"
        weighed = await harness.planner.weigh(brain, book(), message, (), harness.shortlist.pick(message))
        assert weighed.plan is not None
        assert weighed.plan.handles == (thing,)
        tokens = await brain.count(brain.asked[-1])
        assert tokens <= BUDGETS.planner_prompt - BUDGETS.message + len(message.split())


async def test_the_constant_part_is_the_same_for_every_message_however_long_the_menu(house: House) -> None:
    tools = house.catalogue.toolbox.tools
    for number in range(300):
        name = f"far_{number}"
        about = f"Does thing number {number} somewhere far away from here."
        tools[name] = replace(tools["clock"], name=name, handle=f"far-{number}", description=about)
    brain = ScriptedBrain(Choose({"reply": 1.0}), Choose({"reply": 1.0}))
    harness = Harness(brain, house.catalogue, BUDGETS)
    await harness.prepare()
    for message in ("thing number 7", "hello"):
        await harness.planner.weigh(brain, book(), message, (), harness.shortlist.pick(message))
    first, second = (prompt.messages[: prompt.constant] for prompt in brain.asked[:2])
    assert first == second == brain.warmed[0].messages[: brain.warmed[0].constant]
