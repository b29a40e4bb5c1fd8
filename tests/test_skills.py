"""SKILL.md bundles, what mentions what, and the catalogue that the planner sees."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muleteer.errors import SkillError
from muleteer.skills import load_catalogue, mentions, read_skill
from muleteer.tool import Note, Result, Services, tool
from muleteer.toolbox import Toolbox


class Pad:
    """The simplest notebook."""

    async def add(self, text: str, page: str = "") -> Note:
        return Note(text, datetime.now(UTC))

    async def search(self, query: str, limit: int = 8) -> list[Note]:
        return []


@tool(effect="read", examples=("is it day",))
def clock() -> Result:
    """Tell the time."""
    return Result.ok("")


@tool(effect="read", menu=False)
def check_notebook() -> Result:
    """Search notes."""
    return Result.ok("")


@tool(effect="read", hidden=True)
def list_ports() -> Result:
    """List ports."""
    return Result.ok("")


@tool(effect="read")
def broken(x: int) -> Result:
    """Its parameter is not described, so it is disabled."""
    return Result.ok("")


@pytest.fixture
def toolbox() -> Toolbox:
    return Toolbox.of([list_ports, clock, check_notebook, broken], Services(Pad()))


def skill(folder: Path, name: str, steps: str, front: str = "") -> Path:
    """Write a skill; `front` replaces its front matter."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    front = front or f"name: {name}\ndescription: Do {name}."
    path.write_text(f"---\n{front}\n---\n{steps}\n")
    return path


FULL = """name: look-up
description: Look it up.
license: MIT
metadata:
  examples:
    - where is the key
    - was weißt du über Tom
  schedule: "*-*-* 07:00"
  budget: 900
  version: "1"
"""


def test_everything_in_a_file_is_read(tmp_path: Path) -> None:
    path = skill(tmp_path, "look-up", "1. Ask @check-notebook.\n2. Ask @clock, then @check-notebook.", FULL)
    made = read_skill(path)
    assert (made.name, made.description) == ("look-up", "Look it up.")
    assert made.steps == "1. Ask @check-notebook.\n2. Ask @clock, then @check-notebook."
    assert made.examples == ("where is the key", "was weißt du über Tom")
    assert made.mentions == ("check-notebook", "clock")
    assert (made.schedule, made.budget, made.path) == ("*-*-* 07:00", 900, path)


def test_windows_line_ends_and_a_byte_order_mark_do_not_matter(tmp_path: Path) -> None:
    path = skill(tmp_path, "look-up", "Ask @clock.")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_skill(path).steps == "Ask @clock."


@pytest.mark.parametrize(
    ("front", "reason"),
    [
        ("name: other\ndescription: x", "name is 'other' but the folder is 'thing'"),
        ("description: x", "name must be text on one line"),
        ("name: thing", "description must be text on one line"),
        ("name: thing\ndescription: |\n  a\n  b", "description must be text on one line"),
        ("name: thing\ndescription: x\nexample: y", "unknown key 'example'; did you mean"),
        ("name: thing\ndescriptoin: x", "unknown key 'descriptoin'; did you mean description?"),
        (
            "name: thing\ndescription: x\nmetadata:\n  exampels: []",
            "'metadata.exampels'; did you mean examples?",
        ),
        ("name: thing\ndescription: x\nmetadata: text", "metadata must hold keys"),
        ("name: thing\ndescription: x\nmetadata:\n  examples: text", "must be a list of sentences"),
        ("name: thing\ndescription: x\nmetadata:\n  examples: [7]", "metadata.examples must be text"),
        ("name: thing\ndescription: x\nmetadata:\n  budget: many", "budget must be a whole number of tokens"),
        ("name: thing\ndescription: x\nmetadata:\n  budget: true", "budget must be a whole number of tokens"),
        ("name: thing\ndescription: x\nmetadata:\n  private: 1", "metadata.private must be true or false"),
        ("name: thing\ndescription: x\nmetadata:\n  schedule: 7", "metadata.schedule must be text"),
        ('name: thing\ndescription: "x \\ud800 y"', r"description has the character '\ud800', which cannot"),
        ('name: thing\ndescription: "\\e[31m red"', r"description has the character '\x1b'"),
        ('name: thing\ndescription: "a\\u200bb"', r"description has the character '\u200b', which cannot"),
        (
            'name: thing\ndescription: x\nmetadata: {examples: ["a\\U000e0041"]}',
            r"metadata.examples has the character '\U000e0041'",
        ),
        ('name: thing\ndescription: "one\\u2028two"', "description must be text on one line"),
        (f"name: thing\ndescription: {'x' * 601}", "description has 601 characters; at most 600 fit"),
        (
            f"name: thing\ndescription: x\nmetadata:\n  examples: [{'x' * 121}]",
            "metadata.examples has 121 characters; at most 120 fit",
        ),
        (f"name: {'x' * 65}\ndescription: x", "name has 65 characters; at most 64 fit"),
        ('name: thing\ndescription: x\n"\\ud800": y', r"unknown key '\ud800'"),
        ("name: [", "no valid YAML"),
        ("name: 2026-99-99", "no valid YAML"),
        ("- a list", "no 'name: ...'"),
        ("[" * 1_000, "no valid YAML"),
    ],
)
def test_a_bad_front_matter_is_named(tmp_path: Path, front: str, reason: str) -> None:
    path = skill(tmp_path, "thing", "Ask @clock.", front)
    with pytest.raises(SkillError) as caught:
        read_skill(path)
    assert reason in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["Thing", "a_b", "-a", "a--b", "reply", "call-tool"])
