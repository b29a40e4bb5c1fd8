"""Every command in the README runs, in the README's order, and prints what the README says it does."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from muleteer.skills import load_catalogue
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Services
from muleteer.toolbox import Toolbox
from tests.conftest import Served

pytestmark = pytest.mark.model("standard")

ROOT = Path(__file__).parents[1]

# What each command's output must hold. `make test` is what runs this, `muleteer serve` is the fixture.
EXPECTED = {
    "make demo": r"What time is it in Istanbul[\s\S]*\d\d:\d\d[\s\S]*planner +\d+[\s\S]*stopped cleanly",
    "make test": "",
    "muleteer serve": "",
    'muleteer ask "What time is it in Istanbul?"': r"\d\d:\d\d",
    'muleteer ask --trace "How much is 18.5 percent of 249?"': r"46\.065[\s\S]*planner +\d+",
    'muleteer ask --json "Remember that the spare key is under the blue pot."': r'"status": "ok"',
    'echo "Where is the spare key?" | muleteer ask': r"blue pot",
    'muleteer ask --session trip "What time is it in Rome?"': r"Rome",
    "muleteer sessions": r"trip +1",
    "muleteer chat": r"\w",
    "muleteer status": r"ready[\s\S]*reused",
    "muleteer skills": r"@search-info +enabled",
    "muleteer tools": r"@current-time +enabled",
    'muleteer tools call calculator \'{"expression": "3 miles in km"}\'': r"ok .*= 4\.828032 km",
    'muleteer plan "Is the kitchen light on?"': r"Plan: +@sensor[\s\S]*not @switch: the message asks",
    "muleteer memory": r"Notes +\d[\s\S]*past turns?[\s\S]*kept for 365 days",
    'muleteer memory search "spare key"': r"n\d+[\s\S]*blue pot",
    "muleteer memory show --when today": r"t\d+[\s\S]*Istanbul",
    "muleteer memory export ~/notes": r"\d+ notes on \d+ pages are in ",
    "muleteer memory import ~/notes": r"0 notes were taken in; \d+ were there already\.",
    "muleteer memory forget --when today --yes": r"Forgotten: 0 notes and \d+ turns",
    "muleteer offline on": r"Tools may not use the network: offline mode is on \(mode on\)",
    "muleteer offline status": r"\(mode on\)",
    "muleteer offline auto": r"\(mode auto\)",
    "muleteer brains": r"local \* +this device",
    "muleteer model list": r"tiny[\s\S]*small[\s\S]*standard",
    "muleteer model pull standard": r"Already here: .*\.gguf",
    "muleteer model verify standard": r"is whole: SHA-256 cc324af070c2ecbfd324a30884d2f951",
    "muleteer model path standard": r"/.*\.gguf",
    "muleteer model use standard": r"config\.toml now says",
    "muleteer config show": r'model = "standard"  # from: .*config\.toml',
    "muleteer alarms": r"No timer or alarm is set",
    "muleteer seat join": r"within 5 minutes: muleteer seat join [0-9a-f]{4}-\d{6}",
    "muleteer seat": r"drives +this device[\s\S]*alone",
    "muleteer seat members": r"belongs to no household",
    "muleteer devices": r"No other device is announced|Nothing can be seen",
    "muleteer doctor": r"ok +daemon +ready",
    "muleteer install --user --dry-run": r"write .*/systemd/user/muleteer\.service",
    "muleteer inbox": r"Nothing new is in the inbox",
    "muleteer trace": r"^turn [0-9a-f]+, finished[\s\S]*tokens of prompt",
    "http://muleteer/v1/turns stream": r"event: turn\.started[\s\S]*391[\s\S]*event: turn\.finished",
    "http://muleteer/v1/turns object": r'"answer": ?"[^"]*391',
    "http://muleteer/v1/status": r'"state": ?"ready"',
    "http://muleteer/v1/skills": r"search-info",
    "http://muleteer/v1/tools": r"current_time",
    "http://muleteer/v1/timers": r'"timers":',
    "http://muleteer/healthz": r'"state": ?"ready"',
    "http://muleteer/openapi.json": r'"openapi":"3\.1\.0"[\s\S]*"/v1/turns/\{turn\}"',
    "http://muleteer/metrics": r'turns_total\{outcome="finished"\} [1-9][\s\S]*muleteer_reuse_ratio 0',
    "muleteer pair phone": r"Code: \d{3}-\d{3}, for 5 minutes[\s\S]*muleteer pair --with 127\.0\.0\.1:\d+",
    "muleteer tokens new home-assistant --scope chat": r"^mule_\S{43}\s*$",
    "muleteer tokens": r"home-assistant +chat +\d{4}-\d\d-\d\d \d\d:\d\d +never",
    "muleteer tokens revoke home-assistant": r"Revoked: home-assistant\.",
    "http://muleteer/v1/chat/completions": r'"content": ?"[^"]*391',
    "http://muleteer/api/chat": r'"content":"[^"]*391[\s\S]*"done_reason":"stop"',
    "muleteer tools disable device-info": r"@device-info is disabled\.",
    "muleteer tools enable device-info": r"@device-info is enabled\.",
    "muleteer skills rename daily-brief morning-news": r"@morning-news \(@daily-brief on disk\) is enabled\.",
    "muleteer skills rename morning-news daily-brief": r"@daily-brief is enabled\.",
}
TYPED = {"muleteer chat": "hello\n/quit\n"}
ELSEWHERE = ("make test", "muleteer serve")


def commands() -> list[str]:
    blocks = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def key(command: str) -> str:
    """How a command is called in `EXPECTED`: itself, or the address that curl asks."""
    if not command.startswith("curl"):
        return command
    address = re.search(r"http://\S+", command)
    assert address
    kind = (" object" if '"stream": false' in command else " stream") if "/turns" in address[0] else ""
    return address[0] + kind


def test_every_command_is_known_here() -> None:
    assert [key(command) for command in commands()] == list(EXPECTED)


@pytest.mark.parametrize("command", [c for c in commands() if c not in ELSEWHERE], ids=key)
def test_the_command_does_what_it_says(served: Served, command: str) -> None:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=ROOT,
        env=served.environment,
        input=TYPED.get(command, ""),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=900,
    )
    assert done.returncode == 0, done.stdout
    assert re.search(EXPECTED[key(command)], done.stdout), done.stdout


async def test_the_readme_tool_and_skill_load_and_run(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text()
    tool = re.search(r"```python\n(.*?)```", text, re.DOTALL)
    skill = re.search(r"```markdown\n(.*?)```", text, re.DOTALL)
    assert tool
    assert skill
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/roll_dice.py").write_text(tool[1])
    (tmp_path / "skills/good-night").mkdir(parents=True)
    (tmp_path / "skills/good-night/SKILL.md").write_text(skill[1])
    toolbox = Toolbox.load([ROOT / "tools", tmp_path / "tools"], Services(SqliteNotebook(tmp_path / "notes")))
    catalogue = load_catalogue([tmp_path / "skills"], toolbox)
    assert (toolbox.disabled, catalogue.disabled) == ({}, {})
    assert [each.name for each in catalogue.expand(["good-night"])] == ["current_time", "device_info"]
    outcome = await toolbox.call("roll_dice", {"count": 2})
    assert re.fullmatch(r"You rolled [1-6], [1-6]\.", outcome.result.text)


def test_the_tree_is_true() -> None:
    """Each path in the README's annotated tree exists, and each top-level entry is in it."""
    tree = re.search(r"```text\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert tree
    named = [line.split("  ")[0].strip() for line in tree[1].splitlines() if not line.startswith(" ")]
    paths = [path for entry in named for path in entry.split()]
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    top = {line.split("/")[0] for line in tracked.splitlines()} - {".gitignore"}
    assert top <= {path.split("/")[0] for path in paths}
    assert [path for path in paths if not (ROOT / path).exists()] == []
