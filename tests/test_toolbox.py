"""Tool modules on disk: one bad tool disables itself alone. Calls: one result, whatever the tool does."""

from __future__ import annotations

import asyncio
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from muleteer.tool import Effect, Note, Result, Services, Status, tool
from muleteer.toolbox import STUCK_LIMIT, Toolbox
from tests.waiting import join_new


class Pad:
    """The simplest notebook."""

    async def add(self, text: str, page: str = "") -> Note:
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


SERVICES = Services(Pad())


async def text_of(toolbox: Toolbox, name: str, **arguments: object) -> str:
    return (await toolbox.call(name, arguments)).result.text


@tool(effect="write")
async def keep(note: str, home: Services) -> Result:
    """Keep it.

    note: what
    """
    return Result.ok((await home.notebook.add(note)).text)


@tool(effect="read", network=True)
def fetch() -> Result:
    """Fetch it."""
    return Result.ok("fetched")


@tool(effect="read")
def fail() -> Result:
    """Fail."""
    raise KeyError("some\nkey")


@tool(effect="read")
async def refuse() -> Result:
    """Refuse."""
    raise ValueError("the moon is not up")


@tool(effect="read")
async def leave() -> Result:
    """End the program."""
    raise SystemExit(3)


@tool(effect="read")
def leave_thread() -> Result:
    """End the program from a thread."""
    sys.exit(3)


@tool(effect="read")
async def give_up() -> Result:
    """Cancel itself."""
    raise asyncio.CancelledError


@tool(effect="read")
async def mumble() -> Result:
    """Return something else."""
    return "text"  # type: ignore[return-value]  # that is the fault


@tool(effect="read", timeout=0.05)
async def dawdle() -> Result:
    """Never end."""
    await asyncio.Event().wait()
    return Result.ok("never")


async def test_services_are_lent_and_not_asked_for() -> None:
    toolbox = Toolbox.of([keep], SERVICES)
    assert list(toolbox.tools["keep"].parameters["properties"]) == ["note"]
    assert await text_of(toolbox, "keep", note="tea") == "tea"
    assert await text_of(toolbox, "keep", note="tea", home="x") == (
        "keep was not called: there is no parameter 'home'; the parameters are: note."
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("fail", "fail failed: KeyError: 'some\\nkey'."),
        ("refuse", "refuse failed: the moon is not up."),
        ("leave", "leave failed: it tried to end the program."),
        ("leave_thread", "leave_thread failed: it tried to end the program."),
        ("give_up", "give_up gave up before it had a result."),
        ("mumble", "mumble is broken: it returned str instead of a Result."),
        ("dawdle", "dawdle took longer than 0.05 s and was stopped."),
        (
            "nope",
            "unknown tool 'nope'. Available: dawdle, fail, give_up, leave, leave_thread, mumble, refuse",
        ),
    ],
)
async def test_a_tools_fault_is_its_result(name: str, text: str) -> None:
    toolbox = Toolbox.of([fail, refuse, leave, leave_thread, give_up, mumble, dawdle], SERVICES)
    outcome = await toolbox.call(name, {})
    assert outcome.result == Result.error(text)
    assert outcome.tool == name
    assert outcome.ms >= (50 if name == "dawdle" else 0)


class Switch:
    def __init__(self, why: str) -> None:
        self._why = why

    async def reason(self) -> str:
        return self._why


async def test_the_network_is_refused_while_offline() -> None:
    refused = await Toolbox.of([fetch], Services(Pad(), offline=Switch("It is night"))).call("fetch", {})
    assert refused.result == Result.unavailable("It is night, so fetch cannot use the network.")
    assert await text_of(Toolbox.of([fetch], Services(Pad(), offline=Switch(""))), "fetch") == "fetched"
    assert await text_of(Toolbox.of([fetch], SERVICES), "fetch") == (
        "No network is set up, so fetch cannot use the network."
    )


async def test_a_plain_function_runs_beside_the_loop() -> None:
    threads: list[threading.Thread] = []

    @tool(effect="read")
    def where() -> Result:
        """Tell the thread."""
        threads.append(threading.current_thread())
        return Result.ok("")

    await Toolbox.of([where], SERVICES).call("where", {})
    assert threads[0] is not threading.main_thread()
    assert threads[0].daemon  # so that a tool that hangs cannot hold up the end of the daemon


