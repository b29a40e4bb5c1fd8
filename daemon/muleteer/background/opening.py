"""Background turns, put together from the parts of the daemon that they need."""

from __future__ import annotations

import logging
from collections.abc import Callable

from starlette.routing import BaseRoute

from muleteer.background.alone import Alone
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
from muleteer.services import Inbox, Seat
from muleteer.skills import Catalogue

log = logging.getLogger(__name__)


async def open_background(
    settings: Settings,
    closing: Closing,
    household: Household,
    engine: Supervised,
    catalogue: Callable[[], Catalogue],
    turns: Turns,
    health: Health,
) -> tuple[Background, list[BaseRoute], Callable[[Settings], None]]:
    """The background turns of this device, what they answer over HTTP, and how they take up new settings."""
    seat, inbox = await _seated(settings, closing, household)
    spending = Spending(settings.state / "background.json")
    await spending.open()
    hooks = Hooks(settings.results, household.device)
    closing.add("results", hooks.close)
    outlook = Outlook(settings.background, seat, engine, turns, health.report)
    background = Background(
        settings.background,
        seat,
        inbox,
        catalogue,
        turns.background,
        outlook.look,
        hooks.pass_on,
        spending,
    )
    if household.seat is not None:
        household.seat.slots.repeats.by(background.again)  # what a driver that failed has begun

    def take_up(new: Settings) -> None:
        background.settings = outlook.settings = new.background
        hooks.settings = new.results

    return background, background_routes(background, inbox), take_up


async def _seated(settings: Settings, closing: Closing, household: Household) -> tuple[Seat, Inbox]:
    """The household's seat and inbox, or this device's own where it is to take no part. A seat that has
    failed is not replaced: others may drive."""
    services = household.services
    if settings.seat.enabled:
        return services.seat, services.inbox
    alone = Alone(settings.state, household.device)
    closing.add("own slots", alone.close)
    try:
        await alone.open()
    except OSError as error:
        log.error("No background turn is run: %s", error)
        return services.seat, services.inbox
    return alone, alone
