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

GOOD = '''
from muleteer.tool import Result, tool

@tool(effect="read", examples=("ping",))
def {name}(place: str, level: int = 1) -> Result:
    """Answer from {where}. Use it to try.

    place: where
    level: how far
    """
    return Result.ok(f"{where}, {{place}}, {{level}}")
'''


class Pad:
    """The simplest notebook."""

    async def add(self, text: str, page: str = "") -> Note:
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


SERVICES = Services(Pad())


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


async def text_of(toolbox: Toolbox, name: str, **arguments: object) -> str:
    return (await toolbox.call(name, arguments)).result.text


async def test_a_module_becomes_a_tool(tmp_path: Path) -> None:
    path = write(tmp_path / "tools", "good_one", GOOD.format(name="good_one", where="here"))
    before = list(sys.path)
    toolbox = Toolbox.load([tmp_path / "tools", tmp_path / "missing"], SERVICES)
    assert toolbox.disabled == {}
    made = toolbox.tools["good_one"]
    assert (made.handle, made.path, made.menu, made.effect) == ("good-one", str(path), True, "read")
    assert made.description == "Answer from here. Use it to try."
    assert made.signature == "good_one(place, [level]) — Answer from here."
    assert made.examples == ("ping",)
    assert await text_of(toolbox, "good_one", place="x") == "here, x, 1"
    assert sys.path == before
    assert [entry.name for entry in (tmp_path / "tools").iterdir()] == ["good_one.py"]  # no byte code


