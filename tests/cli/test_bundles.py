"""`muleteer skills export` and `import`: shown, checked, agreed to, and only then among one's own."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from muleteer import paths
from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

TEXT = """---
name: mine
description: About the hours.
metadata:
  examples: [an example that nobody else has]
  schedule: "07:00"
---
Ask @{mention}, then @current-time. Keep it with @remember.
"""


@pytest.fixture
def target() -> Path:
    return paths.config_dir() / "skills" / "mine"


def bundle(folder: Path, mention: str = "device-health", text: str = TEXT) -> str:
    path = folder / "mine.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("mine/SKILL.md", text.format(mention=mention))
        made.writestr("mine/tool.py", "raise SystemExit\n")
    return str(path)


def test_all_is_shown_before_it_is_asked_for(run: Run, tmp_path: Path, target: Path) -> None:
    done = run("skills", "import", bundle(tmp_path), stdin=b"n\n")
    assert done.code == 130
    assert not target.exists()
    for line in (
        "@mine: About the hours.",
        "mentions: @device-health, @current-time, @remember",
        "reaches: current_time, which only looks",
        "reaches: device_info, which only looks",
        "reaches: remember, which changes what is stored",
        "example: an example that nobody else has",
        "carried out: the model follows these steps",
        "budget: as every turn",
        "schedule: 07:00",
        "file: SKILL.md, ",
        "file: tool.py, 17 bytes (code: left behind)",
        "Ask @device-health, then @current-time.",
        "Not measured: tokens",
    ):
        assert line in done.out
    assert f"Put it into {target}, where the model follows these steps?" in done.err


@pytest.mark.parametrize("options", [("--yes",), ()])
def test_it_is_taken_in_after_a_yes_without_its_code(
    run: Run, tmp_path: Path, target: Path, options: tuple[str, ...]
) -> None:
    done = run("skills", "import", bundle(tmp_path), *options, stdin=b"y\n")
    assert done.code == 0, done.err
    assert [path.name for path in target.iterdir()] == ["SKILL.md"]
    again = run("skills", "import", bundle(tmp_path), "--yes")
    assert again.code == 1
    assert "is there already" in again.err


def test_problems_are_refused_unasked_and_shown(run: Run, tmp_path: Path, target: Path) -> None:
    done = run("skills", "import", bundle(tmp_path, "nowhere"), "--yes")
    assert done.code == 1
    assert "problem: it mentions @nowhere, which does not exist" in done.out
    assert "reaches: nowhere, which is not here" in done.out
    broken = run("skills", "import", bundle(tmp_path, text="no front matter"), stdin=b"y\n")
    assert broken.code == 1
    assert "problem: mine/SKILL.md must begin with a line '---'" in broken.out
    assert not target.exists()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("all", "code calls each of the tools, with what the steps give them"),
        ("first", "code calls one tool after the other until one succeeds, with what the steps give them"),
    ],
)
def test_who_carries_the_steps_out_is_said_as_it_is(
    run: Run, tmp_path: Path, target: Path, how: str, said: str
) -> None:
    text = TEXT.replace("metadata:\n", f"metadata:\n  run: {how}\n  budget: 1500\n")
    done = run("skills", "import", bundle(tmp_path, text=text), stdin=b"n\n")
    assert f"carried out: {said}\nbudget: 1,500 tokens\n" in done.out
    assert f"Put it into {target}, where {said}?" in done.err


@pytest.mark.parametrize("unseen", ["\U000e0041\U000e0042", "\u200b", "\u2060", "\u00ad", "\u3164", "\u202e"])
def test_what_nobody_sees_is_shown_and_refused(run: Run, tmp_path: Path, target: Path, unseen: str) -> None:
    done = run("skills", "import", bundle(tmp_path, text=TEXT.replace("Keep", f"Ke{unseen}ep")), stdin=b"y\n")
    assert done.code == 1
    assert f"the text after the YAML has the character {unseen[0]!a}, which cannot be shown" in done.out
    assert not target.exists()


def test_the_daemon_says_what_is_reached(
    run: Run, daemon: ScriptedDaemon, tmp_path: Path, target: Path
) -> None:
    daemon.replies["/v1/checks"] = obj({"measured": True, "reason": "", "skills": []})
    daemon.replies["/v1/tools"] = obj({"tools": [{"name": "switch", "effect": "physical"}]})
    daemon.replies["/v1/skills"] = obj({"skills": [{"name": "device-health", "tools": ["switch"]}]})
    done = run("skills", "import", bundle(tmp_path), "--yes")
    assert done.code == 0, done.err
    assert "reaches: switch, which acts on real devices" in done.out
    assert "Not measured" not in done.out


def test_a_skill_goes_out_and_comes_back(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("skills", "export", "device-health").out == "Written: device-health.zip\n"
    again = run("skills", "export", "device-health")
    assert again.code == 1
    assert "device-health.zip cannot be written: File exists." in again.err
    assert run("skills", "export", "device-health", "out/device-health").code == 0
    shipped = (paths.share_dir() / "skills/device-health/SKILL.md").read_bytes()
    assert (tmp_path / "out/device-health/SKILL.md").read_bytes() == shipped
    done = run("skills", "import", "device-health.zip", stdin=b"y\n")
    assert done.code == 0, done.err
    assert "replaces: " in done.out
    assert (paths.config_dir() / "skills/device-health/SKILL.md").read_bytes() == shipped
