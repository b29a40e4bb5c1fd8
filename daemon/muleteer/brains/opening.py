"""The brains that may answer, put together from the settings and the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from muleteer.brains.profiles import profile_of
from muleteer.brains.service import Brains
from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.engine import models
from muleteer.engine.client import Engine


async def open_brains(
    settings: Settings, closing: Closing, offline: Callable[[], str], engine: Engine
) -> Brains:
    """The brain at home, as it was measured, and those elsewhere."""

    def marks() -> tuple[str, ...]:
        properties = engine.status().properties
        return properties.call_marks if properties else ()

    brains = Brains(settings.brains, offline, marks)
    closing.add("brains", brains.close)
    await brains.open()
    if settings.engine.model != models.NONE:
        file = models.resolve(settings.engine.model, settings.models)
        folder = settings.state / "profiles"
        brains.profile = await asyncio.to_thread(profile_of, settings.engine.model, file, folder)
    return brains
