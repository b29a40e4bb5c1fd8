"""A Wyoming service on a real port and a real Unix socket, before a harness that says what it is told."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from wyoming.asr import Transcript
from wyoming.client import AsyncClient, AsyncTcpClient, AsyncUnixClient
from wyoming.event import Event
from wyoming.handle import Handled, HandledStop, NotHandled

from muleteer.engine.protocol import Message
from muleteer.gateway.health import Health
from muleteer.gateway.turns import Turns
from muleteer.gateway.wyoming.connection import Limits
from muleteer.gateway.wyoming.listening import VoiceListening
from muleteer.gateway.wyoming.opening import describe
from muleteer.gateway.wyoming.talk import History, Talks
from muleteer.settings.sections import GatewaySettings
from muleteer.settings.wyoming import WyomingSettings
from tests.gateway.scripted import DEADLINE, ScriptedHarness, StubEngine

DEVICE = "3f7a" * 8
LIMIT = 4  # turns at once
LOADING_WAIT = 0.05  # seconds


@dataclass
class Voice:
    """The service and everything behind it. `remembered` is what was said in each session."""

    listening: VoiceListening
    path: Path
    harness: ScriptedHarness
    health: Health
    turns: Turns
    remembered: dict[str, list[Message]]

    def tcp(self) -> AsyncTcpClient:
        return AsyncTcpClient("127.0.0.1", self.listening.port)

    def unix(self) -> AsyncUnixClient:
        return AsyncUnixClient(self.path)


@pytest.fixture
def limits() -> Limits:
    return Limits()


@pytest.fixture
async def voice(folder: Path, limits: Limits) -> AsyncIterator[Voice]:
    async with serving(folder, limits) as made:
        yield made


@asynccontextmanager
async def serving(
    folder: Path, limits: Limits, recall: History | None = None, **settings: object
) -> AsyncIterator[Voice]:
    """With this memory instead of the one that is returned."""
    harness, health = ScriptedHarness(), Health(StubEngine())
    health.enter("ready")
    turns = Turns(harness, health, LIMIT, LOADING_WAIT)
    remembered: dict[str, list[Message]] = {}

    async def history(session: str) -> list[Message]:
        return remembered.setdefault(session, [])

    chosen: dict[str, object] = {"listen": "loopback", "port": 0, "unix": folder / "w", **settings}
    listening = VoiceListening(
        WyomingSettings.model_validate(chosen),
        Talks(turns, recall or history),
        lambda: describe(DEVICE, "standard", True),
        limits,
    )
    await listening.open(folder, GatewaySettings())
    yield Voice(listening, folder / "w", harness, health, turns, remembered)
    turns.stop()
    await listening.stop(DEADLINE)


async def say(
    client: AsyncClient, text: str, conversation: str = "", seconds: float = DEADLINE
) -> list[Event]:
    """Everything that is answered, to the last event."""
    context = {"conversation_id": conversation} if conversation else None
    await client.write_event(Transcript(text, context=context).event())
    return await answer(client, seconds)


async def answer(client: AsyncClient, seconds: float) -> list[Event]:
    events: list[Event] = []
    while True:
        event = await heard(client, seconds)
        assert event is not None, f"the connection ended after {events}"
        events.append(event)
        streamed = events[0].type == "handled-start"
        if HandledStop.is_type(event.type) or (not streamed and _is_end(event)):
            return events


def _is_end(event: Event) -> bool:
    return Handled.is_type(event.type) or NotHandled.is_type(event.type)


async def heard(client: AsyncClient, seconds: float = DEADLINE) -> Event | None:
    """The next event; None when the service has hung up."""
    async with asyncio.timeout(seconds):
        return await client.read_event()


async def gone(client: AsyncClient) -> None:
    """Returns when the service has hung up."""
    async with asyncio.timeout(DEADLINE):
        while True:
            try:
                if await client.read_event() is None:
                    return
            except ConnectionError:
                return