BROKEN = {
    "raises": ("1 / 0", "division by zero. (line 1)"),
    "syntax": ("def x(:", "invalid syntax"),
    "interrupts": ("raise KeyboardInterrupt", "KeyboardInterrupt. (line 1)"),
    "base": ("raise BaseException('no')", "BaseException: no. (line 1)"),
    "speechless": (
        "class E(Exception):\n    def __str__(self): raise KeyboardInterrupt\nraise E",
        "cannot be loaded: E. (line 3)",
    ),
    "annotated": (
        "class K(type):\n    def __get_pydantic_core_schema__(cls, *_): raise KeyboardInterrupt\n"
        "class A(metaclass=K):\n    pass\n" + GOOD.format(name="annotated", where="x").replace("str,", "A,"),
        "is not usable: KeyboardInterrupt.",
    ),
    "surrogate": (
        GOOD.format(name="surrogate", where="\\ud800"),
        "its docstring holds the character U+D800, which no prompt may hold.",
    ),
    "escape": (
        GOOD.format(name="escape", where="\\x1b[31m"),
        "its docstring holds the character U+001B, which no prompt may hold.",
    ),
    "chatty": (GOOD.format(name="chatty", where="x" * 600), "has 628 characters; at most 600 fit."),
    "exits": ("import sys; sys.exit(3)", "it tried to end the program"),
    "needs": ("import a_module_that_is_not_there", "No module named 'a_module_that_is_not_there'"),
    "nothing": ("x = 1", "holds no function marked with @tool"),
    "binary": ("x = '\0'", "null bytes"),
    "reply": (GOOD.format(name="reply", where="x"), "the name reply is reserved"),
    "odd__name": (GOOD.format(name="odd__name", where="x"), "made of a-z and 0-9"),
    "silent": (
        GOOD.format(name="silent", where="x").replace("level: how far", ""),
        "'level' is not described",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
async def test_a_broken_module_disables_itself_alone(tmp_path: Path, name: str) -> None:
    source, reason = BROKEN[name]
    write(tmp_path, name, source)
    write(tmp_path, "good", GOOD.format(name="good", where="here"))
    toolbox = Toolbox.load([tmp_path], SERVICES)
    assert list(toolbox.tools) == ["good"]
    assert list(toolbox.disabled) == [name]
    assert reason in toolbox.disabled[name]
    assert str(tmp_path / name) in toolbox.disabled[name]
    assert await text_of(toolbox, "good", place="x") == "here, x, 1"


def test_a_module_that_does_not_end_is_left_behind(tmp_path: Path) -> None:
    write(tmp_path, "endless", "import threading\nthreading.Event().wait()")
    write(tmp_path, "good", GOOD.format(name="good", where="here"))
    toolbox = Toolbox.load([tmp_path], SERVICES, seconds=0.5)
    assert list(toolbox.tools) == ["good"]
    assert toolbox.disabled == {"endless": f"{tmp_path / 'endless.py'} took longer than 0.5 s to load."}
    assert all(thread.daemon for thread in threading.enumerate() if thread.name == "load endless")


def test_a_module_is_named_in_the_log_before_it_is_loaded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = write(tmp_path, "good", GOOD.format(name="good", where="here"))
    with caplog.at_level("DEBUG", "muleteer.catalogue.loading"):
        Toolbox.load([tmp_path], SERVICES)
    assert f"Loading {path}" in caplog.messages


@pytest.mark.parametrize(
    ("declaration", "reason"),
    [
        ({"craft": "one\ntwo"}, ""),
        ({"craft": "one\x07two"}, "its craft holds the character U+0007, which no prompt may hold."),
        ({"signature": "one\ntwo"}, "its signature holds the character U+000A, which no prompt may hold."),
        ({"examples": ("fine", "\udfff")}, "its examples holds the character U+DFFF"),
        ({"examples": (5,)}, "its examples must be texts."),
        ({"craft": None}, "its craft must be a text."),
        ({"timeout": float("nan")}, "its timeout must be a number of seconds above zero."),
        ({"timeout": "2"}, "its timeout must be a number of seconds above zero."),
        ({"effect": "magic"}, "its effect must be one of read, write, physical."),
        ({"menu": "no"}, "its menu must be True or False."),
    ],
)
def test_a_declaration_is_checked(declaration: dict[str, Any], reason: str) -> None:
    def look() -> Result:
        """Look."""
        return Result.ok("")

    toolbox = Toolbox.of([tool(**{"effect": "read"} | declaration)(look)], SERVICES)
    assert reason in toolbox.disabled.get("look", "")
    assert list(toolbox.tools) == ([] if reason else ["look"])


async def test_a_later_folder_overrides_by_name(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, "thing", GOOD.format(name="thing", where="first"))
    write(second, "thing", GOOD.format(name="thing", where="second"))
    toolbox = Toolbox.load([first, second], SERVICES)
    assert await text_of(toolbox, "thing", place="x") == "second, x, 1"


def test_a_broken_override_does_not_bring_the_old_tool_back(tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    write(first, "thing", GOOD.format(name="thing", where="first"))
    write(second, "thing", "1 / 0")
    toolbox = Toolbox.load([first, second], SERVICES)
    assert toolbox.tools == {}
    assert str(second) in toolbox.disabled["thing"]


def test_two_files_of_one_folder_with_one_name_are_both_named(tmp_path: Path) -> None:
    one = write(tmp_path, "one", GOOD.format(name="same", where="one"))
    two = write(tmp_path, "two", GOOD.format(name="same", where="two"))
    toolbox = Toolbox.load([tmp_path], SERVICES)
    assert toolbox.tools["same"].path == str(one)
    assert str(one) in toolbox.disabled[str(two)]


def test_files_that_others_may_write_are_refused(tmp_path: Path) -> None:
    open_folder, folder = tmp_path / "open", tmp_path / "tools"
    write(open_folder, "hidden", GOOD.format(name="hidden", where="x"))
    open_folder.chmod(0o777)
    write(folder, "loose", GOOD.format(name="loose", where="x")).chmod(0o666)
    toolbox = Toolbox.load([open_folder, folder], SERVICES)
    assert toolbox.tools == {}
    assert "chmod go-w" in toolbox.disabled[str(open_folder)]
    assert "chmod go-w" in toolbox.disabled["loose"]


BAD_TYPES = {
    r"Annotated[str, Field(pattern=r'\bx')]": "at /properties/place cannot be enforced (pattern): ",
    r"list[Annotated[str, Field(pattern=r'\b')]]": "at /properties/place/items cannot be enforced (pattern)",
    "set[str]": "uses the unsupported keyword 'uniqueItems' at /properties/place.",
    "Annotated[int, Field(ge=7, le=5)]": "at /properties/place cannot be enforced (maximum): ",
}


@pytest.mark.parametrize("kind", BAD_TYPES)
async def test_a_type_that_cannot_be_decoded_disables_one_tool_by_name_pointer_and_keyword(
    tmp_path: Path, kind: str
) -> None:
    for i in range(20):
        write(tmp_path, f"tool{i}", GOOD.format(name=f"tool{i}", where="here"))
    empty = "from muleteer.tool import Result, tool\n@tool(effect='read')\ndef empty() -> Result:\n"
    write(tmp_path, "empty", f"{empty}    'Look.'\n    return Result.ok('there')\n")
    head = "from typing import Annotated\nfrom pydantic import Field\n"
    bad = head + GOOD.format(name="tool17", where="here").replace("place: str", f"place: {kind}")
    write(tmp_path, "tool17", bad)
    toolbox = Toolbox.load([tmp_path], SERVICES)
    assert set(toolbox.tools) == {"empty", *(f"tool{i}" for i in range(20) if i != 17)}
    assert list(toolbox.disabled) == ["tool17"]
    assert toolbox.disabled["tool17"].startswith(f"{tmp_path / 'tool17.py'} is not usable: ")
    assert BAD_TYPES[kind] in toolbox.disabled["tool17"]
    assert await text_of(toolbox, "empty") == "there"
    assert await text_of(toolbox, "tool3", place="x") == "here, x, 1"


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
