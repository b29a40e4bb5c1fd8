"""The whole daemon as a process of its own: real signals, a real engine, a real socket.

A stopped engine (SIGSTOP) holds a turn for as long as a test wants.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import sqlite3
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from muleteer.engine import models

pytestmark = pytest.mark.model("tiny")

DEADLINE = 300.0  # seconds; a turn takes ten, and a busy machine is forgiven
SETTINGS = {
    "MULETEER_ENGINE__CONTEXT": "8192",  # room for every static prompt at once, so that each is counted
    "MULETEER_ENGINE__SEQUENCES": "32",
    "MULETEER_BUDGETS__PLANNER_PROMPT": "2400",  # the tiny model makes more tokens of the same menu
    "MULETEER_BUDGETS__SECONDS": "600.0",  # a busy machine is forgiven
    "MULETEER_ENGINE__THREADS": "1",  # two wait for each other when others want a processor
}
PREPARED = "The prompts are prepared: "
TURN = {"message": "What time is it in Istanbul?"}


class Daemon:
    """`muleteer serve` and what it says."""

    def __init__(self, process: asyncio.subprocess.Process, socket: Path) -> None:
        self.process = process
        self.socket = socket
        self.log = ""

    async def says(self, sentence: str) -> str:
        """Read the log up to a line that holds `sentence`."""
        assert self.process.stderr is not None
        async with asyncio.timeout(DEADLINE):
            while line := (await self.process.stderr.readline()).decode():
                self.log += line
                if sentence in line:
                    return line
        raise AssertionError(f"never said {sentence!r}:\n{self.log}")

    async def ends(self) -> int:
        async with asyncio.timeout(DEADLINE):
            _, rest = await self.process.communicate()
        self.log += rest.decode()
        assert self.process.returncode is not None
        return self.process.returncode

    @asynccontextmanager
    async def client(self) -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.AsyncHTTPTransport(uds=str(self.socket))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost", timeout=DEADLINE
        ) as client:
            yield client

    async def status(self) -> Any:
        async with self.client() as client:
            return (await client.get("/v1/status")).json()

    async def reports(self, holds: Callable[[Any], bool]) -> None:
        """Ask for the status until `holds` is true of it."""
        async with asyncio.timeout(DEADLINE):
            while not holds(await self.status()):
                pass

    async def turn(self) -> httpx.Response:
        async with self.client() as client:
            return await client.post("/v1/turns", json={**TURN, "stream": False})

    async def answers(self) -> bool:
        """Whether a request reaches the engine and comes back; costs no decoding."""
        async with self.client() as client:
            reply = await client.post("/v1/turns", json={"message": "hay " * 3000, "stream": False})
        return bool(reply.status_code == 413 and "400" in reply.json()["error"]["message"])

    @asynccontextmanager
    async def engine_ends(self) -> AsyncIterator[None]:
        """Wait, after the block, for the end of the engine process that runs before it."""
        ended = asyncio.Event()
        descriptor = os.pidfd_open((await self.status())["engine"]["pid"])
        asyncio.get_running_loop().add_reader(descriptor, ended.set)
        try:
            yield
            async with asyncio.timeout(DEADLINE):
                await ended.wait()
        finally:
            asyncio.get_running_loop().remove_reader(descriptor)
            os.close(descriptor)

    @asynccontextmanager
    async def held_stream(self) -> AsyncIterator[AsyncIterator[str]]:
        """The lines of a turn that has begun and waits for a stopped engine; and goes on afterwards."""
        engine = (await self.status())["engine"]["pid"]
        os.kill(engine, signal.SIGSTOP)
        async with self.client() as client, client.stream("POST", "/v1/turns", json=TURN) as reply:
            lines = reply.aiter_lines()
            assert await anext(lines) == "event: turn.started"
            yield lines


@asynccontextmanager
async def daemon(folder: Path, **options: str) -> AsyncIterator[Daemon]:
    given = {"state": f"{folder}/state", "socket": f"{folder}/s", **options}
    given.setdefault("model", str(models.locate("tiny")))
    arguments = [text for name, value in given.items() for text in (f"--{name}", value)]
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "muleteer", "serve", *arguments),
        env={"PATH": os.environ["PATH"], "HOME": str(folder)} | SETTINGS,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield Daemon(process, Path(given["socket"]))
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


@pytest.fixture
def folder() -> Iterator[Path]:
    """Short, whatever the test is called: a socket's path must be."""
    with tempfile.TemporaryDirectory(prefix="mule") as name:
        yield Path(name)


