"""Another catalogue under a harness that runs: measured first, used from the next turn on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from muleteer.catalogue.renewal import MANY, Renewal, gather
from muleteer.engine.protocol import Conversation, JsonSchema, Text
from muleteer.errors import ConfigError, EngineError
from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.catalogue.test_stock import Home
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain
from tests.test_skills import skill

DEADLINE = 10.0  # seconds; nothing here takes one, and a busy machine is forgiven


class Moody(ScriptedBrain):
    """Cannot measure while `faults` are left; waits with a choice while `hold` is not set."""

    def __init__(self, *script: Scripted) -> None:
        super().__init__(*script)
        self.faults: list[Exception] = []
        self.chose = asyncio.Event()
        self.hold = asyncio.Event()
        self.hold.set()

    def lane(self, background: bool = False) -> Moody:
        super().lane(background)
        return self

    async def count(self, prompt: Conversation | str) -> int:
        if self.faults:
            raise self.faults.pop(0)
        return await super().count(prompt)

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        self.chose.set()
        await self.hold.wait()
        return await super().fill(prompt, schema, limit=limit, prompt_limit=prompt_limit)


class Running:
    """A harness over the folders of a home, and what tells that it was renewed."""

    def __init__(self, home: Home, brain: Moody, budgets: Budgets) -> None:
        self.home, self.brain = home, brain
        self.harness = Harness(brain, home.catalogue, budgets)
        self.renewed = 0
        self.pauses: list[float] = []
        self.renewal = Renewal(home.stock, self.harness, self.count, self.pause)

    def count(self) -> None:
        self.renewed += 1

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    def turn(self) -> asyncio.Task[TurnFinished]:
        async def run() -> TurnFinished:
            events = [event async for event in self.harness.run("Where is it?")]
            assert isinstance(events[-1], TurnFinished), events[-1]
            return events[-1]

        return asyncio.create_task(run())


@pytest.fixture
def home(tmp_path: Path) -> Home:
    home = Home(tmp_path)
    home.tool("lamp", "old")
    home.take()
    return home


CALL = (Choose({"lamp": 0.9}), Fill({"place": "x"}))


async def running(home: Home, *script: Scripted, budgets: Budgets | None = None) -> Running:
    one = Running(home, Moody(*script), budgets or Budgets())
    await one.harness.measure()
    return one


async def test_a_turn_that_runs_keeps_its_tools_and_the_next_one_has_the_new(home: Home) -> None:
    one = await running(home, *CALL, *CALL)
    one.brain.hold.clear()
    turn = one.turn()
    async with asyncio.timeout(DEADLINE):
        await one.brain.chose.wait()
    home.tool("lamp", "new")
    await one.renewal.renew()
    one.brain.hold.set()
    assert (await turn).answer == "old, x, 1"
    assert (await one.turn()).answer == "new, x, 1"
    assert one.renewed == 1


async def test_a_new_menu_is_planned_with_when_it_is_decoded_and_what_is_gone_at_once(home: Home) -> None:
    one = await running(home)
    home.tool("clock")
    await one.renewal.renew()
    assert one.harness.planner.handles == ("lamp",)
    old = one.harness.planner.prompt("x")
    assert one.harness.prompts()["planner"] != one.harness.planner.prompt("")
    one.harness.take_up()
    assert set(one.harness.planner.handles) == {"lamp", "clock"}
    await one.renewal.switch("tools", "lamp", False)
    assert one.harness.planner.handles == ("clock",)
    assert one.harness.planner.prompt("x") != old
    one.harness.take_up()
    assert one.harness.planner.handles == ("clock",)
    assert one.harness.prompts()["planner"] == one.harness.planner.prompt("")


async def test_what_it_costs_is_measured_with_it(home: Home) -> None:
    one = await running(home)
    home.tool("clock")
    skill(home.skills, "evening", "Ask @clock, then @lamp.")
    await one.renewal.renew()
    costs = one.renewal.catalogue.costs
    assert set(costs) == {"lamp", "clock", "evening"}
    assert costs["clock"].planner > 0
    assert costs["clock"].agent > costs["clock"].follower > 0
    assert costs["evening"].follower > costs["clock"].follower
    assert costs["evening"].agent == 0


async def test_nothing_new_costs_nothing(home: Home) -> None:
    one = await running(home)
    one.brain.faults = [EngineError("it was asked")]
    await one.renewal.renew()
    assert one.renewed == 0


async def test_a_menu_that_does_not_fit_leaves_the_old_one(home: Home) -> None:
    one = await running(home)
    before = one.renewal.catalogue
    one.harness.budgets = Budgets(planner_prompt=616, message=600)
    home.tool("lamp", "new")
    with pytest.raises(ConfigError, match="shortest menu"):
        await one.renewal.renew()
    assert (one.renewal.catalogue, one.renewed) == (before, 0)
    await one.renewal.renew()  # nothing has changed since


async def changes(*gates: asyncio.Event) -> AsyncGenerator[None, None]:
    for gate in gates:
        await gate.wait()
        yield
    await asyncio.Event().wait()


async def test_changes_wait_for_an_engine_that_cannot_measure(
    home: Home, caplog: pytest.LogCaptureFixture
) -> None:
    one = await running(home)
    gate, seen = asyncio.Event(), asyncio.Event()
    one.renewal = Renewal(home.stock, one.harness, seen.set, one.pause)
    task = asyncio.create_task(one.renewal.run(changes(gate)))
    try:
        home.tool("lamp", "new")
        one.brain.faults = [EngineError("it is down"), EngineError("still down")]
        gate.set()
        async with asyncio.timeout(DEADLINE):
            await seen.wait()
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert len(one.pauses) == 2
    assert caplog.text.count("wait for the engine") == 2
    assert one.renewal.catalogue.toolbox.tools["lamp"].description.startswith("Answer from new.")


async def test_a_wish_is_kept_also_when_it_cannot_be_used_yet(home: Home) -> None:
    one = await running(home)
    seen = asyncio.Event()
    one.renewal = Renewal(home.stock, one.harness, seen.set, one.pause)
    task = asyncio.create_task(one.renewal.run(changes()))
    try:
        one.brain.faults = [EngineError("it is down")]
        with pytest.raises(EngineError, match="It is kept, and used as soon as the engine can: it is down"):
            await one.renewal.rename("tools", "lamp", "light")
        async with asyncio.timeout(DEADLINE):
            await seen.wait()
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert list(one.renewal.catalogue.toolbox.tools) == ["light"]


async def test_faults_are_told_once(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    (home.tools / "bad.py").write_text("1 / 0")
    home.open()
    one = await running(home)
    home.tool("clock")
    await one.renewal.renew()
    home.tool("clock", "new")
    await one.renewal.renew()
    assert "division by zero" not in caplog.text, "known before"
    (home.tools / "worse.py").write_text("[][1]")
    await one.renewal.renew()
    home.tool("clock", "newer")
    await one.renewal.renew()
    assert caplog.text.count("list index out of range") == 1


async def test_the_first_catalogue_tells_every_fault(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    path = home.tools / "bad.py"
    path.write_text("1 / 0")
    await gather(home.stock)
    reason = f"{path} cannot be loaded: ZeroDivisionError: division by zero. (line 1)"
    assert f"Disabled: {reason}" in caplog.messages


async def test_no_watching_is_a_sentence(home: Home, caplog: pytest.LogCaptureFixture) -> None:
    one = await running(home)

    async def none_left() -> AsyncGenerator[None, None]:
        raise OSError(28, "inotify watch limit reached")
        yield

    task = asyncio.create_task(one.renewal.run(none_left()))
    await one.renewal.switch("tools", "lamp", False)
    assert "wait for a restart: inotify watch limit reached" in caplog.text
    assert not task.done(), "wishes are still carried out"
    task.cancel()
    await asyncio.wait({task})


@pytest.mark.parametrize(("new", "told"), [(MANY - 1, 0), (MANY, 1)])
async def test_many_new_prompts_are_told_before_they_are_measured(
    home: Home, caplog: pytest.LogCaptureFixture, new: int, told: int
) -> None:
    caplog.set_level("INFO")
    one = await running(home)
    for number in range(new):
        home.tool(f"clock{number}")
    await one.renewal.renew()
    assert caplog.text.count(f"Measuring the prompts of {new} new skills and tools") == told
    home.tool("lamp", "new")
    await one.renewal.renew()
    assert caplog.text.count("Measuring") == told, "an edit of one is no news"
