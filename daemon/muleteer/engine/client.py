"""The daemon's side of the engine: asynchronous calls, one at a time, in the order of `queue.py`.

`Engine` is the constrained brain of the harness. Each call becomes a job: it waits its turn, is sent to the
engine process, and is over when the process says so. A caller that goes away leaves the job behind; the
process is told to drop it, and the next job starts when that is confirmed. Warming in the background is
dropped in the same way when something better comes, and waits again. Who runs the process is
`supervisor.py`; how a prompt is decoded is not known here.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path

from muleteer.engine import wire
from muleteer.engine.child import WORKER
from muleteer.engine.lane import Job, Lane, Part
from muleteer.engine.protocol import EngineStatus, Held, LoadSettings, Properties, Use
from muleteer.engine.queue import Queue
from muleteer.engine.supervisor import FIRST_PAUSE_S, Restarts, Supervisor
from muleteer.errors import CancelledByClientError, EngineBusyError, EngineError, MuleteerError

log = logging.getLogger("muleteer.engine")

SILENCE_S = 60.0
"""Seconds without a sign of life after which a request is taken to hang. A chunk of 128 prompt tokens takes
6 s on a Raspberry Pi 5 at 20 tokens a second; ten times that is no longer slow."""
CANCEL_S = 20.0
"""Seconds that the engine may take to drop a request: three such chunks."""

LATE_S = 2.0
"""Seconds beyond the time that a load may take: its own time-out says what happened and comes first."""
BETWEEN_LEVELS_S = 0.05
"""Seconds for which the engine rests after a level of a turn rather than begin something that goes behind
that turn: the next level is asked for within a few milliseconds; what was begun instead takes seconds."""
BETWEEN_WARMS_S = 1.0
"""Seconds after warming in the background before the model may be unloaded: several prompts are warmed in a
row, and the daemon asks for the next one within milliseconds."""
UNLOADED = "The model is unloaded; there is nothing to prepare until a request loads it."


class Engine(Lane):
    """The engine process of one model. Use it from one event loop. As a brain, each of its calls is a direct
    turn of its own; `lane` gives the brain of a turn with several.

    `queue` is how many requests may wait behind the running one: a direct request is refused when so many
    direct ones wait, a background one when so many of both kinds do. `load_timeout` in seconds bounds one
    load, and how long a request waits for an engine that is not ready. `restarts` is how often in a row the
    process is started again without having finished a request. After `idle_unload` seconds without a request
    (warming in the background is none) the model is unloaded until the next one; 0 means never.
    """

    def __init__(
        self,
        model: Path,
        settings: LoadSettings,
        *,
        queue: int = 16,
        load_timeout: float = 300.0,
        restarts: int = 5,
        idle_unload: float = 0.0,
        silence: float = SILENCE_S,
        cancel_timeout: float = CANCEL_S,
        first_pause: float = FIRST_PAUSE_S,
        command: Sequence[str] = WORKER,
    ) -> None:
        super().__init__(self)
        policy = Restarts(restarts, first_pause)
        self._supervisor = Supervisor(command, wire.Load(str(model), settings), self, policy, load_timeout)
        self._limit, self._load_timeout = queue, load_timeout
        self._silence, self._cancel_timeout = silence, cancel_timeout
        self._ids = itertools.count(1)
        self._waiting: Queue[Job] = Queue()
        self._running: Job | None = None
        self._task: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()
        self._idle_unload = idle_unload
        self._keep_until = self._heard = 0.0
        self._unloading: asyncio.TimerHandle | None = None
        self._expecting: asyncio.TimerHandle | None = None
        self._threads, self._deferred = 0, ""
        self._patience: asyncio.TimerHandle | None = None
        self._deadline: asyncio.TimerHandle | None = None
        self._past, self._ledger = Use(), wire.Ledger(Held(), Use())
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
        """The state now. `reason` is the last failure, until a decode has been finished after it."""
        supervisor = self._supervisor
        return EngineStatus(
            state=supervisor.state,
            reason=supervisor.reason,
            restarts=supervisor.restarts,
            queued=len(self._waiting),
            pid=supervisor.pid,
            properties=supervisor.known,
            held=self._ledger.held,
            totals=self._past + self._ledger.totals,
            threads=self._threads or (supervisor.properties.threads if supervisor.properties else 0),
            deferred=self._deferred,
            queued_background=len(self._waiting) - self._waiting.count(background=False),
        )

    def silence(self) -> float:
        """Seconds since the running request's last sign of life; 0 when there is none."""
        return asyncio.get_running_loop().time() - self._heard if self._running else 0.0

    async def ready(self, timeout: float) -> Properties:  # noqa: ASYNC109  (part of the sentence it raises)
        """Wait until the model is loaded, loading it if it was unloaded. Raises `EngineError` after `timeout`
        seconds, and as soon as the engine has failed for good: `ModelError` if the model is why."""
        try:
            async with asyncio.timeout(timeout):
                while (properties := self._supervisor.properties) is None:
                    self._raise_if_down()
                    self._supervisor.wake()
                    await self._changed.wait()
                return properties
        except TimeoutError:
            raise EngineError(self._not_ready(timeout)) from None

    async def replaced(self, pid: int | None) -> int:
        """Wait until a process other than `pid` is ready, and return its id. Its prefixes are all cold."""
        while self._supervisor.properties is None or (now := self._supervisor.pid) in (None, pid):
            await self._changed.wait()
        return now

    # What requests are served with.

    def set_threads(self, number: int) -> None:
        """Decode with so many threads, at least 1, from the next request on, in every process to come."""
        if number != self._threads:
            self._threads = number
            self._tell_threads()

    def defer(self, reason: str) -> None:
        """Let background requests wait as long as `reason` is not empty; one that writes may finish."""
        self._deferred = reason
        self._advance()

    def lane(self, background: bool = False) -> Lane:
        return Lane(self, background, self.number())

    # Requests.

    def number(self) -> int:
        """One that no other request or lane has; larger than all before it."""
        return next(self._ids)

    async def serve(self, request: wire.Request, background: bool, age: int) -> AsyncGenerator[Part, None]:
        """What the engine answers, the last part being final. Closing this early frees the engine."""
        self._raise_if_down()
        job = Job(request, background, age)
        self._submit(job)
        try:
            part: Part | MuleteerError | None = None
            while part is None or isinstance(part, wire.Chunk):
                part = await job.parts.get()
                if isinstance(part, MuleteerError):
                    raise part
                yield part
        finally:
            self._abandon(job)

    # The queue. Nothing below awaits: each step is whole before the next event.

    def _submit(self, job: Job) -> None:
        background = job.place.background
        if self._supervisor.state == "unloaded" and job.gives_way:
            raise EngineError(UNLOADED)
        ahead = self._waiting.count(background)
        self._waiting.add(job.place, job)
        self._advance()
        if ahead >= self._limit and self._waiting.remove(job.place):
            self._rest()
            hint = min(max(self._typical_s * ahead, 1.0), 60.0)
            raise EngineBusyError(
                f"The engine is busy and {ahead} requests wait already. Try again in {hint:.0f} seconds.",
                hint,
            )

    def _advance(self) -> None:
        """Send the next request if the engine can take it; make room for it if it should."""
        if self._running is None and self._supervisor.state == "ready":
            if job := self._waiting.take(background=not self._deferred):
                self._running = job
                job.started = asyncio.get_running_loop().time()
                self._supervisor.send(job.line)
                self._listen()
        elif self._running and self._running.gives_way and (self._deferred or self._waiting.count(False)):
            self._cancel(self._running)
        elif self._due():
            self._supervisor.wake()
        self._rest()

    def _due(self) -> int:
        """How many wait for their turn; what is deferred waits for something else."""
        return self._waiting.count(background=not self._deferred)

    def _abandon(self, job: Job) -> None:
        """The caller is gone, or done."""
        if self._waiting.remove(job.place):
            self._rest()
        elif job is self._running:
            job.abandoned = True
            self._cancel(job)

    def _cancel(self, job: Job) -> None:
        """Have the running request dropped, under a deadline that further reasons do not prolong."""
        if not job.cancelled:
            job.cancelled = True
            self._supervisor.send(wire.to_engine(wire.Cancel(job.id)))
            seconds = self._cancel_timeout
            self._arm(seconds, f"did not drop a cancelled request within {seconds:g} seconds and was killed")

    def _put_back(self, job: Job) -> None:
        """The running request has given way and waits again; what it decoded is kept by the engine."""
        self._running = None
        self._disarm()
        job.cancelled = False
        self._waiting.add(job.place, job)

    def _finish(self, last: Part | MuleteerError) -> None:
        """The running request is over."""
        job = self._running
        if job is None:
            return
        job.parts.put_nowait(last)
        now = asyncio.get_running_loop().time()
        self._typical_s += (now - job.started - self._typical_s) / 8
        self._keep_until = max(
            self._keep_until, now + (BETWEEN_WARMS_S if job.gives_way else self._idle_unload)
        )
        self._running = None
        self._disarm()
        if job.shares_lane and not job.abandoned:
            self._expect(job)

    def _expect(self, job: Job) -> None:
        """The turn that was served may go on."""
        self._waiting.expected = job.place
        if self._expecting:
            self._expecting.cancel()
        self._expecting = asyncio.get_running_loop().call_later(BETWEEN_LEVELS_S, self._expect_nothing)

    def _expect_nothing(self) -> None:
        self._waiting.expected = None
        self._advance()

    def _rest(self) -> None:
        """Arrange for the model to be unloaded when nobody has used it for long enough."""
        if self._unloading:
            self._unloading.cancel()
            self._unloading = None
        busy = self._running is not None or self._due() > 0
        if self._idle_unload and not busy and self._supervisor.state == "ready":
            self._unloading = asyncio.get_running_loop().call_at(self._keep_until, self._unload)

    def _unload(self) -> None:
        log.info("Nobody has used the model for %g seconds: it is unloaded.", self._idle_unload)
        self._account()
        for job in self._waiting.clear():
            if job.gives_way:
                job.parts.put_nowait(EngineError(UNLOADED))
            else:
                self._waiting.add(job.place, job)
        self._supervisor.unload()

    def _account(self) -> None:
        """The process is gone: only the disk holds what it held, and what it used is past."""
        held, self._past = self._ledger.held, self._past + self._ledger.totals
        self._ledger = wire.Ledger(Held(disk=held.disk, disk_prefixes=held.disk_prefixes), Use())

    def _tell_threads(self) -> None:
        if self._threads and self._supervisor.state == "ready":
            self._supervisor.send(wire.to_engine(wire.Threads(self._threads)))

    def _listen(self) -> None:
        self._heard = asyncio.get_running_loop().time()
        self._arm(self._silence, f"gave no sign of life for {self._silence:g} seconds and was killed")

    def _arm(self, seconds: float, cause: str) -> None:
        self._disarm()
        self._deadline = asyncio.get_running_loop().call_later(seconds, self._supervisor.kill, cause)

    def _disarm(self) -> None:
        if self._deadline:
            self._deadline.cancel()
            self._deadline = None

    def _fail_waiting(self, error: MuleteerError) -> None:
        for job in self._waiting.clear():
            job.parts.put_nowait(type(error)(str(error)))

    def _lose_patience(self) -> None:
        """The engine has not been ready for so long that nobody waits any longer."""
        self._fail_waiting(EngineError(self._not_ready(self._load_timeout)))
        self._be_patient()

    def _be_patient(self) -> None:
        seconds = self._load_timeout + LATE_S
        self._patience = asyncio.get_running_loop().call_later(seconds, self._lose_patience)

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
            given_way = job.cancelled and not job.abandoned and message.code == CancelledByClientError.code
            if given_way:
                self._put_back(job)
            else:
                self._finish(wire.as_error(message))
        elif isinstance(message, wire.Chunk | wire.Answer):
            self._take(job, message)
        elif not job.cancelled:
            self._listen()
        self._advance()

    def _take(self, job: Job, part: Part) -> None:
        """A part of the running request's answer."""
        if not job.takes(part):
            cause = "gave an answer that does not fit its request and was killed"
            self._supervisor.kill(cause)
            self._finish(EngineError(f"The engine {cause}; it is being started again. Try again soon."))
        elif isinstance(part, wire.Answer):
            if not isinstance(part, wire.Counted | wire.Forgotten):
                self._supervisor.proven(forgive=not job.gives_way)
            self._finish(part)
        elif not job.cancelled:
            self._listen()
            job.parts.put_nowait(part)

    def ended(self, error: EngineError) -> None:
        self._account()
        self._finish(error)

    def overdue(self) -> None:
        self._fail_waiting(self._supervisor.failure)

    def changed(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
        state = self._supervisor.state
        if state in ("failed", "stopped"):
            self._finish(self._supervisor.failure)
            self._fail_waiting(self._supervisor.failure)
        if state == "ready":
            self._tell_threads()
            self._keep_until = asyncio.get_running_loop().time() + self._idle_unload
        coming = state in ("starting", "loading", "restarting")
        if self._patience and not coming:
            self._patience.cancel()
            self._patience = None
        elif coming and not self._patience:
            self._be_patient()
        self._advance()
