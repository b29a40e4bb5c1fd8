"""Keeps one engine process running: load, watch, start again after a failure, and stop trying in the end.

The rules:

1. A process that ends is followed by another, after a pause that doubles each time.
2. After `restarts` restarts in a row without a finished request in between, no more: state `failed`. Warming
   in the background does not count: a process that dies after that would be started again for ever.
3. A model that cannot be loaded will not load better the next time: `failed` at once, with its sentence.
4. Native code that crashes before its first finished decode is started once more without llama.cpp's extra
   buffers, whose kernels crash on some machines; this attempt is not counted.
5. A process that was unloaded ended on purpose: none follows until `wake`, and nothing is counted.

Knows nothing of requests beyond that; `client.py` is told of every message and every end.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Literal, Protocol

from muleteer.engine import wire
from muleteer.engine.child import Child, End, started
from muleteer.engine.protocol import Properties
from muleteer.errors import EngineDiedError, EngineError, MuleteerError, RequestError

log = logging.getLogger("muleteer.engine")

State = Literal["starting", "loading", "ready", "restarting", "failed", "stopped", "unloaded"]

FIRST_PAUSE_S = 0.5
"""Before the first restart: enough for the kernel to take the dead process's memory back."""
LONGEST_PAUSE_S = 30.0
"""Between two restarts: a board that is short of memory for a while is found working again soon after."""


class Owner(Protocol):
    """Who is told. None of these may block."""

    def received(self, message: wire.FromEngine) -> None:
        """The ready engine said something about a request."""

    def ended(self, error: EngineError) -> None:
        """The process is gone; `error` is for whoever waits for its answer."""

    def overdue(self) -> None:
        """The model was not loaded in time, and `failure` says so; another try follows."""

    def changed(self) -> None:
        """`state` is another one."""


class Restarts:
    """Pure: counts failures in a row and says how long to pause before the next start."""

    def __init__(self, limit: int, first_pause: float = FIRST_PAUSE_S) -> None:
        self._limit = limit
        self._first_pause = first_pause
        self.succeeded()

    def succeeded(self) -> None:
        self._failures = 0
        self._pause = self._first_pause

    def failed(self) -> float | None:
        """Seconds to pause, or None: that was one too many."""
        self._failures += 1
        if self._failures > self._limit:
            return None
        pause = min(self._pause, LONGEST_PAUSE_S)
        self._pause = pause * 2
        return pause


