"""A harness that says what the test wrote, an engine that is in the state the test says, and raw clients."""

from __future__ import annotations

import asyncio
import json
import os
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

from muleteer import session
from muleteer.engine.protocol import EngineStatus, Message, Use
from muleteer.errors import NotOpenError
from muleteer.harness.confirmation import Pending
from muleteer.harness.events import (
    Confirm,
    Event,
    LevelFinished,
    LevelUse,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from muleteer.toolbox import Tool

DEADLINE = 10.0  # seconds; nothing here takes one, and a busy machine is forgiven

STARTED = TurnStarted("t1")
LEVEL = LevelFinished(LevelUse.of("plan", Use(10, 4, 6, 1, 1, 12.0)))
TEXT = TextDelta("It is\nnoon — “12:00”.")
FINISHED = TurnFinished("t1", TEXT.text, ("current-time",), (), (LEVEL.level,), 12.0)
ASKED = Confirm(
    "t1",
    "switch",
    "physical",
    {"device": "lamp", "on": True},
    "Shall I?",
    300.0,
    ("switch",),
    (),
    (LEVEL.level,),
    9.0,
)
SWITCH = Tool("switch", "switch", "Switch.", "switch()", {}, "", True, False, False, "physical", 20.0, ())
PENDING = Pending("t1", "lamp on", SWITCH, {"device": "lamp", "on": True}, ("switch",), (), ())

Script = Sequence[Event | BaseException | asyncio.Event]


class ScriptedHarness:
    """Each turn plays `script`: events are yielded, exceptions raised, and an `asyncio.Event` waited for."""

    def __init__(self) -> None:
        self.script: Script = (STARTED, LEVEL, TEXT, FINISHED)
        self.asked: list[tuple[str, tuple[Message, ...]]] = []
        self.needs_yes: list[tuple[str, ...]] = []
        self.brains: list[str] = []
        self.open: dict[str, Pending] = {}
        self.answered: list[tuple[str, bool]] = []
        self.waiting = asyncio.Event()
        self.freed = asyncio.Event()

    def run(
        self,
        message: str = "",
        history: Sequence[Message] = (),
        *,
        skill: str = "",
        background: bool = False,
        confirm: Collection[str] = (),
        brain: str = "",
    ) -> AsyncGenerator[Event, None]:
        self.brains.append(brain)
        self.asked.append((message, tuple(history)))
        self.needs_yes.append(tuple(confirm))
        return self._play()

    def take(self, turn: str, may: Callable[[str], bool]) -> Pending:
        if turn not in self.open or not may(self.open[turn].asker):
            raise NotOpenError("No question of that turn is open.")
        return self.open.pop(turn)

    def confirmed(self, pending: Pending, yes: bool) -> AsyncGenerator[Event, None]:
        self.answered.append((pending.turn, yes))
        return self._play()

    async def _play(self) -> AsyncGenerator[Event, None]:
        try:
            for line in self.script:
                if isinstance(line, asyncio.Event):
                    self.waiting.set()
                    await line.wait()
                elif isinstance(line, BaseException):
                    raise line
                else:
                    if isinstance(line, Confirm):
                        self.open[line.turn] = replace(PENDING, turn=line.turn, asker=session.asker.get())
                    yield line
        finally:
            self.freed.set()


class StubEngine:
    def __init__(self) -> None:
        self.now = EngineStatus("ready")
        self.restarted = 0

    def status(self) -> EngineStatus:
        return self.now

    async def restart(self) -> None:
        self.restarted += 1


class RawClient:
    """A connection on which the test writes every byte itself."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    def shut_down(self) -> None:
        """Both directions, without closing."""
        descriptor = os.dup(self.writer.get_extra_info("socket").fileno())
        with socket.socket(fileno=descriptor) as same:
            same.shutdown(socket.SHUT_RDWR)

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    async def until(self, mark: bytes) -> bytes:
        async with asyncio.timeout(DEADLINE):
            return await self.reader.readuntil(mark)

    async def rest(self) -> bytes:
        async with asyncio.timeout(DEADLINE):
            return await self.reader.read()

    async def reply(self) -> tuple[int, dict[str, str], object]:
        """Status, headers and JSON of a reply with a Content-Length."""
        head = (await self.until(b"\r\n\r\n")).decode().split("\r\n")
        headers = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        async with asyncio.timeout(DEADLINE):
            body = await self.reader.readexactly(int(headers["content-length"]))
        return int(head[0].split()[1]), headers, json.loads(body)


@asynccontextmanager
async def connect(path: Path) -> AsyncIterator[RawClient]:
    reader, writer = await asyncio.open_unix_connection(str(path))
    try:
        yield RawClient(reader, writer)
    finally:
        writer.close()


def post(body: bytes | str, *headers: str) -> bytes:
    """The bytes of a `POST /v1/turns`."""
    body = body if isinstance(body, bytes) else body.encode()
    head = ["POST /v1/turns HTTP/1.1", "Host: localhost", "Content-Type: application/json", *headers]
    return "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body


async def within(event: asyncio.Event) -> None:
    async with asyncio.timeout(DEADLINE):
        await event.wait()
