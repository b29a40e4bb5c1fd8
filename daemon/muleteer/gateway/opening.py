"""The gateway, put together from the parts of the daemon that its clients reach.

Each protocol that is spoken here adds its paths in one line of `client_routes`. Listeners other than HTTP on
the Unix socket are opened, and closed, here as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from starlette.routing import BaseRoute

from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.engine.client import Engine
from muleteer.gateway.activation import Inherited, Listeners
from muleteer.gateway.app import Gateway, Report, build_app
from muleteer.gateway.health import Health
from muleteer.gateway.listening import Listening
from muleteer.gateway.sockets import UnixListener
from muleteer.gateway.tokens import token_routes
from muleteer.gateway.turns import Turns
from muleteer.harness.turn import Harness
from muleteer.household import Household
from muleteer.store.tokens import Tokens

FLUSH_SECONDS = 1.0  # beyond stop_timeout, to cut off the connections that are left


@dataclass(frozen=True, slots=True)
class Parts:
    """What clients reach. `sections` are the status's, by name; the gateway adds its own."""

    settings: Settings
    engine: Engine
    harness: Harness
    turns: Turns
    health: Health
    household: Household
    sections: dict[str, Report]


def client_routes(parts: Parts) -> list[BaseRoute]:
    """What is answered in other people's protocols, and to browsers."""
    return []


async def open_gateway(
    parts: Parts,
    closing: Closing,
    listeners: Listeners,
    unix: UnixListener | Inherited,
    routes: Sequence[BaseRoute],
) -> Listening:
    """Serve on the sockets. `listeners` are what systemd has opened, `unix` is the local one, `routes` are
    the native ones."""
    settings, household = parts.settings, parts.household
    tokens = Tokens(settings.state / "tokens.db")
    closing.add("tokens", tokens.close)
    await tokens.open()
    listening = Listening(settings.gateway, settings.state, household.device, tokens)
    listening.bind(listeners)
    parts.sections["network"] = listening.report
    gateway = Gateway(
        parts.turns,
        parts.health,
        parts.engine,
        lambda: parts.harness.catalogue,
        settings.engine.model,
        unix.path,
        parts.sections,
        [*routes, *client_routes(parts), *token_routes(tokens, listening.pairing, listening.revoked)],
        history=household.conversations.history,
        connections=listening.connections,
    )
    await listening.serve(build_app(gateway), unix.socket)
    timeout = settings.gateway.stop_timeout
    closing.add("connections", lambda: listening.stop(timeout), timeout + FLUSH_SECONDS)
    household.discovery.show(clients=listening.lan_port)
    return listening
