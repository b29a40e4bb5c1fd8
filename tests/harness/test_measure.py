"""What cannot fit is disabled by name; of a long menu a part is shown; room for no line is an error."""

from dataclasses import replace

import pytest

from muleteer.errors import ConfigError
from muleteer.harness.ledger import Ledger
from muleteer.harness.menu import ROUNDS, Fit
from muleteer.harness.planner import Planner
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import Choose, ScriptedBrain


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
    menu = house.catalogue.menu()
    whole = Fit.whole(menu)
    fewer = replace(whole, exchanges=whole.exchanges - 1)
    room = await ScriptedBrain().count(Planner(menu, 0, fewer).prompt(""))
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=room + 400))
    assert await harness.measure() == room
    assert harness.planner.fit.shown == whole.shown
    assert harness.planner.fit.exchanges == fewer.exchanges


async def test_of_a_menu_that_is_too_long_the_shortest_lines_are_always_shown(house: House) -> None:
    skill = house.catalogue.skills["look-up"]
    for number in range(40):
        words = "word " * (3 + number)
        name = f"more-{number:02d}"
        house.catalogue.skills[name] = replace(skill, name=name, description=words, examples=())
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=1200, message=600))
    await harness.prepare()
    shown = harness.planner.fit.shown
    assert {"look-up", "clock", "keep", "ping", "more-00", "more-10"} <= shown
    assert "more-39" not in shown
    assert len(harness.planner.handles) == 44
    assert not house.catalogue.disabled, "what is not always shown can still be chosen"
    assert house.catalogue.costs["more-39"].planner == 0 < house.catalogue.costs["more-00"].planner


async def test_a_line_that_fits_nowhere_is_disabled(house: House) -> None:
    skill = house.catalogue.skills["look-up"]
    for name, words in (("long", 900), ("longest", 2000), ("short", 5)):
        house.catalogue.skills[name] = replace(skill, name=name, description="word " * words)
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=1600, message=600))
    await harness.prepare()
    assert harness.planner.handles == ("look-up", "short", "clock", "keep", "ping")
    assert set(house.catalogue.disabled) == {"long", "longest"}
    reason = house.catalogue.disabled["longest"]
    assert "@longest has the longest line of a menu that does not fit" in reason
    assert "budgets.message leaves 1000 tokens. Shorten it or raise" in reason


async def test_what_a_server_brought_goes_before_what_is_the_users_own(house: House) -> None:
    """However short its lines are: a stranger's many tools must not push a skill out of sight."""
    skill, tools = house.catalogue.skills["look-up"], house.catalogue.toolbox.tools
    house.catalogue.skills["long"] = replace(skill, name="long", description="word " * 300)
    for number in range(200):
        name = f"far_{number}"
        handle = name.replace("_", "-")
        tools[name] = replace(tools["clock"], name=name, handle=handle, description="Far.", guest=True)
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=1600, message=600))
    await harness.prepare()
    own = {"look-up", "long", "clock", "keep", "ping"}
    shown = harness.planner.fit.shown
    assert own < shown
    assert len(shown) < len(harness.planner.handles) == 205


async def test_a_menu_of_800_tools_costs_no_more_than_its_budget_whatever_is_asked(house: House) -> None:
    tools = house.catalogue.toolbox.tools
    for number in range(800):
        name = f"far_{number}"
        about = f"Does thing {number} with care and {'some ' * (number % 40)}words."
        tools[name] = replace(tools["clock"], name=name, handle=f"far-{number}", description=about)
    budgets = Budgets(planner_prompt=1000, message=400)
    brain = ScriptedBrain(*(Choose({"reply": 1.0}) for _ in range(20)))
    harness = Harness(brain, house.catalogue, budgets)
    await harness.prepare()
    for number in range(20):
        message = f"do thing {number * 39} with care and some some some words"
        among = harness.shortlist.pick(message)
        weighed = await harness.planner.weigh(brain, Ledger(4000, lambda event: None), message, (), among)
        assert f"far-{number * 39}" in {*harness.planner.fit.shown, *weighed.beside}
        assert await brain.count(brain.asked[-1]) <= budgets.planner_prompt - budgets.message + len(
            message.split()
        )


async def test_a_planner_without_room_for_one_line_stops_the_start(house: House) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=616, message=600))
    with pytest.raises(
        ConfigError, match=r"shortest menu \(@keep alone\) does not fit: .* leaves 16 tokens; raise"
    ):
        await harness.prepare()


async def test_a_crowded_menu_is_told(house: House) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets())
    await harness.measure()
    assert house.catalogue.notes == []
    tokens = harness.planner.fit.tokens
    crowded = Harness(ScriptedBrain(), house.catalogue, Budgets(planner_prompt=tokens + 390))
    await crowded.measure()
    (note,) = house.catalogue.notes
    assert "with 4 handles only" in note
    assert "raise budgets.planner_prompt" in note
    report = crowded.menu_report()
    assert report["notes"] == [note]
    assert (report["tokens"], report["room"]) == (crowded.planner.fit.tokens, tokens - 10)
    assert crowded.planner.fit.tokens <= tokens - 10
    await harness.measure()
    assert house.catalogue.notes == []
