"""A daemon that gives its engine a request which never ends, prints the engine's process id, and waits.

Arguments: `asyncio` or `uvloop`, then the engine's command.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import uvloop

from muleteer.engine.client import Engine
from muleteer.engine.protocol import Conversation, LoadSettings, Message

LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {
    "asyncio": asyncio.new_event_loop,
    "uvloop": uvloop.new_event_loop,
}


async def live(command: list[str]) -> None:
    engine = Engine(Path("any"), LoadSettings(), command=command)
    await engine.start()
    await engine.ready(20)
    parts = engine.write(Conversation((Message("user", "start hang"),)), limit=9)
    await anext(parts)
    print(engine.status().pid, flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=LOOPS[sys.argv[1]]) as runner:
        runner.run(live(sys.argv[2:]))