@pytest.fixture
async def loading(folder: Path) -> AsyncIterator[Daemon]:
    """Listening, with an engine process."""
    async with daemon(folder) as one:
        await one.says("The engine is loading.")
        yield one


@dataclass(frozen=True)
class FirstStart:
    """What a daemon said once it had decoded every static prompt, and the state folder that it left."""

    status: Any
    state: Path


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def first_start() -> AsyncIterator[FirstStart]:
    with tempfile.TemporaryDirectory(prefix="mule") as name:
        async with daemon(Path(name)) as one:
            await one.says(PREPARED)
            status = await one.status()
            one.process.terminate()
            await one.ends()
        yield FirstStart(status, Path(name) / "state")


@pytest.fixture
async def ready(folder: Path, first_start: FirstStart) -> AsyncIterator[Daemon]:
    """With every static prompt, as after a second start."""
    shutil.copytree(first_start.state / "prefixes", folder / "state" / "prefixes", copy_function=os.link)
    async with daemon(folder) as one:
        await one.says(PREPARED)
        yield one


def test_a_first_start_decodes_every_static_prompt_once_and_keeps_it(first_start: FirstStart) -> None:
    status = first_start.status
    prompts, held, totals = status["prompts"], status["engine"]["held"], status["engine"]["totals"]
    assert prompts["ready"] == prompts["all"] >= 9
    assert held["disk_prefixes"] == prompts["all"]
    assert totals["decoded"] == held["resident_tokens"], "no token of a prefix twice"
    assert (first_start.state / "prefixes").stat().st_mode & 0o777 == 0o700
    assert status["heat"].keys() == {"celsius", "throttled", "undervoltage"}


async def test_a_second_start_restores_what_the_first_one_decoded(
    ready: Daemon, first_start: FirstStart
) -> None:
    status = await ready.status()
    assert status["prompts"] == first_start.status["prompts"]
    assert status["engine"]["held"]["restored"] > 0
    assert status["engine"]["totals"]["decoded"] < first_start.status["engine"]["totals"]["decoded"] / 10
    assert status["reuse"] > 0.9


async def test_a_turn_finds_every_prompt_decoded_and_its_tokens_add_up(ready: Daemon, folder: Path) -> None:
    levels = (await ready.turn()).json()["levels"]
    for level in levels:
        assert level["prompt"] == level["reused"] + level["decoded"]
        assert level["reused"] > level["decoded"], level
    assert (await ready.status())["ledger"] == {"requests": len(levels), "mismatches": 0}
    ready.process.terminate()
    await ready.ends()
    with closing(sqlite3.connect(folder / "state" / "usage.db")) as connection:
        counted = dict(connection.execute("SELECT name, count FROM uses"))
    assert set(counted.values()) == {1}
    assert counted.keys() & {"reply", *(level["name"] for level in levels)}


async def test_turn_after_one_whose_client_hung_up(ready: Daemon) -> None:
    engine = (await ready.status())["engine"]["pid"]
    async with ready.held_stream():
        pass
    await ready.reports(lambda status: status["turns"]["running"] == 0)
    os.kill(engine, signal.SIGCONT)
    reply = await ready.turn()
    assert reply.status_code == 200
    assert reply.json()["levels"][0]["prompt"] > 0
    status = await ready.status()
    assert (status["state"], status["pid"], status["engine"]["pid"]) == ("ready", ready.process.pid, engine)
    assert (status["turns"]["finished"], status["turns"]["cancelled"]) == (1, 1)


async def test_engine_killed_in_a_turn_fails_that_turn_and_not_the_one_behind_it(ready: Daemon) -> None:
    engine = (await ready.status())["engine"]["pid"]
    async with asyncio.TaskGroup() as group, ready.held_stream() as lines:
        behind = group.create_task(ready.turn())
        await ready.reports(lambda status: status["engine"]["queued"] == 1)
        os.kill(engine, signal.SIGKILL)
        name, data = [line async for line in lines if line and not line.startswith(":")][-2:]
        assert name == "event: turn.failed"
        assert json.loads(data.removeprefix("data: "))["code"] == "engine_died"
        assert (await behind).status_code == 200
    status = await ready.status()
    assert (status["state"], status["engine"]["restarts"]) == ("ready", 1)


