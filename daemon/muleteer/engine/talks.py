"""What people said, out of the engine: out of its context, its memory and its files.

Knows whom to ask: the engine process where one serves, else only the folder holds anything.
"""

from __future__ import annotations

import asyncio
from pathlib import Path

from muleteer.engine.client import Engine
from muleteer.engine.states import remove_talks
from muleteer.errors import StorageError


async def forget_talks(engine: Engine, states: Path) -> None:
    """Drop every conversation that is kept decoded; `states` is the folder of saved prefixes. What is
    constant stays. A turn that runs is decoded again. Raises `EngineError`, and `StorageError` when a file
    could not be removed."""
    if engine.status().state == "ready":
        gone = await engine.forget_talks()
    else:  # a process that is still loading has read no more than the names of the files
        gone = await asyncio.to_thread(remove_talks, states)
    if not gone:
        raise StorageError(f"not every saved conversation in {states} could be removed; try again.")
