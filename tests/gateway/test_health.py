from __future__ import annotations

import asyncio

import pytest

from muleteer.engine.protocol import EngineStatus
from muleteer.errors import EngineError, LoadingError, ShuttingDownError
from muleteer.gateway.health import Health
from tests.gateway.scripted import DEADLINE, StubEngine


@pytest.mark.parametrize(
    ("engine", "state"),
    [
        ("ready", "ready"),
        ("starting", "degraded"),
        ("loading", "degraded"),
        ("restarting", "degraded"),
        ("failed", "failed"),
        ("stopped", "failed"),
    ],
)
def test_once_ready_the_engine_decides(engine: str, state: str) -> None:
    stub = StubEngine()
    seconds = iter([100.0, 100.0, 112.4, 200.0, 300.0])
    health = Health(stub, lambda: next(seconds))
    assert health.report() == ("starting", "the daemon is starting")
    health.enter("loading", "the model is loading")
    assert health.report() == ("loading", "the model is loading, for 12 s now")
    health.enter("ready")
    stub.now = EngineStatus(engine, reason="it was killed")  # type: ignore[arg-type]  # a literal, by parameter
    assert health.report() == (state, "" if state == "ready" else "it was killed")
    health.enter("stopping", "the daemon is stopping")
    assert health.report() == ("stopping", "the daemon is stopping")


async def test_an_unloaded_model_serves_turns_and_is_said() -> None:
    stub = StubEngine()
    health = Health(stub)
    health.enter("ready")
    stub.now = EngineStatus("unloaded")
    assert health.report() == (
        "ready",
        "the model is unloaded, since nobody used it; the next turn loads it",
    )
    await health.serving(DEADLINE)
    assert stub.restarted == 0


async def test_waiting_ends_when_ready() -> None:
    health = Health(StubEngine())
    waiting = asyncio.create_task(health.serving(DEADLINE))
    health.enter("loading", "the model is loading")
    health.enter("ready")
    await waiting


async def test_waiting_ends_at_stop() -> None:
    health = Health(StubEngine())
    waiting = asyncio.create_task(health.serving(DEADLINE))
    health.enter("stopping", "the daemon is stopping")
    with pytest.raises(ShuttingDownError):
        await waiting


async def test_a_device_without_a_model_says_so_at_once() -> None:
    health = Health(StubEngine())
    health.enter("no model", "engine.model is none")
    assert health.report() == ("no model", "engine.model is none")
    with pytest.raises(EngineError, match="No turn can be served here"):
        await health.serving(DEADLINE)


async def test_waiting_is_bounded_and_names_what_is_waited_for() -> None:
    health = Health(StubEngine())
    health.enter("loading", "the model is loading")
    with pytest.raises(LoadingError, match="Not ready yet: the model is loading; ask again soon") as refused:
        await health.serving(0.01)
    assert (refused.value.code, refused.value.status) == ("loading", 503)


async def test_failed_engine_refuses_and_is_tried_again_and_a_restarting_one_is_waited_for() -> None:
    engine = StubEngine()
    health = Health(engine)
    health.enter("ready")
    engine.now = EngineStatus("restarting")
    await health.serving(DEADLINE)
    assert engine.restarted == 0
    engine.now = EngineStatus("failed", reason="it crashed 5 times")
    with pytest.raises(EngineError, match="it crashed 5 times"):
        await health.serving(DEADLINE)
    assert engine.restarted == 1