class Supervisor:
    """One engine process at a time. `run` is the loop; all else may be read or called between its steps."""

    def __init__(
        self, command: Sequence[str], load: wire.Load, owner: Owner, policy: Restarts, load_timeout: float
    ) -> None:
        self.state: State = "stopped"
        self.reason = ""
        self.failure: MuleteerError = EngineError("The engine is not running.")
        self.restarts = 0
        self.properties: Properties | None = None
        self.known: Properties | None = None  # of the process before, while there is none
        self._command = command
        self._load = load
        self._owner = owner
        self._policy = policy
        self._load_timeout = load_timeout
        self._child: Child | None = None
        self._proven = False
        self._overdue = False
        self._leaving = False
        self._wanted = asyncio.Event()

    @property
    def pid(self) -> int | None:
        return self._child.pid if self._child and not self._leaving else None

    def send(self, line: bytes) -> None:
        if self._child:
            self._child.send(line)

    def kill(self, cause: str) -> None:
        """End the process; it is started again. `cause` completes the sentence "The engine ..."."""
        if self._child:
            self._child.kill(cause)
            self._lose()

    def proven(self, forgive: bool) -> None:
        """A decode was finished: the extra buffers work here, what was wrong is over. With `forgive`, past
        failures no longer count."""
        self._proven = True
        self.reason = ""
        if forgive:
            self._policy.succeeded()

    def unload(self) -> None:
        """End a ready process on purpose; `wake` brings the next one."""
        if self._child and self.state == "ready":
            self._leaving = True
            self._wanted.clear()
            self._child.leave()
            self.properties = None
            self._become("unloaded")

    def wake(self) -> None:
        """Load again what was unloaded."""
        if self.state == "unloaded":
            self._wanted.set()
            self._become("starting")

    def begin(self) -> None:
        """Announce `run`: from now on requests wait instead of failing."""
        self._policy.succeeded()
        self._become("starting")

    async def run(self) -> None:
        """Keep an engine running until cancelled, or until it has failed for good."""
        try:
            while await self._live_once():
                pass
            self._become("failed")
        finally:
            if self.state != "failed":
                self.end()

    def end(self) -> None:
        """Announce that `run` is over, or is about to be cancelled."""
        self.failure = EngineError("The engine is not running.")
        self._become("stopped")

    async def _live_once(self) -> bool:
        """One process, and the wait for the next one; whether there is to be one."""
        result = await self._live()
        if self._leaving:
            await self._wanted.wait()
        elif (pause := self._judge(result)) is None:
            return False
        else:
            await asyncio.sleep(pause)
            self.restarts += 1
        return True

    async def _live(self) -> End | MuleteerError:
        """One process from start to end, or the reason why its model cannot be loaded."""
        self._proven = self._overdue = self._leaving = False
        try:
            async with started(self._command) as child:
                self._child = child
                child.send(wire.to_engine(self._load))
                refused = await self._converse(child)
                return refused or await child.ended()
        except RequestError as error:
            return error
        except OSError as error:
            return End(f"could not be started ({error})")
        finally:
            self._child = None
            self.properties = None

    async def _converse(self, child: Child) -> MuleteerError | None:
        loading = asyncio.get_running_loop().call_later(self._load_timeout, self._expire, child)
        try:
            async with aclosing(child.messages()) as messages:
                async for message in messages:
                    match message:
                        case wire.Loading():
                            self._become("loading")
                        case wire.Ready():
                            loading.cancel()
                            self.properties = self.known = message.properties
                            self._become("ready")
                        case wire.Failed(id=None):
                            return wire.as_error(message)
                        case _ if not self._leaving:
                            self._owner.received(message)
        finally:
            loading.cancel()
        self._lose()
        return None

    def _expire(self, child: Child) -> None:
        self._overdue = True
        child.kill(f"did not finish loading within {self._load_timeout:g} seconds and was killed")

    def _judge(self, result: End | MuleteerError) -> float | None:
        """Seconds until the next process, or None for good; the owner is told how this one ended."""
        if isinstance(result, MuleteerError) and not isinstance(result, EngineError):
            self.failure, self.reason = result, str(result)
            log.error("The engine stays down: %s", result)
            return None
        end = result if isinstance(result, End) else End(f"could not load its model: {result}")
        if end.crash and not self._proven and self._load.settings.extra_buffers:
            self._load = replace(self._load, settings=replace(self._load.settings, extra_buffers=False))
            pause: float | None = 0.0
            follows = "it is being started again, without llama.cpp's extra buffers. Try again in a moment."
        elif (pause := self._policy.failed()) is not None:
            follows = "it is being started again. Try again in a moment."
        else:
            follows = (
                "it has failed too often in a row and stays down. See the daemon's log, then restart it."
            )
        self.reason = f"The engine {end.cause}; {follows.split('. ')[0]}."
        log.log(logging.ERROR if pause is None else logging.WARNING, "%s", self.reason)
        self.failure = EngineError(f"The engine {end.cause}; {follows}")
        self._lose()
        self._owner.ended(EngineDiedError(f"The engine {end.cause} in the middle of this request; {follows}"))
        if self._overdue:
            self._owner.overdue()
        return pause

    def _lose(self) -> None:
        """The process is dead or dying: nothing more goes to it, though its last words may still come."""
        if not self._leaving:
            self.properties = None
            self._become("restarting")

    def _become(self, state: State) -> None:
        if state != self.state:
            log.info("The engine is %s.", state)
            self.state = state
            self._owner.changed()
