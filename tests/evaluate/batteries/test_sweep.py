from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries import sweep
from muleteer.evaluate.batteries.sweep import IN_FORCE, Reworded, Sweep
from tests.harness.scripted import Choose, ScriptedBrain


def test_a_line_is_in_one_half_whatever_is_around_it(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    lines = [f"message {number}\tsensor" for number in range(50)]
    file.write_text("# a remark\n" + "\n".join(lines) + "\n\n")
    one, other = (sweep.read_routing(file, half) for half in ("development", "report"))
    assert len(one) + len(other) == 50
    assert len(one) > 10
    assert len(other) > 10
    assert not set(one) & set(other)
    file.write_text("\n".join(lines[25:]))
    assert set(sweep.read_routing(file, "development")) <= set(one)


def test_a_line_without_a_handle_is_named(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    file.write_text("hello\treply\nno handle\n")
    with pytest.raises(ConfigError, match=r"Line 2 of .* is not a message, a tab and a handle"):
        sweep.read_routing(file)
    file.write_text("# nothing\n")
    with pytest.raises(ConfigError, match="no case"):
        sweep.read_routing(file)


def test_the_shipped_variants_are_enough_and_each_has_its_menu() -> None:
    found = sweep.read_variants(sweep.shipped_variants())
    assert len(found) >= 28
    assert len(set(found.values())) == len(found)


def test_a_variant_without_a_menu_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no variant"):
        sweep.read_variants(tmp_path)
    (tmp_path / "bad.txt").write_text("no menu")
    with pytest.raises(ConfigError, match=r"bad needs exactly one placeholder, \$menu"):
        sweep.read_variants(tmp_path)


async def test_only_the_system_text_that_is_meant_is_another() -> None:
    brain = ScriptedBrain(Choose({"a": 1.0}), Choose({"a": 1.0}))
    lane = Reworded(brain, "old", "new")
    for text in ("old", "other"):
        await lane.choose(Conversation((Message("system", text), Message("user", "old"))), ["@a"])
    assert [prompt.messages[0].content for prompt in brain.asked] == ["new", "other"]
    assert brain.asked[0].messages[1].content == "old"


def test_the_one_in_force_always_takes_part() -> None:
    battery = Sweep({"a": "A\n$menu", "b": "B\n$menu"}, [("hello", "reply")])
    assert list(battery.sides) == [IN_FORCE, "a", "b"]
    battery.only(["b"])
    assert list(battery.sides) == [IN_FORCE, "b"]
    with pytest.raises(ConfigError, match="no variant 'c'; there are in force, a, b"):
        battery.only(["c"])
