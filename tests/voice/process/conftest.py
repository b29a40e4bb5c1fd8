"""A daemon's gateway on a scripted harness, and a conversation with it: real sockets, threads and clocks.

Only the parts are made up: a frame comes every 2 ms instead of 20.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import uvloop

from muleteer.broadcast import Broadcast
from muleteer.chime import Chime
from muleteer.engine.protocol import Message
from muleteer.gateway.access import LocalAccess
from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.events import events_route
from muleteer.gateway.health import Health
from muleteer.gateway.server import HttpServer
from muleteer.gateway.sockets import UnixListener, listen_unix
from muleteer.gateway.speaking import speaking_routes
from muleteer.gateway.timers import timer_routes
from muleteer.gateway.turns import Turns
from muleteer.harness.turn import Harness
from muleteer.ringing import DeviceTimers
from muleteer.services import Services
from muleteer.settings.sections import Budgets
from muleteer.skills import load_catalogue
from muleteer.store.timers import TimerStore
from muleteer.toolbox import Toolbox
from muleteer.voice.conversation.house import DaemonHouse
from tests.gateway.scripted import ScriptedHarness, StubEngine
from tests.harness.scripted import ScriptedBrain
from tests.voice.conversation.scripted import Scene

PACE = 0.002  # seconds a frame


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, as a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="mule") as name:
        yield Path(name)


@dataclass
class Daemon:
    """A gateway that can be stopped and started again."""

    folder: Path
    harness: ScriptedHarness
    brain: ScriptedBrain
    broadcast: Broadcast

    async def start(self) -> None:
        engine = StubEngine()
        health = Health(engine)
        health.enter("ready")
        self.turns = Turns(self.harness, health, 2)
        catalogue = load_catalogue([], Toolbox.of([]))
        arranged = Harness(self.brain, catalogue, Budgets())
        self.timers = DeviceTimers(TimerStore(self.folder / "timers.db"), self.broadcast, Chime((), 1.0))
        self.listener: UnixListener = listen_unix(self.folder / "s")
        routes = [
            *speaking_routes(lambda: arranged, Services(), health),
            *timer_routes(self.timers, self.timers.silence),
            events_route(self.broadcast),
        ]
        gateway = Gateway(
            self.turns,
            health,
            engine,
            lambda: catalogue,
            "standard",
            self.listener.path,
            routes=routes,
            history=_none,
        )
        self.server = HttpServer(LocalAccess(build_app(gateway), frozenset()))
        await self.server.start(self.listener.socket)

    async def stop(self) -> None:
        self.turns.stop()
        self.broadcast.close()
        await self.server.stop(5.0)
        self.listener.close()
        await self.timers.close()


async def _none(session: str) -> tuple[Message, ...]:
    return ()


@pytest.fixture
async def daemon(folder: Path) -> AsyncIterator[Daemon]:
    made = Daemon(folder, ScriptedHarness(), ScriptedBrain(), Broadcast())
    await made.start()
    yield made
    await made.stop()


@pytest.fixture
def scene(daemon: Daemon) -> Scene:
    return Scene(house=DaemonHouse(daemon.listener.path), pace=PACE)
