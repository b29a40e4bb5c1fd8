"""A gateway on a real Unix socket, on the event loop that the daemon uses."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
import uvloop

from muleteer import session
from muleteer.engine.protocol import Message
from muleteer.gateway.access import LocalAccess
from muleteer.gateway.app import Gateway, build_app
from muleteer.gateway.health import Health
from muleteer.gateway.requests import BODY_SECONDS
from muleteer.gateway.server import HttpServer, Limits
from muleteer.gateway.sockets import listen_unix
from muleteer.gateway.turns import Turns
from muleteer.harness.events import Outcome
from muleteer.skills import Catalogue, Cost, load_catalogue
from muleteer.tool import Note, Services
from muleteer.toolbox import Toolbox
from tests.gateway.scripted import DEADLINE, ScriptedHarness, StubEngine


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"uvloop": uvloop.new_event_loop}


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, whatever the test is called: a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="mule") as name:
        yield Path(name)


@dataclass
class Served:
    """A running gateway and everything behind it."""

    path: Path
    harness: ScriptedHarness
    engine: StubEngine
    health: Health
    turns: Turns
    server: HttpServer
    client: httpx.AsyncClient
    ended: list[Outcome]
    said: list[tuple[str, str]]  # the message and the session of each

    async def counts(self, **expected: int) -> None:
        """Go through the loop until so many turns are `running` or `waiting`."""
        async with asyncio.timeout(DEADLINE):
            while not expected.items() <= self.turns.counts().items():
                await self.client.get("/healthz")


async def kept_of(session: str) -> tuple[Message, ...]:
    """What is kept of every session that has a name."""
    return (Message("user", f"said in {session}"),) if session else ()


SECTIONS = {"prompts": lambda: {"ready": 9, "all": 14}}
LIMIT = 2
KEEP_ALIVE = 0.01  # seconds
LOADING_WAIT = 0.05  # seconds


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
def body_seconds() -> float:
    return BODY_SECONDS


@pytest.fixture
async def served(
    folder: Path, catalogue: Catalogue, limits: Limits, body_seconds: float
) -> AsyncIterator[Served]:
    harness, engine = ScriptedHarness(), StubEngine()
    health = Health(engine)
    health.enter("ready")
    ended: list[Outcome] = []
    said: list[tuple[str, str]] = []

    def end(outcome: Outcome, message: str) -> None:
        ended.append(outcome)
        said.append((message, session.current.get()))

    turns = Turns(harness, health, LIMIT, LOADING_WAIT, end)
    listener = listen_unix(folder / "s")
    app = build_app(
        Gateway(
            turns,
            health,
            engine,
            lambda: catalogue,
            "standard",
            listener.path,
            sections=SECTIONS,
            history=kept_of,
            keep_alive=KEEP_ALIVE,
            body=body_seconds,
        )
    )
    server = HttpServer(LocalAccess(app, frozenset()), limits)
    await server.start(listener.socket)
    transport = httpx.AsyncHTTPTransport(uds=str(listener.path))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield Served(listener.path, harness, engine, health, turns, server, client, ended, said)
    turns.stop()
    await server.stop(5.0)
    listener.close()


class NoNotebook:
    async def add(self, text: str, page: str = "") -> Note:
        raise OSError("no notebook here")

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


CLOCK = '''
from muleteer.tool import Result, tool


@tool(effect="read")
async def clock() -> Result:
    """Tell the time."""
    return Result.ok("It is noon.")
'''
SKILL = """---
name: {name}
description: About {name}.
metadata:
  examples: [when is it]
---
Ask @{mention}.
"""


@pytest.fixture
def catalogue(folder: Path) -> Catalogue:
    """One tool, one skill that uses it, and one of each that is disabled."""
    tools, skills = folder / "tools", folder / "skills"
    tools.mkdir(mode=0o755)
    (tools / "clock.py").write_text(CLOCK)
    (tools / "broken.py").write_text("import nothing_of_that_name\n")
    for name, mention in {"hours": "clock", "lost": "nowhere"}.items():
        (skills / name).mkdir(parents=True)
        (skills / name / "SKILL.md").write_text(SKILL.format(name=name, mention=mention))
    made = load_catalogue([skills], Toolbox.load([tools], Services(NoNotebook())))
    made.costs["hours"] = Cost(30, 200)
    return made