def test_a_name_must_be_a_handle(tmp_path: Path, name: str) -> None:
    path = skill(tmp_path, name, "Ask @clock.")
    with pytest.raises(SkillError, match="cannot be a skill's name"):
        read_skill(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no front matter", "must begin with a line '---'"),
        (b"---\nname: thing\ndescription: x\n", "must begin with a line '---'"),
        (b"---\nname: thing\ndescription: x\n---\n \n", "no steps"),
        (b"---\nname: \xff\n---\n", "not UTF-8 text"),
        (b"---\nname: thing\ndescription: x\n---\nAsk\x00 @clock", r"the text after .* character '.x00'"),
        (b"-" * 70_000, "larger than 32,768 bytes"),
    ],
)
def test_a_bad_file_is_named(tmp_path: Path, content: bytes, reason: str) -> None:
    path = skill(tmp_path, "thing", "x")
    path.write_bytes(content)
    with pytest.raises(SkillError, match=reason):
        read_skill(path)


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("Ask @clock. Then (@check-notebook), **@x1**!", ("clock", "check-notebook", "x1")),
        ("@clock\n@clock", ("clock",)),
        ("Write to ann@clock.org or tom@clock", ()),
        ("Install @types/node, see @example.com", ()),
        ("Type `@clock` or ``a ` @clock``; then @other", ("other",)),
        ("```\n@clock\n```\n@other\n~~~ text\n@clock\n~~~\n", ("other",)),
        ("```\n@clock is never closed", ()),
        ("a ` lone tick and @clock\n\nanother ` one", ("clock",)),
        ("@Check_Notebook", ("Check_Notebook",)),
        ("an @ alone, @-x and @@clock", ()),
    ],
)
def test_mentions_are_handles_outside_code_and_addresses(steps: str, found: tuple[str, ...]) -> None:
    assert mentions(steps) == found


def test_the_menu_is_skills_then_tools_in_stable_order(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "zebra", "Ask @clock.")
    skill(tmp_path, "look-up", "Ask @check-notebook.", FULL)
    catalogue = load_catalogue([tmp_path, tmp_path / "missing"], toolbox)
    assert catalogue.disabled == {}
    assert [line.handle for line in catalogue.menu()] == ["look-up", "zebra", "clock"]
    assert catalogue.menu()[0].examples == ("where is the key", "was weißt du über Tom")
    assert catalogue.menu()[2].description == "Tell the time."
    assert catalogue.handles == {"look-up", "zebra", "clock", "check-notebook", "list-ports"}
    assert catalogue.tool("check-notebook") is toolbox.tools["check_notebook"]
    assert catalogue.tool("check_notebook") is None
    assert catalogue.skill("clock") is None


def test_circles_are_walked_once_in_the_order_of_mention(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "one", "Ask @two, then @clock.")
    skill(tmp_path, "two", "Ask @check-notebook, then @one.")
    catalogue = load_catalogue([tmp_path], toolbox)
    assert catalogue.disabled == {}
    assert [made.name for made in catalogue.expand(["one"])] == ["check_notebook", "clock"]
    assert [made.name for made in catalogue.expand(["clock", "two", "nowhere"])] == [
        "clock",
        "check_notebook",
    ]


def test_an_unknown_mention_disables_that_skill_alone(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "bad", "Ask @check_notebok and @nowhere-near.")
    skill(tmp_path, "good", "Ask @clock.")
    catalogue = load_catalogue([tmp_path], toolbox)
    assert list(catalogue.skills) == ["good"]
    reason = catalogue.disabled["bad"]
    assert "@check_notebok (near: @check-notebook)" in reason
    assert "@nowhere-near" in reason


def test_a_skill_without_a_usable_tool_is_disabled_and_so_is_what_needs_it(
    tmp_path: Path, toolbox: Toolbox
) -> None:
    skill(tmp_path, "first", "Ask @broken.")
    skill(tmp_path, "second", "Do @first.")
    skill(tmp_path, "third", "Ask @broken and @clock.")
    skill(tmp_path, "words-only", "Be nice.")
    catalogue = load_catalogue([tmp_path], toolbox)
    assert list(catalogue.skills) == ["third"]
    assert set(catalogue.disabled) == {"first", "second", "words-only"}
    assert "leads to no usable tool" in catalogue.disabled["second"]


