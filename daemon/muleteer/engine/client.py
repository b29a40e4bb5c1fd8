"""The daemon's side of the engine: asynchronous calls, one at a time, in the order they came.

`Engine` is the constrained brain of the harness. Each call becomes a job: it waits its turn, is sent to the
engine process, and is over when the process says so. A caller that goes away leaves the job behind; the
process is told to drop it, and the next job starts when that is confirmed. Who runs the process is
`supervisor.py`; how a prompt is decoded is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

from muleteer.engine import wire
from muleteer.engine.child import WORKER
from muleteer.engine.protocol import (
    Choice,
    Conversation,
    EngineStatus,
    Held,
    JsonSchema,
    LoadSettings,
    Properties,
    Text,
    Use,
)
from muleteer.engine.supervisor import FIRST_PAUSE_S, Restarts, Supervisor
from muleteer.errors import EngineBusyError, EngineError, MuleteerError

log = logging.getLogger("muleteer.engine")

SILENCE_S = 60.0
"""Seconds without a sign of life after which a request is taken to hang. A chunk of 128 prompt tokens takes
6 s on a Raspberry Pi 5 at 20 tokens a second; ten times that is no longer slow."""
CANCEL_S = 20.0
"""Seconds that the engine may take to drop a request: three such chunks."""

Part = wire.Chunk | wire.Answer
A = TypeVar("A", wire.Counted, wire.Warmed, wire.Chosen, wire.Written)


class _Job:
    """One request. `parts` is bounded by the request's own token limit."""

    def __init__(self, id: int, line: bytes) -> None:
        self.id = id
        self.line = line
        self.parts: asyncio.Queue[Part | MuleteerError] = asyncio.Queue()
        self.started = 0.0
        self.abandoned = False


