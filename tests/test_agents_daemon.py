"""Agents at a whole daemon: they hear of changed tools, and a stop neither waits for nor forgets them."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.test_daemon import DEADLINE, Daemon, daemon, folder

__all__ = ["folder"]  # the fixture

pytestmark = pytest.mark.model("tiny")


@asynccontextmanager
async def agent(one: Daemon, mode: Any) -> AsyncIterator[Client]:
    transport = httpx2.AsyncHTTPTransport(uds=str(one.socket))
    async with httpx2.AsyncClient(transport=transport, timeout=DEADLINE) as http:
        streams = streamable_http_client("http://localhost/mcp", http_client=http)
        async with Client(streams, mode=mode, cache=None) as client:
            yield client


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def test_agents_hear_of_changes_and_of_the_end(folder: Any) -> None:
    async with daemon(folder) as one:
        await one.says("Ready.")
        async with agent(one, "legacy") as older, agent(one, "auto") as newer:
            assert {"ask", "remember", "calculator"} <= await names(older)
            async with newer.listen(tools_list_changed=True) as news, one.client() as owner:
                await owner.post("/v1/tools/calculator", json={"enabled": False})
                async with asyncio.timeout(DEADLINE):
                    await anext(news)
                assert "calculator" not in await names(newer)
                engine = (await one.status())["engine"]["pid"]
                os.kill(engine, signal.SIGSTOP)  # so that the turn is not over before the daemon stops
                asking = asyncio.create_task(older.call_tool("ask", {"message": "What time is it?"}))
                await one.reports(lambda status: status["turns"]["running"] == 1)
                one.process.terminate()
                result: Any = await asking
                os.kill(engine, signal.SIGCONT)
                async with asyncio.timeout(DEADLINE):
                    async for _ in news:
                        pass
        assert (result.is_error, result.content[0].text[:23]) == (True, "The daemon is stopping;")
        assert await one.ends() == -signal.SIGTERM
    assert "Traceback" not in one.log
