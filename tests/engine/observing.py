"""What the tests of the engine's process share: how to start one, and what can be seen of it from outside."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from muleteer.engine.client import Engine
from muleteer.engine.protocol import LoadSettings, Use
from tests.engine import scripted_worker

COMMAND = (sys.executable, scripted_worker.__file__)
USED = Use(prompt=2, decoded=2, ms=1.0)
READY_S = 20.0

Running = Callable[..., AbstractAsyncContextManager[Engine]]


def runner(folder: Path) -> Running:
    """Starts engines whose "model" is the name of a file in `folder`, which the scripted worker obeys."""

    @asynccontextmanager
    async def run(model: str = "any", **options: Any) -> AsyncIterator[Engine]:
        defaults: dict[str, Any] = {"first_pause": 0.01, "load_timeout": READY_S, "command": COMMAND}
        engine = Engine(folder / model, LoadSettings(), **(defaults | options))
        await engine.start()
        try:
            yield engine
        finally:
            await engine.stop()
            assert engine.status().state == "stopped"
            assert engine.status().pid is None

    return run


class Printed(logging.Handler):
    """Waits for lines that the engine process printed."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._more = asyncio.Event()

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._more.set()

    async def wait_for(self, text: str) -> None:
        async with asyncio.timeout(READY_S):
            while not any(text in line for line in self.lines):
                self._more.clear()
                await self._more.wait()


@contextmanager
def printing() -> Iterator[Printed]:
    """The log of the engine, listened to at level info."""
    handler, log = Printed(), logging.getLogger("muleteer.engine")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.INFO)
    try:
        yield handler
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


def alive(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists()


def score(pid: int | None) -> int:
    """How gladly the kernel ends a process when memory runs out."""
    return int(Path(f"/proc/{pid}/oom_score_adj").read_text())
