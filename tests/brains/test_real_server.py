"""A brain elsewhere that is real: llama.cpp's own server with the default model, over real HTTP."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator

import pytest

from muleteer.brains.server import Server
from muleteer.brains.settings import BrainServer
from muleteer.engine import models
from muleteer.evaluate.peer import Peer, PeerSettings
from muleteer.harness.events import TurnFinished
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House, house
from tests.harness.free.test_turn import Desk
from tests.harness.scripted import ScriptedBrain

__all__ = ["house"]  # the fixture

pytestmark = [
    pytest.mark.model("standard"),
    pytest.mark.skipif(not importlib.util.find_spec("xllamacpp"), reason="it comes with muleteer[bench]"),
]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    model = models.resolve("standard")
    async with Peer(PeerSettings(model=str(model), context=4096, threads=2)) as peer:
        each = Server("peer", BrainServer(url=f"{peer.address}/v1", first=300.0, between=60.0))
        await each.open()
        try:
            yield each
        finally:
            await each.close()


@pytest.mark.parametrize("flat", [True, False])
async def test_whole_turns(server: Server, house: House, flat: bool) -> None:
    harness = Harness(ScriptedBrain(), house.catalogue, Budgets(seconds=600.0), brains=Desk(server, flat))  # type: ignore[arg-type]

    async def ask(message: str) -> TurnFinished:
        last = [event async for event in harness.run(message)][-1]
        assert isinstance(last, TurnFinished), last
        assert all(level.prompt and level.generated for level in last.levels)
        print(message, last)
        return last

    said = await ask("Good morning! How are you today?")
    assert said.answer
    assert not said.calls
    told = await ask("What time is it in Rome?")
    assert ("clock", "Rome") in house.ran
    assert told.answer == "It is noon."
    noted = await ask("Keep a note that the key is under the pot.")
    assert noted.answer.startswith("Noted:")
    assert "pot" in noted.answer
    assert server.report()["failures"] == 0
