"""The runner with a real engine: what is killed goes on, and both sides take turns."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner

from muleteer.cli import main
from muleteer.engine import models
from muleteer.engine.client import Engine
from muleteer.errors import EngineError, RequestError
from muleteer.evaluate.batteries import running
from muleteer.evaluate.batteries.battery import Answered, Case
from muleteer.harness.events import LevelUse

LEVEL = LevelUse("choice", 10, 4, 6, 2, 1.0)


class Counting:
    """Answers without asking the engine; ends at attempt number `dies`."""

    name, digest, context, together = "counting", "1", 512, False
    sides = ("harness", "flat")
    cases = tuple(Case(f"case {number}", "all") for number in range(3))

    def __init__(self, dies: int = 100) -> None:
        self.dies = dies
        self.asked: list[tuple[str, str]] = []

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        pass

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        if len(self.asked) == self.dies:
            raise EngineError("The engine is gone.")
        self.asked.append((case.id, side))
        if case.id == "case 1" and side == "flat":
            raise RequestError("Too many tools.")
        return Answered(True, side), [LEVEL]


def test_which_side_goes_first_alternates_and_a_sweep_keeps_sides_together() -> None:
    battery = Counting()
    said = [(case.id[-1], side[0]) for case, side in running.order(battery)]
    assert said == [("0", "h"), ("0", "f"), ("1", "f"), ("1", "h"), ("2", "h"), ("2", "f")]
    battery.together = True
    assert [side for _, side in running.order(battery)] == ["harness"] * 3 + ["flat"] * 3


@pytest.mark.model("tiny")
async def test_a_run_that_ended_early_goes_on_where_it_was(tmp_path: Path) -> None:
    model = models.resolve("tiny")
    said: list[str] = []
    broken, rest = Counting(dies=4), Counting()
    with pytest.raises(EngineError, match="gone"):
        await running.run(broken, model, tmp_path, "cmd", said.append, lambda found: None)
    conditions, attempts = await running.run(rest, model, tmp_path, "cmd", said.append, lambda found: None)
    assert broken.asked + rest.asked == [(case.id, side) for case, side in running.order(rest)]
    assert len(rest.asked) == 2
    assert [one.right for one in attempts] == [True, True, False, True, True, True]
    assert attempts[2].why == "Too many tools."
    assert (attempts[0].decoded, attempts[0].generated, attempts[0].reused) == (6, 2, 4)
    assert conditions.model_digest.startswith("b179c9523d0e6a0f")
    assert any("minutes left" in sentence for sentence in said)
    other = Counting()
    other.digest = "2"
    await running.run(other, model, tmp_path, "cmd", said.append, lambda found: None)
    assert len(other.asked) == 6  # other cases never find these results


@pytest.mark.model("tiny")
def test_a_battery_runs_from_the_command_and_writes_its_report(tmp_path: Path) -> None:
    command = ["evaluate", "crafting", "--model", "tiny", "--most", "2", "--journal", str(tmp_path / "j")]
    files = ["--json", str(tmp_path / "r.json"), "--markdown", str(tmp_path / "r.md")]
    done = CliRunner().invoke(main, [*command, *files])
    assert done.exit_code == 0, done.output
    assert "SHA-256 b179c9523d" in done.output
    text = (tmp_path / "r.md").read_text()
    assert "| all | harness | 2 |" in text
    assert "| all | flat | 2 |" in text
    assert '"differences"' in (tmp_path / "r.json").read_text()


def test_a_side_that_there_is_not_and_a_folder_that_there_is_not_are_refused(tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["evaluate", "crafting", "--side", "best"])
    assert done.exit_code == 2
    assert "there are harness and flat" in done.output
    done = CliRunner().invoke(main, ["evaluate", "crafting", "--json", str(tmp_path / "no" / "r.json")])
    assert done.exit_code != 0
    assert "make it first" in done.output
