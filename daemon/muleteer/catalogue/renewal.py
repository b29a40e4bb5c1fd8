"""Takes up what has changed in skills and tools, on disk or by the user's wish, without a restart.

Knows the order: gather, measure, use from the next turn on, prepare the prompts that are new. When the new
catalogue cannot be used, the old one stays.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable

from muleteer.calling.threads import in_thread
from muleteer.catalogue.steering import Kind
from muleteer.catalogue.stock import Stock
from muleteer.errors import ConfigError, EngineError, MuleteerError
from muleteer.harness.turn import Harness
from muleteer.skills import Catalogue

log = logging.getLogger(__name__)

MANY = 8  # new handles, whose prompts the engine counts in a time that people notice on a small board
RETRY_SECONDS = 10.0  # after an engine that could not measure; it restarts in about that


async def gather(stock: Stock) -> Catalogue:
    """The first catalogue, with a word in the log about each thing that is disabled."""
    catalogue = await in_thread(stock.take, "gather skills and tools", lambda: None)
    assert catalogue is not None, "a stock that was never taken has changed"  # noqa: S101
    tell(catalogue)
    return catalogue


def tell(catalogue: Catalogue, before: set[str] | None = None) -> None:
    """Log what cannot be used and why, apart from what was told `before`."""
    for reason in sorted(catalogue.reasons() - (before or set())):
        log.warning("%s", reason)


class Renewal:
    """`changed` is called when the harness has another catalogue. `pause` waits so many seconds."""

    def __init__(
        self,
        stock: Stock,
        harness: Harness,
        changed: Callable[[], None],
        pause: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._stock, self._harness, self._changed, self._pause = stock, harness, changed, pause
        self._one_at_a_time = asyncio.Lock()
        self._due: Catalogue | None = None
        self._wanted = asyncio.Event()

    @property
    def catalogue(self) -> Catalogue:
        """The one in use."""
        return self._harness.catalogue

    async def switch(self, kind: Kind, handle: str, on: bool) -> str:
        """As `Stock.switch`, from the next turn on. Raises also what keeps it from being used at once."""
        return await self._steer(lambda: self._stock.switch(self.catalogue, kind, handle, on))

    async def rename(self, kind: Kind, handle: str, new: str) -> str:
        """As `Stock.rename`, from the next turn on. Raises also what keeps it from being used at once."""
        return await self._steer(lambda: self._stock.rename(self.catalogue, kind, handle, new))

    def want(self) -> None:
        """Renew soon: something that no watcher sees has changed."""
        self._wanted.set()

    async def renew(self) -> None:
        """Use what is there now. Raises `ConfigError` when its menu does not fit, `EngineError` when it could
        not be measured."""
        async with self._one_at_a_time:
            await self._renew()

    async def run(self, changes: AsyncIterator[None]) -> None:
        """Renew after each of the changes, and what a steering left, until the engine has measured it; until
        cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._listen(changes))
            while True:
                await self._wanted.wait()
                self._wanted.clear()
                while not await self._renewed():
                    await self._pause(RETRY_SECONDS)

    async def _listen(self, changes: AsyncIterator[None]) -> None:
        try:
            async for _ in changes:
                self._wanted.set()
        except OSError as error:
            log.warning("Changes to skills and tools wait for a restart: %s", error.strerror or error)

    async def _renewed(self) -> bool:
        """Whether there is nothing left to do."""
        try:
            await self.renew()
        except EngineError as error:
            log.warning("The changes to skills and tools wait for the engine: %s", error)
            return False
        except MuleteerError as error:
            log.warning("The changes to skills and tools are not used: %s", error)
        return True

    async def _steer(self, keep: Callable[[], str]) -> str:
        async with self._one_at_a_time:
            handle = await in_thread(keep, "keep a wish", lambda: None)
            try:
                await self._renew()
            except EngineError as error:
                self._wanted.set()
                raise EngineError(f"It is kept, and used as soon as the engine can: {error}") from error
            return handle

    async def _renew(self) -> None:
        catalogue = await in_thread(self._stock.take, "gather skills and tools", lambda: None) or self._due
        if catalogue is None:
            return
        self._due, before = catalogue, self.catalogue.reasons()
        if (new := len(catalogue.handles - self.catalogue.handles)) >= MANY:
            log.info(
                "Measuring the prompts of %d new skills and tools; the old ones are used until then.", new
            )
        try:
            await self._harness.renew(catalogue)
        except ConfigError:
            self._due = None
            raise
        self._due = None
        tell(catalogue, before)
        log.info("Skills and tools have changed: %d handles.", len(catalogue.handles))
        self._changed()
