"""The notebook as a tool sees it: from another thread and loop, and only while its call is waited for.

Knows how loops call each other; knows nothing of notes.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from muleteer.tool import Note, Notebook

T = TypeVar("T")


class LentNotebook:
    """Implements `tool.Notebook` in any loop; the work is done in `home`, the loop of the real one."""

    def __init__(self, notebook: Notebook, home: asyncio.AbstractEventLoop) -> None:
        self._notebook = notebook
        self._home = home
        self._lent = True

    def take_back(self) -> None:
        """From now on every use raises `OSError`: a call that was given up must not write any more."""
        self._lent = False

    async def add(self, text: str) -> Note:
        return await self._ask(lambda: self._notebook.add(text))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return await self._ask(lambda: self._notebook.search(query, limit))

    def _check(self) -> None:
        if not self._lent:
            raise OSError("the call is over, so the notebook was taken back.")

    async def _ask(self, question: Callable[[], Coroutine[Any, Any, T]]) -> T:
        async def asked() -> T:
            self._check()  # again, now in the loop where it is taken back
            return await question()

        self._check()  # the home loop may be closed by now
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(asked(), self._home))
