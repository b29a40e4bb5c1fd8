"""Background turns, put together from the parts of the daemon that they need."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import BaseRoute

from muleteer.background.hooks import Hooks
from muleteer.background.outlook import Outlook, Supervised
from muleteer.background.runner import Background
from muleteer.background.spending import Spending
from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.gateway.background import background_routes
from muleteer.gateway.health import Health
from muleteer.gateway.turns import Turns
from muleteer.household import Household
from muleteer.skills import Catalogue


async def open_background(
    settings: Settings,
    closing: Closing,
    household: Household,
    engine: Supervised,
    catalogue: Callable[[], Catalogue],
    turns: Turns,
    health: Health,
) -> tuple[Background, list[BaseRoute]]:
    """The background turns of this device, and what they answer over HTTP."""
    services = household.services
    spending = Spending(settings.state / "background.json")
    await spending.open()
    hooks = Hooks(settings.results, household.device)
    closing.add("results", hooks.close)
    outlook = Outlook(settings.background, services.seat, engine, turns, health.report)
    background = Background(
        settings.background,
        services.seat,
        services.inbox,
        catalogue,
        turns.background,
        outlook.look,
        hooks.pass_on,
        spending,
    )
    if household.seat:
        household.seat.slots.again = background.again
    return background, background_routes(background, services.inbox)
