"""Every static prompt is decoded ahead: in order, in the background, in every new engine process."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Literal

import pytest

from muleteer.engine.protocol import Conversation, EngineStatus, Message, Use
from muleteer.errors import EngineBusyError, EngineDiedError, EngineError
from muleteer.warming import Warming
from tests.harness.scripted import ScriptedBrain

DEADLINE = 10.0  # seconds; nothing here takes one, and a busy machine is forgiven
NAMES = ("planner", "agent:clock", "follower:look-up", "reply")
PROMPTS = {name: Conversation((Message("system", name),), constant=1) for name in NAMES}


class Processes(ScriptedBrain):
    """An engine whose process is replaced when the test says so. `faults` are raised by the next warmings;
    `hold` keeps them waiting while it is not set."""

    def __init__(self, *faults: Exception) -> None:
        super().__init__()
        self.faults = list(faults)
        self.state: Literal["ready", "failed", "unloaded"] = "ready"
        self.hold = asyncio.Event()
        self.hold.set()
        self.waited_for = asyncio.Event()
        self._pid = 1
        self._replaced = asyncio.Event()

    def status(self) -> EngineStatus:
        return EngineStatus(self.state)

    async def warm(self, prompt: Conversation) -> Use:
        self.waited_for.set()
        await self.hold.wait()
        if self.faults:
            raise self.faults.pop(0)
        return await super().warm(prompt)

    async def replaced(self, pid: int | None) -> int:
        while self._pid == pid:
            await self._replaced.wait()
        return self._pid

    def replace(self) -> None:
        self._pid += 1
        self._replaced.set()
        self._replaced = asyncio.Event()

    @property
    def names(self) -> list[str]:
        return [prompt.messages[0].content for prompt in self.warmed]


@asynccontextmanager
async def warming(engine: Processes, pauses: list[float] | None = None) -> AsyncIterator[Warming]:
    async def pause(seconds: float) -> None:
        assert pauses is not None
        pauses.append(seconds)

    one = Warming(engine, lambda: PROMPTS, lambda names: sorted(names, reverse=True), pause)
    task = asyncio.create_task(one.run(1))
    try:
        yield one
    finally:
        task.cancel()
        await asyncio.wait({task})


class Heard(logging.Handler):
    """What was logged; `until` waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self._more = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.text += self.format(record) + "\n"
        self._more.set()

    async def until(self, sentence: str, times: int = 1) -> None:
        async with asyncio.timeout(DEADLINE):
            while self.text.count(sentence) < times:
                self._more.clear()
                await self._more.wait()


@pytest.fixture
def heard() -> Iterator[Heard]:
    logger = logging.getLogger("muleteer.warming")
    handler, level = Heard(), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield handler
    logger.removeHandler(handler)
    logger.setLevel(level)


async def test_the_planner_first_then_by_use_all_in_the_background(heard: Heard) -> None:
    engine = Processes()
    async with warming(engine) as one:
        assert one.report() == {"ready": 0, "all": 4}
        await heard.until("The prompts are prepared: 4 of 4.")
        assert one.report() == {"ready": 4, "all": 4}
        engine.state = "unloaded"
        assert one.report() == {"ready": 0, "all": 4}
    assert engine.names == ["planner", "reply", "follower:look-up", "agent:clock"]
    assert engine.lanes == [True] * 4


async def test_the_first_prompt_is_told_as_soon_as_it_is_prepared(heard: Heard) -> None:
    engine, told = Processes(), list[int]()
    one = Warming(engine, lambda: PROMPTS, sorted, begun=lambda: told.append(len(engine.warmed)))
    task = asyncio.create_task(one.run(1))
    try:
        await heard.until("The prompts are prepared: 4 of 4.")
        assert told == [1]
        one.renew()
        await heard.until("The prompts are prepared: 4 of 4.", 2)
        assert told == [1, 4]
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_a_new_process_is_warmed_from_the_beginning(heard: Heard) -> None:
    engine = Processes()
    async with warming(engine) as one:
        await heard.until("The prompts are prepared: 4 of 4.")
        engine.hold.clear()
        engine.replace()
        await heard.until("The engine is a new process")
        assert one.report() == {"ready": 0, "all": 4}
        engine.hold.set()
        await heard.until("The prompts are prepared: 4 of 4.", times=2)
    assert engine.names == ["planner", "reply", "follower:look-up", "agent:clock"] * 2


