"""The whole daemon and a client on the network, over TLS: who leaves frees the engine, and a stop is told."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import tempfile
import time
from collections.abc import AsyncIterator
from pathlib import Path
from unittest.mock import patch

import httpx
import pytest
import pytest_asyncio

from tests.test_daemon import DEADLINE, Daemon, daemon
from tests.test_daemon import SETTINGS as USUAL

pytestmark = [pytest.mark.model("tiny"), pytest.mark.asyncio(loop_scope="module")]

FREED_SECONDS = 1.0  # from the moment a client leaves
SETTINGS = '[gateway]\nlisten = "loopback"\ntls = true\nport = 0\n[seat]\nenabled = false\n'
SHORT = {"MULETEER_BUDGETS__PLANNER_PROMPT": "1200"}  # a menu that is read sooner
LONG = {"message": "Please think about this list: " + "hay straw grass " * 90, "stream": True}
STORY = {"message": "Tell me a long story about a mule.", "stream": True}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def ready() -> AsyncIterator[Daemon]:
    with tempfile.TemporaryDirectory(prefix="mule") as name:
        file = Path(name) / ".config" / "muleteer" / "config.toml"
        file.parent.mkdir(parents=True)
        file.write_text(SETTINGS)
        with patch.dict(USUAL, SHORT):
            async with daemon(Path(name)) as one:
                await one.says("Ready.")
                yield one


@pytest_asyncio.fixture(loop_scope="module")
async def client(ready: Daemon) -> AsyncIterator[httpx.AsyncClient]:
    """One with a token of its own, that knows the daemon by its certificate alone."""
    port = (await ready.status())["network"]["port"]
    shown = await asyncio.to_thread(ssl.get_server_certificate, ("127.0.0.1", port))
    trusting = ssl.create_default_context(cadata=shown)
    async with ready.client() as local:
        body = {"name": f"client-{time.monotonic_ns()}", "scopes": ["chat"]}
        secret = (await local.post("/v1/tokens", json=body)).json()["token"]
    async with httpx.AsyncClient(
        base_url=f"https://localhost:{port}",
        headers={"authorization": f"Bearer {secret}"},
        verify=trusting,
        timeout=DEADLINE,
        trust_env=False,
    ) as one:
        yield one


async def leaves_after(ready: Daemon, client: httpx.AsyncClient, body: object, line: str) -> float:
    """Seconds until a turn is over whose client leaves at this line of its stream."""
    async with client.stream("POST", "/v1/turns", json=body) as reply:
        assert reply.status_code == 200
        async for said in reply.aiter_lines():
            if said == line:
                break
        else:
            raise AssertionError(f"the turn ended without {line!r}")
    left = time.monotonic()
    await ready.reports(lambda status: status["turns"]["running"] == 0)
    return time.monotonic() - left


async def test_who_leaves_in_prefill_frees_the_engine(ready: Daemon, client: httpx.AsyncClient) -> None:
    before = (await ready.status())["turns"]["cancelled"]
    assert await leaves_after(ready, client, LONG, "event: turn.started") < FREED_SECONDS
    assert (await ready.status())["turns"]["cancelled"] == before + 1


async def test_a_cancel_by_its_id_in_prefill_frees_the_engine(
    ready: Daemon, client: httpx.AsyncClient
) -> None:
    idle = time.monotonic()
    assert await ready.answers(), "which asks the engine"
    idle = time.monotonic() - idle
    async with client.stream("POST", "/v1/turns", json=LONG) as reply:
        lines = reply.aiter_lines()
        assert await anext(lines) == "event: turn.started"
        turn = json.loads((await anext(lines)).removeprefix("data: "))["turn"]
        began = time.monotonic()
        cancelled = (await client.post(f"/v1/turns/{turn}/cancel")).json()
        assert await ready.answers()
        assert time.monotonic() - began < FREED_SECONDS + idle
        name, data = [line async for line in lines if line and not line.startswith(":")][-2:]
    assert cancelled["state"] == "cancelled"
    assert cancelled["outcome"]["levels"] == [], "the first prompt was being read"
    assert (name, json.loads(data.removeprefix("data: "))["code"]) == ("event: turn.failed", "cancelled")


async def test_a_turn_that_waits_for_the_engine_can_be_cancelled_by_its_id(
    ready: Daemon, client: httpx.AsyncClient
) -> None:
    """Also by a client that is told nothing before the end: the list has it."""
    engine = (await ready.status())["engine"]["pid"]
    async with ready.held_stream() as held:
        behind = asyncio.create_task(client.post("/v1/turns", json=STORY | {"stream": False}))
        await ready.reports(lambda status: status["turns"]["running"] == 2)
        (waiting,) = (await client.get("/v1/turns")).json()["turns"][:1]
        assert waiting["state"] == "running"
        assert (await client.delete(f"/v1/turns/{waiting['turn']}")).json()["state"] == "cancelled"
        told = await behind
        assert (told.status_code, told.json()["error"]["code"]) == (499, "cancelled")
        os.kill(engine, signal.SIGCONT)
        async for line in held:
            if line.startswith("event: "):
                break
    assert line != "event: turn.failed", "the one before it goes on"


async def test_who_leaves_in_decoding_frees_the_engine(ready: Daemon, client: httpx.AsyncClient) -> None:
    before = (await ready.status())["turns"]["cancelled"]
    assert await leaves_after(ready, client, STORY, "event: text") < FREED_SECONDS
    assert (await ready.status())["turns"]["cancelled"] == before + 1


async def test_a_stop_in_the_middle_of_a_stream_is_its_last_event(
    ready: Daemon, client: httpx.AsyncClient
) -> None:
    async with client.stream("POST", "/v1/turns", json=STORY) as reply:
        lines = reply.aiter_lines()
        assert await anext(lines) == "event: turn.started"
        ready.process.terminate()
        name, data = [line async for line in lines if line and not line.startswith(":")][-2:]
    assert name == "event: turn.failed"
    assert json.loads(data.removeprefix("data: "))["code"] == "shutting_down"
    assert await ready.ends() == -signal.SIGTERM
    assert "Traceback" not in ready.log
