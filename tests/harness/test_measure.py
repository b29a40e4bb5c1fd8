"""What cannot fit is disabled by name; the longest menu lines too; room for none is an error."""

from dataclasses import replace

import pytest

from muleteer.errors import ConfigError
from muleteer.harness.planner import ROUNDS, Planner
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import ScriptedBrain


async def test_everything_fits_the_defaults(house: House) -> None:
    brain = ScriptedBrain()
    harness = Harness(brain, house.catalogue, Budgets())
    await harness.prepare()
    assert harness.planner.handles == ("look-up", "clock", "keep", "ping")
    assert [prompt.messages[0] for prompt in brain.warmed] == [harness.planner.prompt("").messages[0]]
    assert not house.catalogue.disabled


async def test_what_cannot_fit_is_disabled_alone_with_its_count(house: House) -> None:
    skill = house.catalogue.skills["look-up"]
    object.__setattr__(skill, "steps", "word " * 2000)
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets())
    await harness.prepare()
    assert harness.planner.handles == ("clock", "keep", "ping")
    reason = house.catalogue.disabled["look-up"]
    assert "@look-up needs 21" in reason
    assert "budgets.follower_prompt" in reason


async def test_a_skill_whose_last_tool_cannot_fit_goes_too(house: House) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(agent_prompt=616, message=600))
    await harness.prepare()
    assert "look-up" in house.catalogue.disabled
    assert "clock" in house.catalogue.toolbox.disabled


async def test_examples_go_before_any_line_does(house: House) -> None:
    skill = house.catalogue.skills["look-up"]
    examples = tuple(f"{number} " + "word " * 100 for number in range(ROUNDS))
    house.catalogue.skills["chatty"] = replace(skill, name="chatty", examples=examples)
    room = await ScriptedBrain().count(Planner(house.catalogue.menu(), 0, ROUNDS - 1).prompt(""))
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=room + 400))
    assert await harness.measure() == room
    assert "chatty" in harness.planner.handles
    assert not house.catalogue.disabled
    said = [message.content for message in harness.planner.prompt("").messages]
    assert [example in said for example in examples] == [True, False, True], "the first and the last stay"


async def test_the_longest_menu_lines_go_until_the_rest_fits(house: House) -> None:
    skill = house.catalogue.skills["look-up"]
    for name, words in (("long", 900), ("longest", 2000), ("short", 5)):
        house.catalogue.skills[name] = replace(skill, name=name, description="word " * words)
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=1600, message=600))
    await harness.prepare()
    assert harness.planner.handles == ("look-up", "short", "clock", "keep", "ping")
    assert set(house.catalogue.disabled) == {"long", "longest"}
    reason = house.catalogue.disabled["longest"]
    assert "@longest has the longest line of a menu that needs 3" in reason
    assert "budgets.planner_prompt - budgets.message leaves 1000. Shorten it or raise" in reason


async def test_what_a_server_brought_goes_before_what_is_the_users_own(house: House) -> None:
    """However short its lines are: a stranger's many tools must not push a skill out."""
    skill, tools = house.catalogue.skills["look-up"], house.catalogue.toolbox.tools
    house.catalogue.skills["long"] = replace(skill, name="long", description="word " * 300)
    for number in range(200):
        name = f"far_{number}"
        handle = name.replace("_", "-")
        tools[name] = replace(tools["clock"], name=name, handle=handle, description="Far.", guest=True)
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=1600, message=600))
    await harness.prepare()
    own = {"look-up", "long", "clock", "keep", "ping"}
    assert {each for each in harness.planner.handles if not each.startswith("far")} == own
    assert 0 < len(harness.planner.handles) - len(own) < 200
    gone = set(house.catalogue.toolbox.disabled) | set(house.catalogue.disabled)
    assert gone
    assert all(each.startswith("far") for each in gone)


async def test_a_planner_without_room_for_one_line_stops_the_start(house: House) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=616, message=600))
    with pytest.raises(
        ConfigError, match=r"shortest menu \(@keep alone\) needs \d+ tokens.*leaves 16; raise"
    ):
        await harness.prepare()
