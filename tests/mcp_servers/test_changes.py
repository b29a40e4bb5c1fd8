"""Servers that come and go with the settings, while the daemon runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from muleteer.catalogue.declared import Loaded
from muleteer.mcp_servers.service import McpServers
from muleteer.mcp_servers.settings import McpServerSettings, McpSettings
from tests.mcp_servers.test_servers import PATIENCE, children, program


class Offers:
    """What each origin has offered last."""

    def __init__(self) -> None:
        self._latest: dict[str, set[str]] = {}
        self._news = asyncio.Event()

    def offered(self, origin: str, tools: tuple[Loaded, ...], refused: Mapping[str, str]) -> None:
        self._latest[origin] = {each.tool.name for each in tools}
        self._news.set()

    async def until(self, server: str, *names: str) -> None:
        """Until the server's tools are these, among others; none if none are named."""
        async with asyncio.timeout(PATIENCE):
            while not self._holds(server, names):
                self._news.clear()
                await self._news.wait()

    def _holds(self, server: str, names: tuple[str, ...]) -> bool:
        latest = self._latest.get(f"MCP server {server}")
        return latest is not None and (set(names) <= latest if names else not latest)


@asynccontextmanager
async def opened() -> AsyncIterator[tuple[McpServers, Offers]]:
    servers, offers = McpServers(McpSettings()), Offers()
    servers.open(offers.offered)
    try:
        yield servers, offers
    finally:
        await servers.close()


def settings(**servers: McpServerSettings) -> McpSettings:
    return McpSettings(servers=servers)


async def test_one_that_stays_goes_on_and_the_others_come_go_and_change() -> None:
    here = there = program("reference.py", "stdio")
    async with opened() as (servers, offers):
        servers.take_up(settings(here=here))
        await offers.until("here", "here_add")
        (first,) = children()
        servers.take_up(settings(here=here, there=there))
        await offers.until("there", "there_add", "there_fail")
        assert first in children()
        assert len(children()) == 2
        servers.take_up(settings(there=there.model_copy(update={"tools": ("add",)})))
        await offers.until("here")
        await offers.until("there")
        await offers.until("there", "there_add")
        assert servers.report().keys() == {"there"}
        assert len(children()) == 1
        assert first not in children()
        servers.take_up(settings())
        await offers.until("there")
        assert servers.report() == {}
        servers.take_up(settings(here=here))
        await offers.until("here", "here_add")
    assert children() == []


async def test_settings_that_change_before_the_servers_are_opened_count() -> None:
    servers, offers = McpServers(McpSettings()), Offers()
    servers.take_up(settings(here=program("reference.py", "stdio")))
    assert children() == []
    servers.open(offers.offered)
    await offers.until("here", "here_add")
    await servers.close()
