"""Places for turns: a share for each client of the network, some for this device alone, and one status for
one thing in every protocol."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from starlette.routing import BaseRoute

from muleteer.errors import EngineBusyError, TooManyError
from muleteer.gateway.guests import Guests
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.routes import ollama_routes
from muleteer.gateway.openai.routes import openai_routes
from muleteer.gateway.peer import EVERYTHING, LOCAL, Peer
from muleteer.gateway.places import Places
from muleteer.gateway.turns import Turns
from muleteer.skills import Catalogue
from tests.gateway.networked import MOST_TURNS, Networked, networked
from tests.gateway.scripted import DEADLINE, FINISHED, STARTED
from tests.gateway.visiting import CONTEXT, status, visit

ADA = Peer("ada", frozenset({"chat"}), "tls", "192.0.2.1", "a1")
BOB = Peer("bob", EVERYTHING, "tcp", "192.0.2.2", "b2")
EVE = Peer("eve", EVERYTHING, "tcp", "192.0.2.3", "c3")
OWNER = Peer("local", EVERYTHING, "unix", "uid 1000", LOCAL)
TURN = {"message": "x", "stream": False}
SAID = {"model": "muleteer", "messages": [{"role": "user", "content": "x"}], "stream": False}
ASKING = {"/v1/turns": TURN, "/v1/chat/completions": SAID, "/api/chat": SAID}


def taken(places: Places, who: Peer | None) -> int:
    """How many places this one gets."""
    for number in range(100):
        try:
            places.take(who)
        except (EngineBusyError, TooManyError):
            return number
    return 100


@pytest.mark.parametrize(
    ("limit", "share", "network"), [(17, 8, 15), (8, 4, 6), (5, 2, 3), (4, 2, 2), (2, 1, 1)]
)
def test_a_client_has_its_share_and_the_device_what_is_its_own(limit: int, share: int, network: int) -> None:
    places = Places(limit)
    assert taken(places, ADA) == share
    assert taken(places, BOB) + taken(places, EVE) == network - share
    assert taken(places, OWNER) == limit - network
    with pytest.raises(EngineBusyError, match=f"^{limit} turns are running or waiting already"):
        places.take(None)


def test_the_owner_may_take_all_and_the_background_too() -> None:
    for who in (OWNER, None):
        places = Places(17)
        assert taken(places, who) == 17
        places.leave(who)
        assert taken(places, ADA) == 1


def test_what_was_left_is_taken_again_and_nobody_is_remembered() -> None:
    places = Places(17)
    assert taken(places, ADA) == 8
    with pytest.raises(TooManyError, match="8 turns of this client are running or waiting already"):
        places.take(ADA)
    for _ in range(8):
        places.leave(ADA)
    assert taken(places, ADA) == 8
    for _ in range(8):
        places.leave(ADA)
    assert not places._taken


def guests(turns: Turns, model: Path) -> Sequence[BaseRoute]:
    """Those of OpenAI's and Ollama's format, who are refused before a harness is asked."""

    async def wake() -> None:
        pass

    made = Guests(turns, visit().harness, status, "standard", CONTEXT)
    models = Models(made, status, str(model), None, CONTEXT, 0.0)
    return [*openai_routes(made), *ollama_routes(made, models, wake)]


@pytest.fixture
async def net(folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    model = folder / "standard.gguf"
    model.write_bytes(b"GGUF and more")
    async with networked(folder, catalogue, guests=lambda turns: guests(turns, model)) as net:
        yield net


async def refusals(client: httpx.AsyncClient) -> set[tuple[int, bool]]:
    """Status, and whether it says when to come again, of a turn in each protocol."""
    replies = [await client.post(path, json=body) for path, body in ASKING.items()]
    return {(reply.status_code, int(reply.headers["retry-after"]) > 0) for reply in replies}


async def test_no_token_takes_the_places_of_all_others(net: Networked) -> None:
    hold = asyncio.Event()
    net.harness.script = (STARTED, hold, FINISHED)
    async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        names = ("ada", "bob")
        clients = [net.client(await net.token("chat", name=name)) for name in names]
        for client in (local := net.local(), *clients):
            await stack.enter_async_context(client)
        ada, bob = clients
        running: list[asyncio.Task[httpx.Response]] = []

        async def fill(client: httpx.AsyncClient, number: int) -> None:
            running.extend(group.create_task(client.post("/v1/turns", json=TURN)) for _ in range(number))
            async with asyncio.timeout(DEADLINE):
                while net.turns.counts()["running"] < len(running):
                    await local.get("/healthz")

        await fill(ada, 4)
        assert await refusals(ada) == {(429, True)}, "her share"
        await fill(bob, 2)
        assert await refusals(bob) == {(503, True)}, "all that the network has"
        await fill(local, 2)
        assert len(running) == MOST_TURNS
        assert await refusals(local) == {(503, True)}, "all"
        hold.set()
    assert [each.result().status_code for each in running] == [200] * MOST_TURNS
    async with net.client(await net.token("chat", name="eve")) as eve:
        assert (await eve.post("/v1/turns", json=TURN)).status_code == 200


async def test_the_share_is_told_in_each_protocols_shape(net: Networked) -> None:
    hold = asyncio.Event()
    net.harness.script = (STARTED, hold, FINISHED)
    async with net.client(await net.token("chat")) as client, asyncio.TaskGroup() as group:
        for _ in range(4):
            group.create_task(client.post("/v1/turns", json=TURN))
        async with asyncio.timeout(DEADLINE):
            while net.turns.counts()["running"] < 4:
                await client.get("/healthz")
        native, openai, ollama = [
            (await client.post(path, json=body)).json()["error"] for path, body in ASKING.items()
        ]
        hold.set()
    assert native["code"] == "too_many_requests"
    assert (openai["type"], openai["code"]) == ("rate_limit_error", "rate_limit_exceeded")
    assert native["message"] == openai["message"] == ollama
    assert ollama.startswith("4 turns of this client are running or waiting already")