async def test_a_process_that_is_replaced_in_the_middle_counts_nothing_of_the_old_one(
    heard: Heard,
) -> None:
    engine = Processes()
    engine.hold.clear()
    async with warming(engine) as one:
        engine.replace()
        await heard.until("The engine is a new process")
        engine.hold.set()
        await heard.until("The prompts are prepared: 4 of 4.")
        assert one.report() == {"ready": 4, "all": 4}
    assert engine.names == ["planner", "reply", "follower:look-up", "agent:clock"]


async def test_a_death_ends_the_round_and_the_next_process_gets_everything(
    heard: Heard,
) -> None:
    engine = Processes(EngineDiedError("it was killed"))
    async with warming(engine) as one:
        await heard.until("The prompt planner was not prepared: it was killed")
        assert one.report()["ready"] == 0
        engine.replace()
        await heard.until("The prompts are prepared: 4 of 4.")


async def test_one_prompt_that_fails_does_not_keep_the_others(heard: Heard) -> None:
    engine = Processes(EngineError("no room"), ZeroDivisionError("ours"))
    async with warming(engine) as one:
        await heard.until("The prompts are prepared: 2 of 4.")
        assert one.report() == {"ready": 2, "all": 4}
    assert "The prompt planner was not prepared: no room" in heard.text
    assert "ZeroDivisionError" in heard.text


async def test_an_engine_that_gave_up_is_not_asked_again(heard: Heard) -> None:
    engine = Processes(EngineError("it gave up"))
    engine.state = "failed"
    async with warming(engine):
        await heard.until("it gave up")
    assert engine.names == []
    assert heard.text.count("was not prepared") == 1


async def test_a_full_queue_is_waited_for(heard: Heard) -> None:
    engine = Processes(EngineBusyError("full", 7.0), EngineBusyError("full", 3.0))
    pauses: list[float] = []
    async with warming(engine, pauses):
        await heard.until("The prompts are prepared: 4 of 4.")
    assert pauses == [7.0, 3.0]


async def test_only_what_has_changed_is_prepared_again(heard: Heard) -> None:
    engine, prompts = Processes(), dict(PROMPTS)
    one = Warming(engine, lambda: dict(prompts), sorted)
    task = asyncio.create_task(one.run(1))
    try:
        await heard.until("The prompts are prepared: 4 of 4.")
        prompts["reply"] = Conversation((Message("system", "another reply"),), constant=1)
        del prompts["agent:clock"]
        assert one.report() == {"ready": 2, "all": 3}
        one.renew()
        await heard.until("The prompts are prepared: 3 of 3.")
        assert one.report() == {"ready": 3, "all": 3}
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert engine.names[4:] == ["another reply"]


async def test_a_change_in_the_middle_begins_anew(heard: Heard) -> None:
    engine, prompts = Processes(), dict(PROMPTS)
    engine.hold.clear()
    one = Warming(engine, lambda: dict(prompts), sorted)
    task = asyncio.create_task(one.run(1))
    try:
        await engine.waited_for.wait()
        prompts["planner"] = Conversation((Message("system", "another planner"),), constant=1)
        one.renew()
        engine.hold.set()
        await heard.until("The prompts are prepared: 4 of 4.")
    finally:
        task.cancel()
        await asyncio.wait({task})
    assert engine.names == ["planner", "another planner", "agent:clock", "follower:look-up", "reply"]
