"""A process that writes and forgets at random, and says each act aloud once it is acknowledged, until it is
killed or the notebook fails. Arguments: path, seed, optional limit of a file's size in bytes; with a limit
it only writes."""

from __future__ import annotations

import asyncio
import itertools
import random
import resource
import sys
from pathlib import Path

from muleteer.store.notebook import SqliteNotebook

PAGES = ("", "Anna", "shopping", "garden")


async def main(path: str, seed: str, limit: str = "") -> None:
    if limit:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
    chance = random.Random(int(seed))
    notebook = SqliteNotebook(Path(path))
    mine: list[int] = []
    for count in itertools.count():
        try:
            if mine and not limit and chance.random() < 0.1:
                number = mine.pop(chance.randrange(len(mine)))
                print("try", number, flush=True)
                await notebook.forget([number])
                print("forgotten", number, flush=True)
            else:
                text = f"note {seed}-{count} " + "and more " * chance.randrange(100)
                note = await notebook.add(text, chance.choice(PAGES))
                mine.append(note.number)
                print("noted", note.number, f"{seed}-{count}", note.page, flush=True)
        except OSError as error:
            print("failed:", error, flush=True)
            break
    await notebook.close()


asyncio.run(main(*sys.argv[1:]))
