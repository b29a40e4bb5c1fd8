"""Keeps the static prompts decoded, so that no turn has to wait for one.

In the background, the planner's first, then the most used: after a start, again in every new engine
process, and those that have changed. Requests of people go first; the engine sees to that. Knows names and an
order; not what a prompt says.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Protocol

from muleteer.engine.protocol import Conversation, EngineStatus
from muleteer.errors import EngineBusyError, EngineDiedError, MuleteerError
from muleteer.harness.brains import Lane

log = logging.getLogger(__name__)

Prompts = Callable[[], Mapping[str, Conversation]]
Order = Callable[[Iterable[str]], list[str]]
Pause = Callable[[float], Awaitable[None]]

DOWN = ("failed", "stopped", "unloaded")


class Replaceable(Protocol):
    """The part of the engine that is used here."""

    def status(self) -> EngineStatus: ...
    def lane(self, background: bool = False) -> Lane: ...
    async def replaced(self, pid: int | None) -> int: ...


class Warming:
    """`prompts` gives the static prompts by name, the first one being part of every turn; `order` sorts the
    names of the others. `begun` is called when the first one is prepared. `pause` waits so many seconds."""

    def __init__(
        self,
        engine: Replaceable,
        prompts: Prompts,
        order: Order,
        pause: Pause = asyncio.sleep,
        begun: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine, self._prompts, self._order, self._pause = engine, prompts, order, pause
        self._begun = begun
        self._ready: dict[str, Conversation] = {}
        self._changed = asyncio.Event()

    def report(self) -> dict[str, object]:
        """How many of `all` static prompts the present engine process has `ready`."""
        prompts = self._prompts()
        down = self._engine.status().state in DOWN
        return {"ready": 0 if down else len(prompts) - len(self._missing(prompts)), "all": len(prompts)}

    def renew(self) -> None:
        """The prompts may be others now."""
        self._changed.set()

    async def run(self, pid: int | None) -> None:
        """Warm everything in the engine process `pid` and in each one after it; until cancelled."""
        while True:
            self._ready.clear()
            warming = asyncio.create_task(self._warm_ever(), name="warm prompts")
            try:
                pid = await self._engine.replaced(pid)
            finally:
                warming.cancel()
                await asyncio.wait({warming})
            log.info("The engine is a new process; its prompts are prepared again.")

    async def _warm_ever(self) -> None:
        while True:
            self._changed.clear()
            await self._warm_all()
            await self._changed.wait()

    async def _warm_all(self) -> None:
        prompts = self._prompts()
        first, *others = prompts
        missing = self._missing(prompts)
        for name in [first, *self._order(others)]:
            if self._changed.is_set():
                return  # the rest may not be wanted any more
            if name not in missing:
                self._tell(name == first)
                continue
            try:
                await self._warm(prompts[name])
            except Exception as error:  # the first turn that needs it decodes it
                fault = not isinstance(error, MuleteerError)
                log.warning("The prompt %s was not prepared: %s", name, error, exc_info=fault)
                if isinstance(error, EngineDiedError) or self._engine.status().state in DOWN:
                    return  # a process that comes is warmed from the beginning
            else:
                self._ready[name] = prompts[name]
            self._tell(name == first)
        log.info(
            "The prompts are prepared: %d of %d.", len(prompts) - len(self._missing(prompts)), len(prompts)
        )

    def _tell(self, first: bool) -> None:
        """That the first prompt is prepared, or cannot be; unless another one is wanted by now."""
        if first and not self._changed.is_set():
            self._begun()

    def _missing(self, prompts: Mapping[str, Conversation]) -> set[str]:
        return {name for name, prompt in prompts.items() if self._ready.get(name) != prompt}

    async def _warm(self, prompt: Conversation) -> None:
        """A full queue is waited for: those who fill it are served first anyway."""
        lane = self._engine.lane(background=True)
        while True:
            try:
                await lane.warm(prompt)
                return
            except EngineBusyError as error:
                await self._pause(error.retry_after)