async def test_first_turn_of_a_new_engine_process_finds_the_prompts_prepared(ready: Daemon) -> None:
    os.kill((await ready.status())["engine"]["pid"], signal.SIGKILL)
    await ready.says("The engine is a new process; its prompts are prepared again.")
    await ready.says(PREPARED)
    for level in (await ready.turn()).json()["levels"]:
        assert level["reused"] > level["decoded"]


async def test_engine_killed_while_the_prompts_are_prepared_does_not_end_the_start(folder: Path) -> None:
    async with daemon(folder) as one:
        await one.says("The engine is ready.")
        os.kill((await one.status())["engine"]["pid"], signal.SIGKILL)
        await one.says("Preparing the prompts again: ")
        await one.says("Ready.")
        assert await one.answers()


async def test_signal_in_a_stream_gives_it_a_last_event(ready: Daemon) -> None:
    async with ready.held_stream() as lines:
        ready.process.terminate()
        name, data = [line async for line in lines if line and not line.startswith(":")][-2:]
        assert name == "event: turn.failed"
        assert json.loads(data.removeprefix("data: "))["code"] == "shutting_down"
    assert await ready.ends() == -signal.SIGTERM
    assert "Traceback" not in ready.log


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_dies_of_the_signal_it_was_sent_and_leaves_nothing(
    loading: Daemon, folder: Path, number: signal.Signals
) -> None:
    status = await loading.status()
    assert (status["state"], status["pid"]) == ("loading", loading.process.pid)
    async with loading.engine_ends():
        loading.process.send_signal(number)
        assert await loading.ends() == -number
    assert "Ready." not in loading.log
    assert "Traceback" not in loading.log
    assert not loading.socket.exists()
    assert not loading.socket.with_name("s.lock").exists()
    assert not (folder / "state" / "lock").exists()


async def test_second_signal_does_not_wait_for_a_hanging_engine(loading: Daemon) -> None:
    async with loading.engine_ends():
        os.kill((await loading.status())["engine"]["pid"], signal.SIGSTOP)
        loading.process.terminate()
        await loading.says("Stopping: SIGTERM")
        loading.process.terminate()
        await loading.says("Closing the engine: cut short, in a hurry.")
        assert await loading.ends() == -signal.SIGTERM
    assert not loading.socket.exists()


@pytest.mark.parametrize("elsewhere", ["state", "socket"])
async def test_second_daemon_is_refused_and_the_first_keeps_serving(
    loading: Daemon, folder: Path, elsewhere: str
) -> None:
    async with daemon(folder, **{elsewhere: f"{folder}/other"}) as second:
        assert await second.ends() == 3
        assert f"(process {loading.process.pid})" in second.log
    assert (await loading.status())["pid"] == loading.process.pid


async def test_killed_daemon_leaves_nothing_in_the_way_of_the_next(loading: Daemon, folder: Path) -> None:
    async with loading.engine_ends():
        loading.process.kill()
        await loading.ends()
    assert loading.socket.exists()
    async with daemon(folder) as second:
        await second.says("Listening on")
        assert (await second.status())["pid"] == second.process.pid


BROKEN = {
    "missing": None,
    "empty": b"",
    "not a model": b"<html>404 Not Found</html>",
    "cut off": b"GGUF\x03\x00\x00\x00" + b"\xff" * 16,
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
async def test_model_that_cannot_be_used_ends_the_start_with_one_sentence(
    folder: Path, content: bytes | None
) -> None:
    model = folder / "broken.gguf"
    if content is not None:
        model.write_bytes(content)
    async with daemon(folder, model=str(model)) as one:
        assert await one.ends() == 4
        assert not one.socket.exists()
    (error,) = [line for line in one.log.splitlines() if "ERROR   muleteer.daemon: " in line]
    assert str(model) in error
    assert "Traceback" not in one.log


async def test_state_folder_that_cannot_be_made_is_a_sentence(folder: Path) -> None:
    (folder / "file").write_text("")
    async with daemon(folder, state=f"{folder}/file/state") as one:
        assert await one.ends() == 2
    assert f"Cannot use the state folder {folder}/file/state: Not a directory; use --state." in one.log


async def test_socket_path_taken_by_a_file_is_a_sentence_and_the_file_stays(folder: Path) -> None:
    (folder / "s").write_text("precious")
    async with daemon(folder) as one:
        assert await one.ends() == 3
    assert "is not a socket" in one.log
    assert (folder / "s").read_text() == "precious"
