"""Batteries of messages and handles: what is read, what is wrong with a line, which half it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.errors import ConfigError
from muleteer.evaluate.material import Material
from muleteer.evaluate.routing.cases import HALVES, foreign_lines, half_of, read_battery, shipped
from muleteer.harness.planner import REPLY

KNOWN = ("timer", "current-time")


def write(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "battery.tsv"
    file.write_text(text, encoding="utf-8")
    return file


def test_lines_are_messages_and_handles(tmp_path: Path) -> None:
    text = "# a remark\n\nten minutes\ttimer\nwhat time is it\t@current_time\tmore\nhello\treply\n"
    found = read_battery(write(tmp_path, text), KNOWN)
    assert [(line.number, line.message, line.handle) for line in found.lines] == [
        (3, "ten minutes", "timer"),
        (4, "what time is it", "current-time"),
        (5, "hello", REPLY),
    ]
    assert found.bad == ()


def test_bad_lines_are_named_with_their_number(tmp_path: Path) -> None:
    text = "ten minutes\ttimer\nno tab\n\ttimer\nx\tmoon\nten minutes\treply\ny\t\n"
    found = read_battery(write(tmp_path, text), KNOWN)
    assert len(found.lines) == 1
    assert found.bad == (
        "Line 2: it is not a message, a tab and a handle.",
        "Line 3: it is not a message, a tab and a handle.",
        "Line 4: there is no @moon among the skills and tools.",
        "Line 5: its message stands in line 1 already.",
        "Line 6: it is not a message, a tab and a handle.",
    )


def test_a_line_that_is_no_text_is_bad(tmp_path: Path) -> None:
    file = tmp_path / "battery.tsv"
    file.write_bytes(b"ten minutes\ttimer\n\xff\xfe\ttimer\n")
    assert read_battery(file, KNOWN).bad == ("Line 2: it is not UTF-8.",)


def test_a_file_without_a_good_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"has no line `message<TAB>handle`\. Line 1: there is no @moon"):
        read_battery(write(tmp_path, "x\tmoon\n"), KNOWN)
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_battery(tmp_path / "none.tsv", KNOWN)


def test_halves_hang_on_the_message_alone() -> None:
    halves = {half_of(f"message {number}") for number in range(40)}
    assert halves == set(HALVES)
    assert half_of("Timer") == half_of("timer")


def test_the_shipped_battery_has_every_handle_in_both_halves(tmp_path: Path) -> None:
    catalogue = Material.shipped(tmp_path).catalogue
    found = read_battery(shipped(), catalogue.handles)
    assert found.bad == ()
    assert len(found.lines) >= 300
    for half in HALVES:
        handles = {line.handle for line in found.lines if line.half == half}
        assert handles == {*(line.handle for line in catalogue.menu()), REPLY}


def test_no_message_of_the_shipped_battery_is_an_example(tmp_path: Path) -> None:
    """Else a figure would say how well the model copies."""
    catalogue = Material.shipped(tmp_path).catalogue
    examples = {said.casefold() for line in catalogue.menu() for said in line.examples}
    found = read_battery(shipped(), catalogue.handles)
    assert not [line.message for line in found.lines if line.message.casefold() in examples]


def test_foreign_lines_are_nobodys(tmp_path: Path) -> None:
    handles = [line.handle for line in foreign_lines()]
    assert len(handles) == len(set(handles)) == 20
    assert not set(handles) & set(Material.shipped(tmp_path).catalogue.handles)
