"""A service as a tool sees it: from another thread and loop, and only while its call is waited for.

Knows how loops call each other; knows nothing of what a service does.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

FROM_SERVICE = "(a service of the daemon raised this)"
"""The note on each `OSError` of a service: a tool that lets it through could not look."""


class Lent:
    """The methods of `service` in any loop; the work is done in `home`, the loop of the real one."""

    def __init__(self, service: object, home: asyncio.AbstractEventLoop) -> None:
        self._service = service
        self._home = home
        self._context = copy_context()  # of the turn that lends it, which the tool's thread knows nothing of
        self._lent = True

    def take_back(self) -> None:
        """From now on every use raises `OSError`: a call that was given up must not write any more."""
        self._lent = False

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Any]]:
        """A tool reaches coroutine methods alone, and none that begins with an underscore."""
        method = None if name.startswith("_") else getattr(self._service, name, None)
        if not inspect.iscoroutinefunction(method):
            raise AttributeError(f"{type(self._service).__name__} has no {name} to lend")

        async def ask(*given: Any, **named: Any) -> Any:
            async def asked() -> Any:
                self._check()  # again, now in the loop where it is taken back
                return await method(*given, **named)

            self._check()  # the home loop may be closed by now
            call = self._context.copy().run(asyncio.run_coroutine_threadsafe, asked(), self._home)
            try:
                return await asyncio.wrap_future(call)
            except OSError as error:  # of a time-out, one that is made anew on its way here
                if FROM_SERVICE not in getattr(error, "__notes__", ()):
                    error.add_note(FROM_SERVICE)
                raise

        return ask

    def _check(self) -> None:
        if not self._lent:
            raise OSError("the call is over, so what was lent for it was taken back.")
