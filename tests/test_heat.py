"""A hot, throttled or starved board is spared: background waits, fewer threads decode; people are served."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from pathlib import Path

import pytest

from muleteer.engine.protocol import EngineStatus
from muleteer.heat import POLL_SECONDS, QUIET_READINGS, Cause, Cooling, Heat
from muleteer.sensors import Reading
from tests.engine.observing import READY_S, runner

HOT = 80.0
CALM = Reading(55.0, 0)


class Board:
    """An engine that remembers what it was told."""

    def __init__(self, threads: int = 4) -> None:
        self.now = EngineStatus("ready", threads=threads)

    def status(self) -> EngineStatus:
        return self.now

    def set_threads(self, number: int) -> None:
        self.now = replace(self.now, threads=number)

    def defer(self, reason: str) -> None:
        self.now = replace(self.now, deferred=reason)


def causes(*readings: Reading) -> list[tuple[Cause, ...]]:
    """After each reading."""
    heat = Heat(HOT)
    return [(heat.step(reading), heat.causes)[1] for reading in readings]


def celsius(*degrees: float) -> list[Reading]:
    return [Reading(each) for each in degrees]


def test_hot_begins_at_the_limit_and_ends_some_degrees_below_it() -> None:
    rising = causes(*celsius(79.9, 80.0, 76.0, 75.0))
    assert rising == [(), *[(Cause.HOT,)] * 3]
    cooling = causes(*celsius(85.0, *[74.9] * QUIET_READINGS, 79.9))
    assert cooling == [*[(Cause.HOT,)] * QUIET_READINGS, (), ()]


def test_one_cool_reading_is_not_the_end_of_it() -> None:
    assert causes(*celsius(85.0, 60.0, 60.0, 78.0, 60.0, 60.0))[-1] == (Cause.HOT,)


@pytest.mark.parametrize(
    ("bits", "expected", "slow"),
    [
        (0x0, (), False),
        (0x1, (Cause.UNDERVOLTAGE,), False),
        (0x2, (Cause.THROTTLED,), True),
        (0x4, (Cause.THROTTLED,), True),
        (0x8, (Cause.THROTTLED,), True),
        (0x5, (Cause.THROTTLED, Cause.UNDERVOLTAGE), True),
        (0xF0000, (), False),  # it happened since boot, and is over
        (0x50005, (Cause.THROTTLED, Cause.UNDERVOLTAGE), True),
    ],
)
def test_the_firmware_s_bits_of_now_count(bits: int, expected: tuple[Cause, ...], slow: bool) -> None:
    heat = Heat(HOT)
    assert heat.step(Reading(60.0, bits)) == bool(expected)
    assert (heat.causes, heat.slow) == (expected, slow)


def test_a_board_that_tells_nothing_is_left_alone() -> None:
    board = Board()
    cooling = Cooling(board, HOT, Reading)
    for _ in range(5):
        cooling.look(Reading())
    assert board.now == EngineStatus("ready", threads=4)
    assert cooling.report() == {"celsius": None, "throttled": False, "undervoltage": False}


@pytest.mark.parametrize(
    ("reading", "reason", "threads"),
    [
        (Reading(83.4, 0), "the processor is hot (83 °C)", 2),
        (Reading(70.0, 0x4), "the firmware throttles the processor (70 °C)", 2),
        (Reading(None, 0x4), "the firmware throttles the processor (a temperature it does not tell)", 2),
        (Reading(50.0, 0x1), "the supply voltage is too low (50 °C)", 4),
        (Reading(85.0, 0x5), "the processor is hot and the firmware throttles the processor and "
                             "the supply voltage is too low (85 °C)", 2),
    ],
)  # fmt: skip
def test_a_suffering_board_defers_background_by_the_cause_and_recovers(
    reading: Reading, reason: str, threads: int, caplog: pytest.LogCaptureFixture
) -> None:
    board = Board()
    cooling = Cooling(board, HOT, Reading)
    with caplog.at_level(logging.INFO):
        for _ in range(3):
            cooling.look(reading)
        assert (board.now.deferred, board.now.threads) == (reason, threads)
        assert cooling.report()["celsius"] == reading.celsius
        for _ in range(QUIET_READINGS):
            cooling.look(CALM)
    assert board.now == EngineStatus("ready", threads=4)
    begun, ended = [record.message for record in caplog.records]
    assert begun.startswith(f"Background work waits: {reason}")
    assert ended.startswith("Background work goes on: the processor is at 55 °C")


@pytest.mark.parametrize(("threads", "halved"), [(1, 1), (2, 1), (3, 1), (4, 2), (8, 4)])
def test_threads_are_halved_once_and_never_to_none(threads: int, halved: int) -> None:
    board = Board(threads)
    cooling = Cooling(board, HOT, Reading)
    for _ in range(4):
        cooling.look(Reading(90.0))
    assert board.now.threads == halved
    for _ in range(QUIET_READINGS):
        cooling.look(CALM)
    assert board.now.threads == threads


def test_a_model_that_loads_while_it_is_hot_is_slowed_then() -> None:
    board = Board(threads=0)
    cooling = Cooling(board, HOT, Reading)
    cooling.look(Reading(90.0))
    assert (board.now.threads, board.now.deferred) == (0, "the processor is hot (90 °C)")
    board.now = replace(board.now, threads=4)
    cooling.look(Reading(90.0))
    assert board.now.threads == 2


def test_heat_that_begins_under_low_voltage_is_told_and_slows(caplog: pytest.LogCaptureFixture) -> None:
    board = Board()
    cooling = Cooling(board, HOT, Reading)
    cooling.look(Reading(60.0, 0x1))
    assert board.now.threads == 4
    cooling.look(Reading(81.0, 0x1))
    assert board.now.threads == 2
    assert "the processor is hot and the supply voltage is too low (81 °C)" in board.now.deferred
    assert len(caplog.records) == 2


def test_another_limit_counts_from_the_next_reading_on() -> None:
    board = Board()
    cooling = Cooling(board, HOT, Reading)
    cooling.look(Reading(75.0))
    assert board.now.deferred == ""
    cooling.limit(70.0)
    cooling.look(Reading(75.0))
    assert board.now.deferred.startswith("the processor is hot")


async def test_on_a_hot_board_background_turns_wait_and_people_are_served(tmp_path: Path) -> None:
    async with runner(tmp_path)() as engine, asyncio.timeout(READY_S):
        await engine.ready(READY_S)
        cooling = Cooling(engine, HOT, Reading)
        cooling.look(Reading(85.0, 0x1))
        background = asyncio.create_task(engine.lane(background=True).count("background"))
        for _ in range(3):
            assert await engine.lane().count("direct") == len("direct")
        status = engine.status()
        assert status.deferred == "the processor is hot and the supply voltage is too low (85 °C)"
        assert (status.queued, background.done()) == (1, False)
        for _ in range(QUIET_READINGS):
            cooling.look(CALM)
        assert await background == len("background")
        assert engine.status().deferred == ""


async def test_the_board_is_looked_at_again_and_again(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    board = Board()
    readings = [Reading(50.0), Reading(90.0)]
    pauses: list[float] = []
    slept = asyncio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if not readings:
            slept.set()
            await asyncio.Event().wait()

    cooling = Cooling(board, HOT, lambda: readings.pop(0), pause)
    task = asyncio.create_task(cooling.run())
    async with asyncio.timeout(10):
        await slept.wait()
    task.cancel()
    await asyncio.wait({task})
    assert pauses == [POLL_SECONDS] * 2
    assert board.now.deferred == "the processor is hot (90 °C)"
    assert caplog.records[0].message == "The processor is at 50 °C."
