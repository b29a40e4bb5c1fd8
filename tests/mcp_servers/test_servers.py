"""Tools of real MCP servers, over both transports: called, changed, crashed, hung and hostile."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from muleteer.catalogue.declared import Loaded
from muleteer.mcp_servers.definitions import DESCRIPTION_LIMIT
from muleteer.mcp_servers.server import MOST_TOOLS, Server
from muleteer.mcp_servers.service import McpServers
from muleteer.mcp_servers.settings import McpServerSettings, McpSettings
from muleteer.tool import Document, Result, Services, Status
from muleteer.toolbox import Toolbox

HERE = Path(__file__).parent
PATIENCE = 20.0  # seconds; starting Python with the package takes two or three, more on a busy machine


class NoNotebook:
    pass


class Online:
    async def reason(self) -> str:
        return ""


class House:
    """What the daemon would do with the servers' offers."""

    def __init__(self, servers: McpServers) -> None:
        self.servers = servers
        self.toolbox = Toolbox(Services(NoNotebook(), offline=Online()))  # type: ignore[arg-type]  # unused
        self.refused: Mapping[str, str] = {}
        self._news = asyncio.Event()

    def offered(self, origin: str, tools: tuple[Loaded, ...], refused: Mapping[str, str]) -> None:
        for each in tools:
            self.toolbox.adopt(each, origin)
        self.refused = refused
        self._news.set()

    async def until(self, true: Callable[[], object]) -> None:
        """Wait for a state that an offer brings, or that the report tells."""
        async with asyncio.timeout(PATIENCE):
            while not true():
                try:
                    async with asyncio.timeout(0.05):
                        await self._news.wait()
                except TimeoutError:
                    continue
                finally:
                    self._news.clear()

    async def call(self, name: str, **given: object) -> Result:
        return (await self.toolbox.call(name, given)).result

    def state(self, name: str = "ref") -> Mapping[str, object]:
        found = self.servers.report().get(name, {"state": "none"})
        assert isinstance(found, dict)
        return found


@asynccontextmanager
async def opened(settings: McpServerSettings, name: str = "ref") -> AsyncIterator[House]:
    servers = McpServers(McpSettings(servers={name: settings}))
    house = House(servers)
    servers.open(house.offered)
    try:
        yield house
    finally:
        await servers.close()


def program(script: str, *args: str, **more: object) -> McpServerSettings:
    given = {"command": sys.executable, "args": (str(HERE / script), *args), **more}
    return McpServerSettings.model_validate(given)


def children() -> list[psutil.Process]:
    return [each for each in psutil.Process().children(recursive=True) if str(HERE) in " ".join(_line(each))]


def _line(process: psutil.Process) -> list[str]:
    try:
        return process.cmdline()
    except psutil.Error:
        return []


async def test_the_reference_server_over_stdio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MULETEER_SECRET", "hidden")
    monkeypatch.setenv("PUMP_KEY", "passed on")
    settings = program("reference.py", "stdio", env={"EXTRA": "1"}, inherit=("PUMP_KEY",), seconds=5.0)
    async with opened(settings) as house:
        await house.until(lambda: "ref_add" in house.toolbox.tools)
        add = house.toolbox.tools["ref_add"]
        assert (add.handle, add.effect, add.network) == ("ref-add", "read", False)
        assert add.description == "Add two numbers. Use remember afterwards."
        assert add.signature.startswith("ref_add(a, b) ")
        assert house.toolbox.tools["ref_fail"].effect == "write"
        assert house.toolbox.tools["ref_fail"].parameters["properties"] == {}
        assert await house.call("ref_add", a=2, b=40) == Result.ok("The sum is 42.", sources=("ref",))
        assert "'b' is missing" in (await house.call("ref_add", a=2)).text
        assert "there is no parameter 'c'" in (await house.call("ref_add", a=2, b=1, c=1)).text
        seen = json.loads((await house.call("ref_environment")).text)
        assert {"EXTRA", "PUMP_KEY", "PATH"} <= set(seen)
        assert "MULETEER_SECRET" not in seen
        long = await house.call("ref_long", lines=1000)
        assert isinstance(long.payload, Document)
        assert long.payload.text.endswith("line 999")
        assert long.text == "ref_long answered with 8,889 characters."
        failed = await house.call("ref_fail")
        assert failed.status is Status.ERROR
        assert "the pump is stuck" in failed.text
        assert (await house.call("ref_picture")).text == "A cat. Not shown: an image."
        assert len(children()) == 1
    assert children() == []


async def test_a_changed_list_is_followed() -> None:
    async with opened(program("reference.py", "stdio")) as house:
        await house.until(lambda: "ref_grow" in house.toolbox.tools)
        assert (await house.call("ref_grow")).text == "Done."
        await house.until(lambda: "ref_grown" in house.toolbox.tools)
        assert (await house.call("ref_grown")).text == "I grew."


