"""Work for a client only as long as it is there.

Knows ASGI's `receive`: once a request's body was read, the next thing it says is `http.disconnect`. A
client that shuts down its sending side counts as gone, like one that closed or reset the connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.types import Receive

from muleteer.errors import CancelledByClientError

T = TypeVar("T")


async def while_connected(receive: Receive, work: Coroutine[object, object, T]) -> T:
    """The result of `work`, which is cancelled when the client goes away.

    The body must have been read. Raises `CancelledByClientError`, after `work` has ended.
    """
    worker = asyncio.create_task(work)
    watcher = asyncio.create_task(_gone(receive))
    try:
        await asyncio.wait({worker, watcher}, return_when=asyncio.FIRST_COMPLETED)
        if worker.done():
            return worker.result()
    finally:
        for task in (worker, watcher):
            task.cancel("the client went away")
        await asyncio.wait({worker, watcher})
    raise CancelledByClientError("The client went away before the answer was finished.")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
