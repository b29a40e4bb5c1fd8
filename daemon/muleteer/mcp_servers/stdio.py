"""A server that is a program of ours: started, talked to in lines of JSON, and ended with all it started.

Knows processes and lines; what a message means is the library's business. Own code instead of the library's
transport, which keeps a line of any length in memory and does not tell when the program ends.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress

import anyio
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import PARSE_ERROR, ErrorData, JSONRPCError, jsonrpc_message_adapter

log = logging.getLogger(__name__)

LINE_LIMIT = 4 << 20  # bytes of one message; a picture of some megapixels as text, which is not even shown
ERRORS_AT_ONCE = 4096  # bytes of standard error that are read, and logged for debugging, at once
LEAVE_SECONDS = 1.0  # to end after its input was closed, as the protocol has it, and again after SIGTERM
INHERITED = ("PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR")


def environment(own: Mapping[str, str], extra: Mapping[str, str], passed: Sequence[str]) -> dict[str, str]:
    """What a server sees of our environment `own`: a few harmless variables, those that are `passed` on by
    name, and `extra`."""
    names = (*INHERITED, *passed)
    return {name: own[name] for name in names if name in own} | dict(extra)


@asynccontextmanager
async def talking(
    command: Sequence[str], env: Mapping[str, str], ended: Callable[[str], None]
) -> AsyncIterator[TransportStreams]:
    """The streams of a program while the block runs; `ended` is told why, when it stops talking by itself.
    Raises `OSError` when it cannot be started."""
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        env=dict(env),
        start_new_session=True,
        limit=LINE_LIMIT,
    )
    to_session, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, from_session = anyio.create_memory_object_stream[SessionMessage](0)

    leaving = asyncio.Event()

    async def receive() -> None:
        why = "ended"
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with to_session:
                async for line in _lines(process):
                    if line is None:
                        why = f"sent a message of more than {LINE_LIMIT:,} bytes"
                        break
                    if message := _message(line):
                        await to_session.send(message)
        if not leaving.is_set():
            ended(why)

    async def send() -> None:
        writer = process.stdin
        async with from_session:
            with suppress(OSError):  # it has gone, which `receive` tells
                async for message in from_session:
                    text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                    if writer:
                        writer.write(text.encode() + b"\n")
                        await writer.drain()

    tasks = [asyncio.create_task(each) for each in (receive(), send(), _log_errors(process))]
    try:
        yield read_stream, write_stream
    finally:
        leaving.set()
        await _end(process)
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for stream in (to_session, read_stream, write_stream, from_session):
            stream.close()


async def _lines(process: asyncio.subprocess.Process) -> AsyncIterator[bytes | None]:
    """What it prints, line by line; None instead of one that is too long."""
    reader = process.stdout
    while reader:
        try:
            line = await reader.readline()
        except ValueError:
            yield None
            return
        if not line:
            return
        yield line


def _message(line: bytes) -> SessionMessage | None:
    """The message in a line; None for what is none, such as a greeting that was printed by mistake. An answer
    that is none becomes an error, since somebody waits for it."""
    with suppress(ValueError):
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    try:
        found = json.loads(line.decode(errors="replace"))
        # Halves of surrogate pairs, which JSON can write and no text can hold, become question marks.
        text = json.dumps(found, ensure_ascii=False).encode(errors="replace")
    except (ValueError, RecursionError):
        log.debug("Not a message: %r", line[:200])
        return None
    with suppress(ValueError):
        return SessionMessage(jsonrpc_message_adapter.validate_json(text, by_name=False))
    log.debug("Not a message: %r", line[:200])
    if not isinstance(found, dict) or "method" in found or type(found.get("id")) not in (int, str):
        return None
    fault = ErrorData(code=PARSE_ERROR, message="its answer breaks the protocol")
    return SessionMessage(JSONRPCError(jsonrpc="2.0", id=found["id"], error=fault))


async def _log_errors(process: asyncio.subprocess.Process) -> None:
    """Read standard error to its end, so that nobody waits for room in it."""
    while process.stderr and (some := await process.stderr.read(ERRORS_AT_ONCE)):
        log.debug("Process %d: %s", process.pid, some.decode(errors="replace").rstrip())


async def _end(process: asyncio.subprocess.Process) -> None:
    """End it and all of its process group: by closing its input, by SIGTERM, by SIGKILL."""
    if process.stdin:
        process.stdin.close()
    if not await _gone(process):
        _signal(process, signal.SIGTERM)
        await _gone(process)
    _signal(process, signal.SIGKILL)  # also what it left behind
    await _gone(process)
    process._transport.close()  # type: ignore[attr-defined]  # nothing else closes pipes that others hold


async def _gone(process: asyncio.subprocess.Process) -> bool:
    """Whether the process ended, given a moment."""
    try:
        async with asyncio.timeout(LEAVE_SECONDS):
            # `wait` would wait for its children to close the pipes, too.
            while process.returncode is None:  # noqa: ASYNC110  # and nothing else tells
                await asyncio.sleep(0.01)
    except TimeoutError:
        return False
    return True


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)
