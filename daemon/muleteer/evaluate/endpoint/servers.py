"""The two servers: a daemon of ours and llama.cpp's own, each in a process of its own, on loopback ports.

Neither outlives this process, however it ends. Knows how they are started and where they listen; not what
they are asked. Ours has no skills, and one tool of its own: what a caller brings is measured. It is reached
through a port that hands every byte to its Unix socket, whose peers need no token; the port is open as long
as the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from muleteer import paths, tied
from muleteer.catalogue.steering import Steering, Wishes, write_steering
from muleteer.catalogue.stock import FILE_NAME
from muleteer.errors import EngineError
from muleteer.evaluate.peer import PeerSettings
from muleteer.evaluate.rig import proven
from muleteer.services import Services
from muleteer.skills import load_catalogue
from muleteer.toolbox import Toolbox

START_S = 900.0  # a slow card loads the default model in a minute; then it decodes some 800 tokens
STOP_S = 30.0
CHUNK = 64 << 10  # bytes handed on at once
PREPARED = b"The prompts are prepared: "
KEPT = "current-time"  # the one tool of our own: a planner has a menu
QUIET = {  # of a household, of a network and of heat nothing is measured
    "MULETEER_SEAT__ENABLED": "false",
    "MULETEER_TOOLS__OFFLINE": "on",
    "MULETEER_BUDGETS__SECONDS": "600.0",
}


@asynccontextmanager
async def ours(model: Path, threads: int, folder: Path) -> AsyncGenerator[str, None]:
    """The address of a daemon that has nothing left to prepare."""
    short = tempfile.TemporaryDirectory(prefix="mule-")
    socket = Path(short.name) / "socket"
    _turn_off(folder / "state")
    own = {"XDG_CONFIG_HOME": str(folder), "MULETEER_ENGINE__THREADS": str(threads)}
    places = ["--state", str(folder / "state"), "--socket", str(socket), "--model", str(model)]
    command = tied.command("serve", "--log-level", "info", *places)
    process = await asyncio.create_subprocess_exec(
        *command, env={**os.environ, **QUIET, **own}, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(START_S):
            log = await _prepared(process)
        reading = asyncio.create_task(_drained(log))
        async with _door(socket) as address:
            yield address
        reading.cancel()
    finally:
        await _stopped(process)
        short.cleanup()


def _turn_off(state: Path) -> None:
    """Everything that is shipped but for one tool, as its user would."""
    shipped = Toolbox.load(paths.tool_folders()[:1], Services())
    skills = load_catalogue(paths.skill_folders()[:1], shipped).skills
    tools = frozenset(tool.handle for tool in shipped.tools.values()) - {KEPT}
    state.mkdir(parents=True, exist_ok=True)
    wishes = Steering(skills=Wishes(off=frozenset(skills)), tools=Wishes(off=tools))
    write_steering(state / FILE_NAME, wishes)


async def _prepared(process: asyncio.subprocess.Process) -> asyncio.StreamReader:
    """Its log, read up to where it has nothing left to decode. Raises `EngineError` when it ends before."""
    log = process.stderr
    if log is None:
        raise EngineError("The daemon has no log.")
    last = b""
    while line := await log.readline():
        if PREPARED in line:
            return log
        last = line
    raise EngineError(f"The daemon ended: {last.decode(errors='replace').strip()}")


async def _drained(log: asyncio.StreamReader) -> None:
    while await log.read(CHUNK):
        pass


async def _stopped(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    process.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await process.wait()
    except TimeoutError:
        process.kill()
        await process.wait()


@asynccontextmanager
async def _door(socket: Path) -> AsyncGenerator[str, None]:
    inside: set[asyncio.Task[None]] = set()

    async def through(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        answers, asks = await asyncio.open_unix_connection(str(socket))
        await asyncio.gather(_hand_on(reader, asks), _hand_on(answers, writer))

    def enter(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(through(reader, writer))
        inside.add(task)
        task.add_done_callback(inside.discard)

    async with await asyncio.start_server(enter, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        left = list(inside)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)


async def _hand_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(CHUNK):
                writer.write(data)
                await writer.drain()
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def theirs(model: Path, threads: int, context: int) -> AsyncGenerator[str, None]:
    """The address of llama.cpp's server, as it is by default but for context and threads. Where it dies of
    its first decode it is tried once more without repacked weights."""
    async with contextlib.AsyncExitStack() as stack:
        settings = PeerSettings(str(model), context, threads)
        try:
            peer = await proven(stack, settings)
        except EngineError:
            peer = await proven(stack, PeerSettings(str(model), context, threads, extra_buffers=False))
        yield peer.address