async def test_cancelling_the_caller_passes_through() -> None:
    loop, started = asyncio.get_running_loop(), asyncio.Event()

    @tool(effect="read")
    async def wait() -> Result:
        """Wait."""
        loop.call_soon_threadsafe(started.set)
        await asyncio.Event().wait()
        return Result.ok("never")

    call = asyncio.create_task(Toolbox.of([wait], SERVICES).call("wait", {}))
    await started.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call


@pytest.mark.parametrize("effect", ["write", "physical"])
async def test_nobody_knows_whether_a_write_was_stopped_in_time(effect: Effect) -> None:
    @tool(effect=effect, timeout=0.05)
    async def pour() -> Result:
        """Pour, and say nothing."""
        await asyncio.Event().wait()
        return Result.ok("never")

    assert await text_of(Toolbox.of([pour], SERVICES), "pour") == (
        "pour did not answer within 0.05 s; it may have been done all the same."
    )


async def test_threads_that_hang_do_not_pile_up() -> None:
    release, before = threading.Event(), threading.enumerate()

    @tool(effect="read", timeout=0.3)
    def hang() -> Result:
        """Hang until released."""
        release.wait()
        return Result.ok("done")

    toolbox = Toolbox.of([hang], SERVICES)
    for _ in range(STUCK_LIMIT):
        assert await text_of(toolbox, "hang") == "hang took longer than 0.3 s and was stopped."
    assert await text_of(toolbox, "hang") == f"hang is still stuck in {STUCK_LIMIT} earlier calls."
    release.set()
    join_new("tool hang", before)
    await asyncio.sleep(0)  # the threads have told the loop that they ended; let it hear
    assert await text_of(toolbox, "hang") == "done"


def test_a_tool_can_be_disabled_later() -> None:
    toolbox = Toolbox.of([fail, refuse], SERVICES)
    toolbox.disable("fail", "too long")
    assert list(toolbox.tools) == ["refuse"]
    assert toolbox.disabled == {"fail": "too long"}


@tool(effect="read")
async def look_up(home: Services) -> Result:
    """Look it up."""
    return Result.ok(str(len(await home.notebook.search("x"))))


@tool(effect="read")
async def look_up_well(home: Services) -> Result:
    """Look it up, and answer for what cannot be."""
    try:
        await home.notebook.search("x")
    except FileNotFoundError:
        return Result.empty("There is none.")
    return Result.ok("")


@tool(effect="read")
async def look_up_badly(home: Services) -> Result:
    """Look it up, and blame something else."""
    try:
        await home.notebook.search("x")
    except OSError as error:
        raise KeyError("mine") from error
    return Result.ok("")


@tool(effect="read")
def open_file() -> Result:
    """Open a file that is not there."""
    Path("/nowhere/at/all").read_text()
    return Result.ok("")


class Unreadable(Pad):
    """A notebook whose disk has gone."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        raise self.error


@pytest.mark.parametrize(
    ("error", "function", "result"),
    [
        (OSError("the notebook is damaged."), look_up, Result.unavailable("the notebook is damaged.")),
        (FileNotFoundError(2, "No such file"), look_up, Result.unavailable("[Errno 2] No such file.")),
        (TimeoutError("it took too long"), look_up, Result.unavailable("it took too long.")),
        (FileNotFoundError(2, "No such file"), look_up_well, Result.empty("There is none.")),
        (OSError("damaged"), look_up_badly, Result.error("look_up_badly failed: KeyError: 'mine'.")),
        (ValueError("not a word"), look_up, Result.error("look_up failed: not a word.")),
    ],
)
async def test_what_a_service_cannot_look_up_is_unavailable(
    error: Exception, function: Any, result: Result
) -> None:
    toolbox = Toolbox.of([function], Services(Unreadable(error)))
    for _ in range(2):  # the same exception again
        assert (await toolbox.call(function.__name__, {})).result == result


async def test_what_a_tool_cannot_open_itself_is_its_error() -> None:
    assert (await Toolbox.of([open_file], SERVICES).call("open_file", {})).result.status is Status.ERROR