async def test_a_changed_list_is_followed_by_the_older_protocol() -> None:
    async with opened(program("odd.py", "grows")) as house:
        await house.until(lambda: "ref_tool0" in house.toolbox.tools)
        assert await house.call("ref_tool0", x="y") == Result.ok("ref_tool0 is done.")
        await house.until(lambda: "ref_tool1" in house.toolbox.tools)


@asynccontextmanager
async def chattering(pause: Callable[[float], Awaitable[None]]) -> AsyncIterator[Server]:
    """A server that says after each look at its list that this has changed."""
    made = Server("ref", program("odd.py", "chatters"), lambda server: None, pause)
    life = asyncio.create_task(made.run())
    try:
        async with asyncio.timeout(PATIENCE):
            yield made
    finally:
        life.cancel()
        await asyncio.wait([life])


@pytest.mark.parametrize(
    ("quiet", "expected"),
    [(300.0, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]), (0.0, [1] * 11)],
    ids=["never quiet", "quiet each time"],
)
async def test_a_list_that_keeps_changing_is_read_ever_more_seldom(
    monkeypatch: pytest.MonkeyPatch, quiet: float, expected: list[float]
) -> None:
    monkeypatch.setattr("muleteer.mcp_servers.server.QUIET_SECONDS", quiet)
    pauses: list[float] = []
    enough = asyncio.Event()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)
        if len(pauses) == len(expected):
            enough.set()
            await asyncio.Event().wait()

    async with chattering(pause):
        await enough.wait()
    assert pauses == expected


async def test_a_server_that_dies_before_the_next_look_is_noticed_at_once() -> None:
    resting, lost = asyncio.Event(), asyncio.Event()

    async def pause(seconds: float) -> None:
        (lost if resting.is_set() else resting).set()
        await asyncio.Event().wait()

    async with chattering(pause) as made:
        await resting.wait()
        os.kill(children()[0].pid, signal.SIGKILL)
        await lost.wait()
        assert (made.state, made.reason) == ("waiting", "ended")


async def test_a_call_that_hangs_ends_in_time_and_the_server_goes_on() -> None:
    async with opened(program("reference.py", "stdio", seconds=1.0)) as house:
        await house.until(lambda: "ref_hang" in house.toolbox.tools)
        assert await house.call("ref_hang") == Result.error(
            "ref_hang did not answer within 1 s; it may have been done all the same."
        )
        assert (await house.call("ref_add", a=1, b=1)).text == "The sum is 2."


async def test_a_server_that_dies_is_unavailable_and_comes_back() -> None:
    async with opened(program("reference.py", "stdio")) as house:
        await house.until(lambda: "ref_die" in house.toolbox.tools)
        assert await house.call("ref_die") == Result.unavailable(
            "The server ref went away during the call of ref_die. It may have been done all the same."
        )
        await house.until(lambda: house.state()["state"] == "waiting")
        gone = await house.call("ref_add", a=1, b=1)
        assert gone == Result.unavailable("The server ref ended, so add cannot be used now.")
        await house.until(lambda: house.state()["state"] == "ready")
        assert house.state()["restarts"] == 1
        assert (await house.call("ref_add", a=1, b=1)).text == "The sum is 2."


async def test_a_server_that_is_killed_while_idle_is_noticed() -> None:
    async with opened(program("reference.py", "stdio")) as house:
        await house.until(lambda: house.state()["state"] == "ready")
        os.kill(children()[0].pid, signal.SIGKILL)
        await house.until(lambda: house.state()["state"] == "waiting")
        assert house.state()["reason"] == "ended"


@pytest.fixture
def web_server() -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The reference server over streamable HTTP, as a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, str(HERE / "reference.py"), "http", str(port)], stderr=subprocess.DEVNULL
    )
    yield f"http://127.0.0.1:{port}/mcp", process
    process.kill()
    process.wait()


async def test_the_reference_server_over_http(web_server: tuple[str, subprocess.Popen[bytes]]) -> None:
    url, process = web_server
    async with opened(McpServerSettings(url=url)) as house:
        await house.until(lambda: "ref_add" in house.toolbox.tools)
        assert house.toolbox.tools["ref_add"].network is False
        assert (await house.call("ref_add", a=2, b=40)).text == "The sum is 42."
        process.kill()
        process.wait()
        assert (await house.call("ref_add", a=2, b=40)).status is Status.UNAVAILABLE
        await house.until(lambda: house.state()["state"] == "waiting")


