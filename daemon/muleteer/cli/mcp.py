"""`muleteer mcp`: the daemon's MCP server, for agents that start their servers themselves."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from pathlib import Path

import click

from muleteer.cli.options import socket_option
from muleteer.errors import MissingPackageError

PACKAGES = ("mcp", "mcp_types", "httpx2", "anyio")  # the extra, and what comes with it
MISSING = "This needs the package mcp; install it with `pip install 'muleteer[mcp]'`."


@click.command()
@socket_option
def mcp(socket: Path | None) -> None:
    """Offer this device to an agent, which starts this command and speaks MCP with it on its standard input
    and output. It belongs into the agent's settings.

    \b
    Example: the command is
      muleteer mcp
    which most agents have in a file, as
      {"mcpServers": {"muleteer": {"command": "muleteer", "args": ["mcp"]}}}
    """
    from muleteer.cli.client import Daemon, find_socket

    place = find_socket(socket)
    Daemon(place).get("/v1/status")
    try:
        from muleteer.cli.mcp_pipes import serve
    except ModuleNotFoundError as error:
        if error.name not in PACKAGES:
            raise
        raise MissingPackageError(MISSING) from error
    logging.basicConfig(level=logging.CRITICAL)  # the library's words about what it was sent
    with suppress(KeyboardInterrupt):
        asyncio.run(serve(place))