def test_a_clash_with_a_tool_names_both_files(tmp_path: Path) -> None:
    source = tmp_path / "tools" / "clock.py"
    source.parent.mkdir()
    source.write_text(
        'from muleteer.tool import Result, tool\n@tool(effect="read")\ndef clock() -> Result:\n'
        '    """Tell the time."""\n    return Result.ok("")\n'
    )
    path = skill(tmp_path / "skills", "clock", "Ask @clock.")
    catalogue = load_catalogue([tmp_path / "skills"], Toolbox.load([source.parent], Services(Pad())))
    assert catalogue.skills == {}
    assert str(path) in catalogue.disabled["clock"]
    assert str(source) in catalogue.disabled["clock"]
    assert catalogue.tool("clock") is not None


def test_what_can_be_shown_is_read_up_to_its_limit(tmp_path: Path) -> None:
    description = ("\u0915\u200d\U0001f469\u200d\U0001f467\u00a0Straße\u3000" * 100)[:599] + "!"
    front = f"name: thing\ndescription: '{description}'\nmetadata:\n  examples: [{'x' * 120}]"
    made = read_skill(skill(tmp_path, "thing", "Ask:\n\t- @clock", front))
    assert (made.description, made.examples) == (description, ("x" * 120,))
    assert made.steps == "Ask:\n\t- @clock"


def test_a_folder_whose_name_is_not_unicode_can_be_told(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "a\udcff", "Ask @clock.", "name: a\ndescription: x")
    skill(tmp_path, "good", "Ask @clock.")
    catalogue = load_catalogue([tmp_path], toolbox)
    assert list(catalogue.skills) == ["good"]
    assert list(catalogue.disabled) == ["a\\udcff"]
    assert "make them equal" in catalogue.disabled["a\\udcff"].encode().decode()


def test_a_fifo_disables_itself_alone(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "good", "Ask @clock.")
    (tmp_path / "bad").mkdir()
    os.mkfifo(tmp_path / "bad" / "SKILL.md")
    catalogue = load_catalogue([tmp_path], toolbox)
    assert list(catalogue.skills) == ["good"]
    assert "not a regular file" in catalogue.disabled["bad"]


def test_later_folders_override_by_name_even_when_broken(tmp_path: Path, toolbox: Toolbox) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    skill(first, "one", "Ask @clock.")
    skill(first, "two", "Ask @clock.")
    skill(second, "one", "Ask @check-notebook.")
    skill(second, "two", "Ask @clock.", "name: wrong")
    catalogue = load_catalogue([first, second], toolbox)
    assert catalogue.skills["one"].mentions == ("check-notebook",)
    assert str(second) in catalogue.disabled["two"]


def test_what_others_may_write_is_refused(tmp_path: Path, toolbox: Toolbox) -> None:
    open_folder, folder = tmp_path / "open", tmp_path / "skills"
    skill(open_folder, "one", "Ask @clock.")
    open_folder.chmod(0o777)
    skill(folder, "two", "Ask @clock.").parent.chmod(0o777)
    skill(folder, "three", "Ask @clock.").chmod(0o666)
    catalogue = load_catalogue([open_folder, folder], toolbox)
    assert catalogue.skills == {}
    assert set(catalogue.disabled) == {str(open_folder), "two", "three"}
    assert all("chmod go-w" in reason for reason in catalogue.disabled.values())


def test_disabling_a_tool_takes_the_skills_that_need_it(tmp_path: Path, toolbox: Toolbox) -> None:
    skill(tmp_path, "one", "Ask @check-notebook.")
    skill(tmp_path, "two", "Ask @check-notebook and @clock.")
    catalogue = load_catalogue([tmp_path], toolbox)
    catalogue.disable("check-notebook", "too long")
    assert list(catalogue.skills) == ["two"]
    assert toolbox.disabled["check_notebook"] == "too long"
    catalogue.disable("two", "too long as well")
    assert catalogue.skills == {}
    assert catalogue.disabled["two"] == "too long as well"


def test_private_is_a_yes_or_a_no_and_what_leads_to_it_is_private_too(
    tmp_path: Path, toolbox: Toolbox
) -> None:
    front = "name: diary\ndescription: x\nmetadata:\n  private: true"
    skill(tmp_path, "diary", "Ask @check-notebook.", front)
    skill(tmp_path, "brief", "Ask @news, then @clock.")
    skill(tmp_path, "news", "Ask @diary, then @brief.")
    skill(tmp_path, "hours", "Ask @clock.")
    assert load_catalogue([tmp_path], toolbox).private == {"diary", "brief", "news"}
