"""Tool modules on disk: one bad tool disables itself alone."""

from __future__ import annotations

import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.test_toolbox import SERVICES, text_of

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


def write(folder: Path, name: str, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text)
    return path


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
