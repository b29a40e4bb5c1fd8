"""`muleteer skills check`: with a daemon, without one, and on folders that are not installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from muleteer import paths
from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

TEXT = """---
name: {name}
description: About it.
metadata:
  examples: [an example of {name}]
---
Ask @{mention}.
"""


def written(folder: Path, name: str, mention: str = "current-time") -> Path:
    (folder / name).mkdir(parents=True)
    (folder / name / "SKILL.md").write_text(TEXT.format(name=name, mention=mention))
    return folder / name


def test_the_daemon_is_asked_and_its_answer_is_shown(
    run: Run, daemon: ScriptedDaemon, tmp_path: Path
) -> None:
    problem = {"kind": "route", "text": 'the example "a" leads to @clock'}
    entry = {"name": "mine", "problems": [problem], "tokens": {"follower": 120}}
    daemon.replies["/v1/checks"] = obj({"measured": True, "reason": "", "skills": [entry]})
    folder = written(tmp_path / "elsewhere", "mine")
    done = run("skills", "check", str(folder))
    assert (done.code, done.err) == (1, "")
    assert done.out == '@mine: wrong (tokens: follower 120)\n  route: the example "a" leads to @clock\n'
    text = (folder / "SKILL.md").read_text()
    assert daemon.requests == [{"skills": [{"name": "mine", "text": text}]}]


def test_without_a_daemon_the_rest_is_checked(run: Run, tmp_path: Path) -> None:
    good, bad = written(tmp_path, "good"), written(tmp_path, "bad", "current-tme")
    done = run("skills", "check", str(good), str(bad / "SKILL.md"))
    assert done.code == 1
    assert "@good: sound\n@bad: wrong\n  handle: it mentions @current-tme" in done.out
    assert "near: @current-time" in done.out
    assert done.err.startswith("Not measured: tokens, and where the examples lead. No daemon answers")
    assert run("skills", "check", str(good)).code == 0


def test_a_name_is_looked_up_and_all_are_found(run: Run) -> None:
    written(paths.config_dir() / "skills", "mine")
    found = json.loads(run("skills", "check", "@mine", "--json").out)
    assert [(each["name"], each["problems"]) for each in found["skills"]] == [("mine", [])]
    names = [each["name"] for each in json.loads(run("skills", "check", "--json").out)["skills"]]
    assert {"mine", "search-info"} <= set(names)


@pytest.mark.parametrize("given", ["no-such", "../no/such"])
def test_what_is_not_there_is_said(run: Run, given: str) -> None:
    done = run("skills", "check", given)
    assert done.code == 2
    assert "neither a folder with a SKILL.md nor one by that name" in done.err


def test_a_wrong_form_is_a_problem_of_that_skill_alone(run: Run, tmp_path: Path) -> None:
    good, broken = written(tmp_path, "good"), written(tmp_path, "broken")
    (broken / "SKILL.md").write_text("nothing")
    found = json.loads(run("skills", "check", str(good), str(broken), "--json").out)
    kinds = {each["name"]: [one["kind"] for one in each["problems"]] for each in found["skills"]}
    assert kinds == {"good": [], "broken": ["form"]}


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="what reads schedules is not here: systemd")
def test_a_schedule_that_systemd_does_not_understand_is_a_problem(run: Run, tmp_path: Path) -> None:
    folder = written(tmp_path, "late")
    text = (folder / "SKILL.md").read_text()
    for schedule, problems in (("25:77", 1), ("07:00", 0)):
        told = text.replace("metadata:\n", f'metadata:\n  schedule: "{schedule}"\n')
        (folder / "SKILL.md").write_text(told)
        found = json.loads(run("skills", "check", str(folder), "--json").out)["skills"][0]["problems"]
        assert [each["kind"] for each in found] == ["schedule"] * problems
        assert all("not one that systemd understands" in each["text"] for each in found)


def test_the_model_is_not_asked_when_it_shall_not_be(
    run: Run, daemon: ScriptedDaemon, tmp_path: Path
) -> None:
    done = run("skills", "check", "--no-model", str(written(tmp_path, "good")))
    assert (done.code, done.out) == (0, "@good: sound\n")
    assert "The model was not asked." in done.err
    assert daemon.requests == []
