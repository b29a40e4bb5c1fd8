"""A reload: the settings read again, skills and tools gathered again, the model left where it is.

Knows which settings are taken up at once, and names those that wait for a restart. Settings with a mistake in
them change nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer import config
from muleteer.catalogue.renewal import Renewal
from muleteer.config import Settings
from muleteer.gateway import replies
from muleteer.harness.turn import Harness
from muleteer.log import setup

log = logging.getLogger(__name__)

Reread = Callable[[], Settings]
Apply = Callable[[Settings], Awaitable[None] | None]

LIVE_BUDGETS = ("turn", "seconds", "follower_output", "agent_output", "answer_output")  # no prompt changes


class Reloading:
    """`reread` reads the settings as the start did. `live` takes up some of them, by key; `renew` gathers
    skills and tools and raises what keeps them from being used; `handles` counts what there is then."""

    def __init__(
        self,
        settings: Settings,
        reread: Reread,
        live: Mapping[str, Apply],
        renew: Callable[[], Awaitable[None]],
        handles: Callable[[], int],
    ) -> None:
        self._settings, self._reread = settings, reread
        self._live, self._renew, self._handles = live, renew, handles
        self._one_at_a_time = asyncio.Lock()

    async def reload(self) -> dict[str, object]:
        """What was `applied`, what wants a `restart`, both by key, and how many `handles` there are. Raises
        `ConfigError` when the settings have a mistake, and what `renew` raises."""
        async with self._one_at_a_time:
            new = await asyncio.to_thread(self._reread)
            before, after = config.values(self._settings), config.values(new)
            changed = [key for key, value in after.items() if before[key] != value]
            applied = [key for key in changed if key in self._live]
            for apply in dict.fromkeys(self._live[key] for key in applied):
                if doing := apply(new):
                    await doing
            await self._renew()
            waiting = [key for key in changed if key not in self._live]
            log.info("Reloaded; taken up: %s; after a restart: %s.", _said(applied), _said(waiting))
            self._settings = self._settings.model_copy(update=_updated(self._settings, new, applied))
            return {"applied": applied, "restart": waiting, "handles": self._handles()}

    def route(self) -> Route:
        async def reload(request: Request) -> Response:
            return replies.Json(await self.reload())

        return Route("/v1/reload", reload, methods=["POST"])


def _updated(old: Settings, new: Settings, keys: list[str]) -> dict[str, object]:
    """The sections of `old` in which these keys have their new values."""
    sections: dict[str, dict[str, object]] = {}
    for key in keys:
        section, _, name = key.rpartition(".")
        sections.setdefault(section, {})[name] = getattr(getattr(new, section), name)
    return {name: getattr(old, name).model_copy(update=values) for name, values in sections.items()}


def _said(keys: list[str]) -> str:
    return ", ".join(keys) or "nothing"


def reloading(
    settings: Settings, reread: Reread, harness: Harness, renewal: Renewal, parts: Mapping[str, Apply]
) -> Reloading:
    """Of the daemon's settings, those that its parts read anew with each turn or record: the harness's, and
    those that other `parts` take up, by key or by section."""

    def budgets(new: Settings) -> None:
        changed = {name: getattr(new.budgets, name) for name in LIVE_BUDGETS}
        harness.budgets = harness.budgets.model_copy(update=changed)

    def confirm(new: Settings) -> None:
        harness.confirm = frozenset(new.tools.confirm)

    live: dict[str, Apply] = {f"budgets.{name}": budgets for name in LIVE_BUDGETS} | {
        "log.level": lambda new: setup(new.log.level),
        "tools.confirm": confirm,
    }
    for name, apply in parts.items():
        live |= {key: apply for key in config.values(settings) if f"{key}.".startswith(f"{name}.")}
    return Reloading(settings, reread, live, renewal.renew, lambda: len(harness.catalogue.handles))
