"""A process that writes notes and says each one aloud once it is acknowledged, until it is killed or the
notebook fails. Arguments: path, first number, optional limit of a file's size in bytes."""

from __future__ import annotations

import asyncio
import itertools
import resource
import sys
from pathlib import Path

from muleteer.store.notebook import SqliteNotebook


async def main(path: str, first: str, limit: str = "") -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    notebook = SqliteNotebook(Path(path))
    for number in itertools.count(int(first)):
        try:
            await notebook.add(f"note {number} " + "and more " * 50)
        except OSError as error:
            print("failed:", error, flush=True)
            break
        print(number, flush=True)
    await notebook.close()


asyncio.run(main(*sys.argv[1:]))
