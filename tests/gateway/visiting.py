"""A gateway's guests over a real harness, on a brain that says what the test queued."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from muleteer.engine.protocol import EngineStatus, ToolSpec
from muleteer.gateway import peer
from muleteer.gateway.guests import End, Guests
from muleteer.gateway.health import Health
from muleteer.gateway.peer import EVERYTHING, LOCAL, Peer
from muleteer.gateway.turns import Turns
from muleteer.harness.events import Outcome
from muleteer.harness.guests.ask import Ask, Said, Wanted
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.gateway.scripted import StubEngine
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write

CONTEXT = 4096
LIMIT = 2
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
WEATHER = ToolSpec("weather", "Tell the weather.", PLACE)

# Bodies and what the brain says to them, in a format or the other.
HELLO: list[Any] = [{"role": "user", "content": "hello"}]
RAIN: list[Any] = [{"role": "user", "content": "Rain in Oslo and Rome?"}]
TOOL: Any = {
    "type": "function",
    "function": {"name": "weather", "description": "Tell the weather.", "parameters": PLACE},
}
REPLY = (Choose({"reply": 1.0}), Write(("Hello, ", "dear ", "friend.")))
BOTH = (
    Choose({"weather": 1.0}),
    Fill({"place": "Oslo"}),
    Choose({"weather": 1.0}),
    Fill({"place": "Rome"}),
)


@dataclass
class Visit:
    """Guests and everything behind them. `remembered` are the messages of finished turns."""

    brain: ScriptedBrain
    house: House
    harness: Harness
    engine: StubEngine
    health: Health
    turns: Turns
    guests: Guests
    remembered: list[tuple[Outcome, str]]

    async def reply(self, ask: Ask) -> tuple[str, tuple[Wanted, ...], End]:
        async with self.guests.start(ask) as reply:
            return await reply.whole()

    def script(self, *script: Scripted) -> None:
        self.brain.script.extend(script)


def visit(*script: Scripted, confirm: tuple[str, ...] = (), **budgets: Any) -> Visit:
    """Whoever calls this asks as the owner at the Unix socket."""
    peer.current.set(Peer("local", EVERYTHING, "unix", "", LOCAL))
    brain, house, engine = ScriptedBrain(*script), House(), StubEngine()
    harness = Harness(brain, house.catalogue, Budgets(**budgets), confirm)
    health = Health(engine)
    health.enter("ready")
    remembered: list[tuple[Outcome, str]] = []
    turns = Turns(
        harness, health, LIMIT, 0.05, lambda outcome, message: remembered.append((outcome, message))
    )
    guests = Guests(turns, harness, engine.status, "standard", CONTEXT)
    return Visit(brain, house, harness, engine, health, turns, guests, remembered)


def user(*texts: str) -> tuple[Said, ...]:
    """What was said in turn, the user first."""
    return tuple(Said("assistant" if i % 2 else "user", text) for i, text in enumerate(texts))


def status() -> EngineStatus:
    return EngineStatus("ready")