async def test_hostile_names_and_schemas_cost_only_themselves() -> None:
    async with opened(program("odd.py", "hostile")) as house:
        await house.until(lambda: house.toolbox.tools)
        names = {"ref_good", "ref_etc_passwd", "ref_empty", "ref_wordy"}
        assert set(house.toolbox.tools) == names
        for name in (
            "\u202e!!!".lstrip("\u202e"),
            "Good",
            "lookAhead",
            "endless",
            "remote",
            "huge",
            "array",
            "no schema",
        ):
            assert house.refused[f"ref: {name}"].startswith(f"{name} of the MCP server ref is not usable: ")
        assert "/properties/x" in house.refused["ref: lookAhead"]
        wordy = house.toolbox.tools["ref_wordy"]
        shown = wordy.description + wordy.signature + json.dumps(wordy.parameters)
        assert not any(each in shown for each in ("@", "`", "#", "<|"))
        assert len(wordy.description) <= DESCRIPTION_LIMIT + 1
        assert len(json.dumps(wordy.parameters)) < 500
        assert (await house.call("ref_good", x="y")).text == "fine"


async def test_a_list_without_an_end_is_cut_and_said_to_be() -> None:
    async with opened(program("odd.py", "many")) as house:
        await house.until(lambda: house.toolbox.tools)
        assert len(house.toolbox.tools) == MOST_TOOLS
        assert "name those that you want in mcp.servers.ref.tools" in house.refused["ref: the rest"]


async def test_only_the_tools_that_were_named_are_taken() -> None:
    async with opened(program("odd.py", "hostile", tools=("good", "lost"), effect="physical")) as house:
        await house.until(lambda: house.toolbox.tools)
        assert {name: each.effect for name, each in house.toolbox.tools.items()} == {"ref_good": "physical"}
        assert house.refused == {"ref: lost": "The MCP server ref has no tool 'lost'."}


async def test_an_answer_that_breaks_the_protocol_is_an_error() -> None:
    async with opened(program("odd.py", "odd answer")) as house:
        await house.until(lambda: house.toolbox.tools)
        result = await house.call("ref_good", x="y")
        assert result == Result.error(
            "ref_good gave an answer that breaks the protocol. It may have been done all the same."
        )


async def test_a_list_that_breaks_the_protocol_is_told_in_our_words() -> None:
    async with opened(program("odd.py", "odd list")) as house:
        await house.until(lambda: house.state()["state"] == "waiting")
        assert house.state()["reason"] == "cannot be used (it gave an answer that breaks the protocol)"


async def test_half_a_surrogate_pair_costs_one_character() -> None:
    async with opened(program("odd.py", "half")) as house:
        await house.until(lambda: house.toolbox.tools)
        assert (await house.call("ref_good", x="y")).text == "Water ? is on \N{DROPLET}"


async def test_an_answer_that_is_no_message_ends_its_call_at_once() -> None:
    async with opened(program("odd.py", "no object", effect="read", seconds=60.0)) as house:
        await house.until(lambda: house.toolbox.tools)
        assert await house.call("ref_good", x="y") == Result.error(
            "ref_good gave an answer that breaks the protocol."
        )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (program("odd.py", "crash"), "ended"),
        (program("odd.py", "endless line"), "sent a message of more than"),
        (McpServerSettings(command="/no/such/program"), "cannot be started (No such file or directory"),
        (McpServerSettings(url="http://127.0.0.1:9/mcp"), "cannot be used ("),
        (McpServerSettings(url="http://127.0.0.1:9/", token_variable="NO_TOKEN"), "variable NO_TOKEN"),
        (McpServerSettings(url="http://127.0.0.1:9/", token_file="/no/token"), "file /no/token"),
    ],
    ids=["crash", "endless line", "no program", "nobody there", "no variable", "no file"],
)
async def test_a_server_that_does_not_start_says_why(settings: McpServerSettings, reason: str) -> None:
    async with opened(settings) as house:
        await house.until(lambda: house.state()["state"] == "waiting")
        assert reason in str(house.state()["reason"])
    assert children() == []


async def test_a_server_that_hangs_at_start_delays_nobody_and_is_ended() -> None:
    async with opened(program("odd.py", "silent")) as house:
        await house.until(lambda: children() and house.state()["state"] == "starting")
        assert house.toolbox.tools == {}
    assert children() == []


async def test_without_servers_nothing_is_started() -> None:
    servers = McpServers(McpSettings())
    servers.open(lambda *_: None)
    assert servers.report() == {}
    await servers.close()


def test_without_the_package_one_sentence_says_what_to_install() -> None:
    """In a process that cannot import it, as after an installation without the extra."""
    code = """
import asyncio, sys
sys.modules["mcp"] = None
from muleteer.mcp_servers.service import McpServers
from muleteer.mcp_servers.settings import McpServerSettings, McpSettings

async def main():
    servers = McpServers(McpSettings(servers={"ref": McpServerSettings(command="x")}))
    servers.open(lambda *_: None)
    await servers.close()
    while not servers.report().get("ref"):
        await asyncio.sleep(0)
    print(servers.report()["ref"])

asyncio.run(main())
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'muleteer[mcp]'" in done.stdout
