"""One engine process as the daemon holds it: start it, exchange messages with it, and say how it ended.

Knows the life of a single process. What its messages mean is the business of `client.py`, whether another
process follows that of `supervisor.py`.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from muleteer.engine import wire

log = logging.getLogger("muleteer.engine")

WORKER = (sys.executable, "-P", "-m", "muleteer.engine.worker")
"""`-P`: the current folder must not be able to shadow a module of the engine."""
EXIT_S = 5.0
"""Seconds from the closed socket to the kill. The process notices between two chunks of a prompt; unloading
takes milliseconds, and the daemon's own stop deadline is ten seconds."""
LOG_LINE = 500
"""Bytes of one line of the process's output that reach the log; a progress bar may never end its line."""

LEVELS = {name: getattr(logging, name) for name in ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")}
"""How a line of the engine's own log begins; it is logged again at that level, without the word."""

SIGNALS = {
    signal.SIGKILL: "sent by a person, or by the kernel because memory ran out",
    signal.SIGSEGV: "a memory fault in native code",
    signal.SIGBUS: "the model file was cut short or its disk failed while it was mapped",
    signal.SIGILL: "an instruction that this processor lacks: llama-cpp-python must be built for it",
    signal.SIGABRT: "native code gave up",
    signal.SIGFPE: "an arithmetic fault in native code",
}


@dataclass(frozen=True, slots=True)
class End:
    """How a process ended. `cause` completes the sentence "The engine ..."; `crash` says that native code
    faulted, as opposed to a kill from outside, a deadline or a plain exit."""

    cause: str
    crash: bool = False


def describe_end(returncode: int, out_of_memory: bool, last_line: str) -> End:
    """The end of a process that nobody here killed; a negative `returncode` is a signal, as in subprocess."""
    if returncode >= 0:
        said = f" after saying: {last_line}" if last_line else ""
        return End(f"ended by itself with exit code {returncode}{said}")
    number = -returncode
    if number not in set(signal.Signals):
        return End(f"was killed by signal {number}")
    known = signal.Signals(number)
    if known == signal.SIGKILL and out_of_memory:
        words = "most likely by the kernel, as memory ran out: a smaller model or context needs less"
    else:
        words = SIGNALS.get(known, "")
    crash = known in SIGNALS and known != signal.SIGKILL
    return End(f"was killed by signal {number} ({known.name}{': ' if words else ''}{words})", crash)


class Child:
    """A running engine process. Made by `started`, which also ends it."""

    def __init__(self, process: Process, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self._killed_because = ""
        self._last_line = ""
        self._kills_before = _memory_kills()
        self._logging = asyncio.create_task(self._log_output(), name="engine log")

    @property
    def pid(self) -> int:
        return self._process.pid

    def send(self, line: bytes) -> None:
        """Pass a line of `wire.to_engine` on; after the process ended, nothing."""
        if not self._writer.is_closing():
            self._writer.write(line)

    def kill(self, cause: str) -> None:
        """End the process now. `cause` completes the sentence "The engine ..."; the first one counts."""
        self._killed_because = self._killed_because or cause
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()

    def leave(self) -> None:
        """Tell the process to end, by closing the socket; `ended` sees to it that it does."""
        self._writer.close()

    async def messages(self) -> AsyncGenerator[wire.FromEngine, None]:
        """What the process says until it ends. One that breaks the language is killed."""
        lines = wire.Lines()
        try:
            while data := await self._read():
                for line in lines.feed(data):
                    yield wire.at_daemon(line)
        except wire.WireError as error:
            self.kill(f"said something that the daemon does not understand ({error}) and was killed")

    async def ended(self) -> End:
        """Wait for the process, which has closed its socket or was killed, and say how it ended."""
        try:
            async with asyncio.timeout(EXIT_S):
                returncode = await self._process.wait()
        except TimeoutError:
            self.kill("closed its socket without ending, and was killed")
            returncode = await self._process.wait()
        await self._logging
        if self._killed_because:
            return End(self._killed_because)
        return describe_end(returncode, _memory_kills() > self._kills_before, self._last_line)

    async def _read(self) -> bytes:
        try:
            return await self._reader.read(65536)
        except ConnectionError:
            return b""

    async def stop(self) -> None:
        """Tell the process to end by closing the socket; kill it if it has not after `EXIT_S`."""
        self.leave()
        try:
            async with asyncio.timeout(EXIT_S):
                await self._process.wait()
        except TimeoutError:
            log.warning("The engine did not end within %g seconds and is killed.", EXIT_S)
        finally:
            self.kill("was told to end")
            await self._logging
        await self._process.wait()
        with contextlib.suppress(ConnectionError):
            await self._writer.wait_closed()

    async def _log_output(self) -> None:
        output, rest = self._process.stdout, b""
        while output and (data := await output.read(4096)):
            *lines, rest = (rest + data).split(b"\n")
            rest = rest[:LOG_LINE]
            for line in lines:
                self._log_line(line)
        self._log_line(rest)

    def _log_line(self, line: bytes) -> None:
        if text := line[:LOG_LINE].decode(errors="replace").strip():
            word, _, rest = text.partition(" ")
            level = LEVELS.get(word)
            self._last_line = text if level is None else rest
            log.log(level or logging.INFO, "%s", self._last_line)


@contextlib.asynccontextmanager
async def started(command: Sequence[str]) -> AsyncIterator[Child]:
    """Run `command --fd N` with the other end of a socket at N and nothing else inherited.

    On leaving, the process is told to end by closing the socket, and killed if it does not within `EXIT_S`.
    Raises `OSError` when it cannot be started.
    """
    ours, theirs = socket.socketpair()
    with contextlib.ExitStack() as until_taken:
        until_taken.enter_context(ours)
        with theirs:
            process = await asyncio.create_subprocess_exec(
                *command,
                "--fd",
                str(theirs.fileno()),
                pass_fds=(theirs.fileno(),),
                stdin=DEVNULL,
                stdout=PIPE,
                stderr=STDOUT,
            )
        reader, writer = await asyncio.open_unix_connection(sock=ours)
        until_taken.pop_all()
    child = Child(process, reader, writer)
    try:
        yield child
    finally:
        await child.stop()


def _memory_kills() -> int:
    """Processes that the kernel has killed for lack of memory since boot; 0 where it does not say."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/vmstat").read_text().splitlines():
            if line.startswith("oom_kill "):
                return int(line.split()[1])
    return 0