class Engine:
    """The engine process of one model. Use it from one event loop.

    `queue` is how many requests may wait behind the running one. `load_timeout` in seconds bounds one load,
    and how long a request waits for an engine that is not ready. `restarts` is how often in a row the
    process is started again without having finished a decode.
    """

    def __init__(
        self,
        model: Path,
        settings: LoadSettings,
        *,
        queue: int = 8,
        load_timeout: float = 300.0,
        restarts: int = 5,
        silence: float = SILENCE_S,
        cancel_timeout: float = CANCEL_S,
        first_pause: float = FIRST_PAUSE_S,
        command: Sequence[str] = WORKER,
    ) -> None:
        policy = Restarts(restarts, first_pause)
        self._supervisor = Supervisor(command, wire.Load(str(model), settings), self, policy, load_timeout)
        self._limit = queue
        self._load_timeout = load_timeout
        self._silence = silence
        self._cancel_timeout = cancel_timeout
        self._ids = itertools.count(1)
        self._waiting: deque[_Job] = deque()
        self._running: _Job | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._patience: asyncio.TimerHandle | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._past = Use()
        self._ledger = wire.Ledger(Held(), Use())
        self._typical_s = 1.0

    # Life.

    async def start(self) -> None:
        """Begin to start the process, and return; `ready` waits for it. Does nothing if it is running."""
        if self._task is None or self._task.done():
            self._supervisor.begin()
            self._task = asyncio.create_task(self._supervisor.run(), name="engine supervisor")

    async def restart(self) -> None:
        """Try again after state `failed`; in any other state, `start`."""
        await self.start()

    async def stop(self) -> None:
        """End the process; whatever waits fails. Under a deadline; may be called again."""
        if self._task is None:
            return
        self._supervisor.end()
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        self._task = None

    def status(self) -> EngineStatus:
        """The state now. `reason` is the last failure, also after the engine has recovered from it."""
        supervisor = self._supervisor
        return EngineStatus(
            state=supervisor.state,
            reason=supervisor.reason,
            restarts=supervisor.restarts,
            queued=len(self._waiting),
            pid=supervisor.pid,
            properties=supervisor.properties,
            held=self._ledger.held,
            totals=self._past + self._ledger.totals,
        )

    async def ready(self, timeout: float) -> Properties:  # noqa: ASYNC109  (part of the sentence it raises)
        """Wait until the model is loaded. Raises `EngineError` after `timeout` seconds, and as soon as the
        engine has failed for good: `ModelError` if the model is why."""
        try:
            async with asyncio.timeout(timeout):
                while (properties := self._supervisor.properties) is None:
                    self._raise_if_down()
                    await self._changed.wait()
                return properties
        except TimeoutError:
            raise EngineError(self._not_ready(timeout)) from None

    async def replaced(self, pid: int | None) -> int:
        """Wait until a process other than `pid` is ready, and return its id. Its prefixes are all cold."""
        while self._supervisor.properties is None or (now := self._supervisor.pid) in (None, pid):
            await self._changed.wait()
        return now

    # Calls: see `harness.brains.Brain`.

    async def count(self, prompt: Conversation | str) -> int:
        return (await self._answer(wire.Count(next(self._ids), prompt), wire.Counted)).result

    async def warm(self, prompt: Conversation) -> Use:
        """Decode the constant part of `prompt` and keep it."""
        return (await self._answer(wire.Warm(next(self._ids), prompt), wire.Warmed)).result

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        request = wire.Choose(next(self._ids), prompt, tuple(options), prompt_limit)
        return (await self._answer(request, wire.Chosen)).result

    async def fill(
        self, prompt: Conversation, schema: JsonSchema, *, limit: int, prompt_limit: int | None = None
    ) -> Text:
        request = wire.Fill(next(self._ids), prompt, schema, limit, prompt_limit)
        return (await self._answer(request, wire.Written)).result

    async def write(
        self,
        prompt: Conversation,
        *,
        limit: int,
        stop: Sequence[str] = (),
        prompt_limit: int | None = None,
    ) -> AsyncGenerator[str | Text, None]:
        request = wire.Write(next(self._ids), prompt, limit, tuple(stop), prompt_limit)
        async with aclosing(self._parts(request)) as parts:
            async for part in parts:
                if isinstance(part, wire.Chunk):
                    yield part.text
                else:
                    yield self._expect(part, wire.Written).result

    async def _answer(self, request: wire.Request, kind: type[A]) -> A:
        async with aclosing(self._parts(request)) as parts:
            return self._expect(await anext(parts), kind)

    async def _parts(self, request: wire.Request) -> AsyncGenerator[Part, None]:
        """What the engine answers, the last part being final. Closing this early frees the engine."""
        job = self._submit(request)
        try:
            part: Part | MuleteerError | None = None
            while part is None or isinstance(part, wire.Chunk):
                part = await job.parts.get()
                if isinstance(part, MuleteerError):
                    raise part
                yield part
        finally:
            self._abandon(job)

    def _expect(self, part: Part, kind: type[A]) -> A:
        if not isinstance(part, kind):
            self._supervisor.kill(f"answered a request with {part.kind!r} and was killed")
            raise EngineError(
                "The engine gave the wrong kind of answer; it is being started again. Try again in a moment."
            )
        return part

    # The queue. Nothing below awaits: each step is whole before the next event.

    def _submit(self, request: wire.Request) -> _Job:
        self._raise_if_down()
        idle = self._running is None and self._supervisor.state == "ready"
        if not idle and len(self._waiting) >= self._limit:
            hint = min(max(self._typical_s * len(self._waiting), 1.0), 60.0)
            raise EngineBusyError(
                f"The engine is busy and {len(self._waiting)} requests wait already. "
                f"Try again in {hint:.0f} seconds.",
                hint,
            )
        job = _Job(request.id, wire.to_engine(request))
        self._waiting.append(job)
        self._advance()
        return job

    def _advance(self) -> None:
        """Send the next request if the engine can take it."""
        if self._running is None and self._waiting and self._supervisor.state == "ready":
            self._running = self._waiting.popleft()
            self._running.started = asyncio.get_running_loop().time()
            self._supervisor.send(self._running.line)
            self._arm(self._silence, f"gave no sign of life for {self._silence:g} seconds and was killed")

    def _abandon(self, job: _Job) -> None:
        """The caller is gone, or done."""
        if job in self._waiting:
            self._waiting.remove(job)
        elif job is self._running:
            job.abandoned = True
            self._supervisor.send(wire.to_engine(wire.Cancel(job.id)))
            seconds = self._cancel_timeout
            self._arm(seconds, f"did not drop a cancelled request within {seconds:g} seconds and was killed")

    def _finish(self, last: Part | MuleteerError) -> None:
        """The running request is over."""
        job = self._running
        if job is None:
            return
        job.parts.put_nowait(last)
        took = asyncio.get_running_loop().time() - job.started
        self._typical_s += (took - self._typical_s) / 8
        self._running = None
        self._disarm()

    def _arm(self, seconds: float, cause: str) -> None:
        self._disarm()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self._supervisor.kill, cause)

    def _disarm(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _fail_waiting(self, error: MuleteerError) -> None:
        while self._waiting:
            self._waiting.popleft().parts.put_nowait(type(error)(str(error)))

    def _lose_patience(self) -> None:
        """The engine has not been ready for so long that nobody waits any longer."""
        self._fail_waiting(EngineError(self._not_ready(self._load_timeout)))
        self._patience = asyncio.get_running_loop().call_later(self._load_timeout, self._lose_patience)

    def _not_ready(self, seconds: float) -> str:
        supervisor = self._supervisor
        why = f" {supervisor.reason}" if supervisor.reason else ""
        return f"The engine is not ready after {seconds:g} seconds: it is {supervisor.state}.{why} Try later."

    def _raise_if_down(self) -> None:
        if self._supervisor.state in ("failed", "stopped"):
            failure = self._supervisor.failure
            raise type(failure)(str(failure))

    # What the supervisor tells.

    def received(self, message: wire.FromEngine) -> None:
        if isinstance(message, wire.Ledger):
            self._ledger = message
            return
        job = self._running
        id = getattr(message, "id", None)
        if job is None or id != job.id:
            log.debug("Dropped a late %s of request %s.", message.kind, id)
            return
        if isinstance(message, wire.Failed):
            self._finish(wire.as_error(message))
        elif isinstance(message, wire.Answer):
            if not isinstance(message, wire.Counted):
                self._supervisor.proven()
            self._finish(message)
        else:
            if not job.abandoned:
                self._arm(self._silence, f"gave no sign of life for {self._silence:g} seconds and was killed")
            if isinstance(message, wire.Chunk):
                job.parts.put_nowait(message)
        self._advance()

    def ended(self, error: EngineError) -> None:
        self._past += self._ledger.totals
        self._ledger = wire.Ledger(Held(), Use())
        self._finish(error)

    def changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        down = self._supervisor.state in ("failed", "stopped")
        if down:
            self._finish(self._supervisor.failure)
            self._fail_waiting(self._supervisor.failure)
        if self._patience and (down or self._supervisor.state == "ready"):
            self._patience.cancel()
            self._patience = None
        elif not self._patience and not down and self._supervisor.state != "ready":
            self._patience = asyncio.get_running_loop().call_later(self._load_timeout, self._lose_patience)
        self._advance()
