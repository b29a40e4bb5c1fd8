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
from muleteer.gateway.guests import Guests
from muleteer.gateway.health import Health
from muleteer.gateway.listening import Listening
from muleteer.gateway.mcp.calling import Calls
from muleteer.gateway.mcp.route import McpRoute
from muleteer.gateway.ollama.models import Models
from muleteer.gateway.ollama.routes import ollama_routes
from muleteer.gateway.openai.routes import openai_routes
from muleteer.gateway.page import page_route
from muleteer.gateway.sockets import UnixListener
from muleteer.gateway.tokens import token_routes
from muleteer.gateway.turns import Turns
from muleteer.gateway.wyoming.opening import open_voice
from muleteer.harness.turn import Harness
from muleteer.household import Household
from muleteer.store.tokens import Tokens

FLUSH_SECONDS = 1.0  # beyond stop_timeout, to cut off the connections that are left
AGENT_SECONDS = 4.0  # for agents to be told how their turns ended, and to be let go


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


def _mcp(parts: Parts) -> McpRoute:
    harness, household = parts.harness, parts.household
    calls = Calls(
        parts.turns,
        lambda: harness.catalogue,
        household.conversations.history,
        household.privacy,
        harness.confirm,
    )
    return McpRoute(calls, household.broadcast)


def client_routes(parts: Parts) -> list[BaseRoute]:
    """What is answered in other people's protocols, and to browsers."""
    settings = parts.settings.engine
    guests = Guests(parts.turns, parts.harness, parts.engine.status, settings.model, settings.context)
    return [*openai_routes(guests), *_ollama(parts, guests), page_route()]


def _ollama(parts: Parts, guests: Guests) -> list[BaseRoute]:
    engine = parts.settings.engine
    models = Models(
        guests, parts.engine.status, engine.model, parts.settings.models, engine.context, engine.idle_unload
    )
    return ollama_routes(guests, models, lambda: parts.harness.brain.count(""))


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
    mcp = _mcp(parts)
    gateway = Gateway(
        parts.turns,
        parts.health,
        parts.engine,
        lambda: parts.harness.catalogue,
        settings.engine.model,
        unix.path,
        parts.sections,
        [
            *routes,
            *client_routes(parts),
            mcp.route(),
            *token_routes(tokens, listening.pairing, listening.where, listening.revoked),
        ],
        history=household.conversations.history,
        seat=household.seat.view.report if household.seat else dict,
        connections=listening.connections,
    )
    await listening.serve(build_app(gateway), unix.socket)
    timeout = settings.gateway.stop_timeout
    closing.add("connections", lambda: listening.stop(timeout), timeout + FLUSH_SECONDS)
    closing.add("mcp", mcp.close, AGENT_SECONDS)
    history = household.conversations.history
    device, catalogue = household.device, lambda: parts.harness.catalogue
    voice = await open_voice(settings, closing, device, parts.turns, history, catalogue)
    parts.sections["wyoming"] = voice.report
    household.discovery.show(clients=listening.lan_port, voice=voice.lan_port)
    return listening
