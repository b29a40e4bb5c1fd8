"""A recogniser in a process of its own, which may die at any time and is started again.

Knows the process and its deadlines; what is in it, `process.py` does. One utterance at a time: others wait.
"""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from muleteer.voice.parts import Heard, PartGone
from muleteer.voice.recognition import wire

PROCESS = (sys.executable, "-P", "-m", "muleteer.voice.recognition.process")
LOAD_SECONDS = 300.0  # until it can hear: two on a quick machine; a busy one shall come to it at last
ANSWER_SECONDS = 60.0  # for one utterance; a sentence takes base ten on the slowest board
PATIENCE = 10.0  # seconds that an utterance waits for a process that is being started
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds before it is started again, doubled each time
LIVED = 60.0  # seconds after which a process is not one of those that die at once
MOST_NAMES, LONGEST_NAME = 200, 64  # characters; Whisper has room for about a hundred


class LocalRecognizer:
    """A `Recognizer`. The process is started with the first use, or by `start`."""

    def __init__(self, setup: wire.Setup, command: Sequence[str] = PROCESS) -> None:
        self._setup, self._command = setup, command
        self._turn = asyncio.Lock()
        self._known = asyncio.Event()  # whether there are ears, or why not
        self._writer: asyncio.StreamWriter | None = None
        self._answer: asyncio.Future[wire.Answer] | None = None
        self._number = 0
        self._problem = ""
        self._keeper: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to load, so that the first utterance need not wait for it."""
        if self._keeper is None:
            self._keeper = asyncio.create_task(self._keep())

    async def recognize(self, pcm: bytes, language: str, names: Sequence[str]) -> Heard:
        """As `Recognizer` has it; what is longer than `wire.LONGEST_SECONDS` is cut."""
        self.start()
        async with self._turn:
            try:
                async with asyncio.timeout(PATIENCE):
                    await self._known.wait()
            except TimeoutError:
                raise self._gone("is still being started") from None
            answer = await self._asked(pcm[: wire.LONGEST_SOUND], language, names)
        if answer.problem:
            raise self._gone(answer.problem)
        return answer.heard

    async def close(self) -> None:
        """Ends the process."""
        keeper, self._keeper = self._keeper, None
        if keeper is not None:
            keeper.cancel()
            with suppress(asyncio.CancelledError):
                await keeper

    async def _asked(self, pcm: bytes, language: str, names: Sequence[str]) -> wire.Answer:
        """An utterance that was given up is waited for: it cannot be broken off, but those that were given
        up meanwhile are never sent."""
        likely = tuple(name[:LONGEST_NAME] for name in names[:MOST_NAMES])
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                while self._answer is not None:
                    await asyncio.wait({self._answer})
                if self._writer is None:
                    raise self._gone(self._problem)
                self._number += 1
                self._answer = asyncio.get_running_loop().create_future()
                self._writer.write(wire.encode(wire.Ask(self._number, language, likely, len(pcm))))
                self._writer.write(pcm)
                return await asyncio.shield(self._answer)
        except TimeoutError:
            if self._writer is not None:
                self._writer.transport.abort()  # which ends its process
            raise self._gone(f"took longer than {ANSWER_SECONDS:.0f} seconds") from None

    async def _keep(self) -> None:
        """One process after the other, until cancelled."""
        loop = asyncio.get_running_loop()
        pause = FIRST_PAUSE
        while True:
            began = loop.time()
            await self._life()
            pause = FIRST_PAUSE if loop.time() - began > LIVED else min(2 * pause, LONGEST_PAUSE)
            await asyncio.sleep(pause)

    async def _life(self) -> None:
        """One process from its start to its end. When it could hear, the next one is worth waiting for."""
        process = None
        try:
            ours, theirs = socket.socketpair()
            with theirs:
                process = _begun(self._command, theirs)
            await self._served(ours)
        except TimeoutError:
            self._problem = f"was not ready within {LOAD_SECONDS:.0f} seconds"
        except (EOFError, OSError, ValueError, TypeError):
            self._problem = "broke down and is being started again"
        finally:
            if self._writer is None:
                self._known.set()
            else:
                self._known.clear()
            self._writer = None
            self._take(wire.Answer(self._number, problem=self._problem))
            if process is not None:
                process.kill()
                await asyncio.to_thread(process.wait)

    async def _served(self, connection: socket.socket) -> None:
        """Until the process ends, or says that it cannot hear."""
        reader, writer = await asyncio.open_connection(sock=connection)
        try:
            writer.write(wire.encode(self._setup))
            async with asyncio.timeout(LOAD_SECONDS):
                loaded = await _read(reader)
            if loaded.problem:
                self._problem = f"cannot be started: {loaded.problem}"
                return
            self._writer = writer
            self._known.set()
            while True:
                self._take(await _read(reader))
        finally:
            writer.transport.abort()

    def _take(self, answer: wire.Answer) -> None:
        if self._answer is not None and answer.number == self._number:
            self._answer.set_result(answer)
            self._answer = None

    def _gone(self, what: str) -> PartGone:
        return PartGone(f"The recogniser {what}. Say it again in a moment; the log of the service has more.")


def _begun(command: Sequence[str], stdin: socket.socket) -> subprocess.Popen[bytes]:
    """Not by asyncio, which loses a process whose start is cancelled; this takes a millisecond or two."""
    return subprocess.Popen(command, stdin=stdin.fileno(), stdout=subprocess.DEVNULL)


async def _read(reader: asyncio.StreamReader) -> wire.Answer:
    """Raises `EOFError` at the end, `ValueError` for what is no answer."""
    size = wire.length(await reader.readexactly(wire.HEAD))
    return wire.Answer(**json.loads(await reader.readexactly(size)))
