from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.engine import models
from muleteer.engine.protocol import LoadSettings
from muleteer.errors import ConfigError
from muleteer.evaluate.batteries import sweep
from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.running import order
from muleteer.evaluate.batteries.sweep import IN_FORCE, Sweep, ranking
from muleteer.evaluate.rig import opened
from muleteer.evaluate.routing.cases import half_of


def test_the_halves_of_the_shipped_battery_are_apart() -> None:
    one, other = (sweep.read_routing(None, half) for half in ("development", "report"))
    assert min(len(one), len(other)) > 100
    assert not set(one) & set(other)
    assert len(sweep.read_routing(None)) == len(one) + len(other)


def test_a_line_that_is_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "b.tsv"
    file.write_text("hello\treply\nno handle\n")
    with pytest.raises(ConfigError, match=r"b\.tsv cannot be used\. Line 2: it is not a message"):
        sweep.read_routing(file)
    halves = {half_of(message): message for message in map(str, range(20))}
    file.write_text(f"{halves['report']}\treply\n")
    with pytest.raises(ConfigError, match="no case in its half 'development'"):
        sweep.read_routing(file, "development")


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


def test_the_one_in_force_always_takes_part() -> None:
    battery = Sweep({"a": "A\n$menu", "b": "B\n$menu"}, [("hello", "reply")])
    assert list(battery.sides) == [IN_FORCE, "a", "b"]
    battery.only(["b"])
    assert list(battery.sides) == [IN_FORCE, "b"]
    with pytest.raises(ConfigError, match="no variant 'c'; there are in force, a, b"):
        battery.only(["c"])


def test_variants_are_ranked_by_what_they_gain_message_by_message() -> None:
    shares = {IN_FORCE: (0.5, 0.5), "better": (0.9, 0.6), "worse": (0.5, 0.0)}
    attempts = [
        Tried(f"case {number}", "g", side, True, "", extra={"share": share})
        for side, both in shares.items()
        for number, share in enumerate(both)
    ]
    _, _, *lines = ranking(attempts).splitlines()
    assert [line.split("|")[1].strip() for line in lines] == ["better", IN_FORCE, "worse"]
    assert "| +0.000 | +0.000 to +0.000 |" in lines[1]
    assert "| better | 2 | -0.308 | +0.385 |" in lines[0]


@pytest.mark.model("tiny")
async def test_a_variant_is_asked_in_its_own_words() -> None:
    battery = Sweep({"a": "Only $menu"}, [("what time is it", "current-time")], bare=True)
    said: list[str] = []
    async with opened(models.resolve("tiny"), LoadSettings(context=4096)) as engine:
        for case, side in order(battery):
            answered, (level,) = await battery.answer(engine, case, side)
            said.append(f"{level.prompt}")
            assert 0 <= answered.extra["share"] <= 1
    assert len(set(said)) == 2  # the two prompts differ in length
