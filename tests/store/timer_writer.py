"""A process that sets timers and says the number of each once it is acknowledged, until it is killed.
Argument: path."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from muleteer.store.timers import TimerStore
from muleteer.timers import Timer


async def main(path: str) -> None:
    store = TimerStore(Path(path))
    while True:
        print((await store.add(Timer(0, "tea", 60.0))).id, flush=True)


asyncio.run(main(*sys.argv[1:]))
