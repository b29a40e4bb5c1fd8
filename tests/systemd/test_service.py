"""The service under a real systemd, with a real model: its start, its life, its ends."""

from __future__ import annotations

import json
import re
import time

import pytest

from tests.systemd.conftest import CELSIUS, COMMAND, KEY, LETTER, ready
from tests.systemd.machine import Machine

pytestmark = pytest.mark.model("tiny")

DROP_INS = "/etc/systemd/system/muleteer.service.d"
HIGHEST_EXPOSURE = 1.5
QUESTION = "What time is it in Istanbul?"
LONG = "Tell me a long story about a mule that carries books through the mountains, in many words."
SKILL = """\
---
name: evening-look
description: Looks at the device every evening.
metadata:
  examples: ["How is the device this evening?"]
  run: all
---
1. Call @device-info.
"""


def status(service: Machine) -> dict[str, object]:
    found: dict[str, object] = json.loads(service.said(COMMAND, "status", "--json"))
    return found


def engine(service: Machine) -> int:
    """The engine's process; there is one when the daemon is ready."""
    part = status(service)["engine"]
    assert isinstance(part, dict)
    return int(part["pid"])


def called(service: Machine, tool: str, **arguments: object) -> str:
    """What a tool says that is called by hand."""
    said = service.said(COMMAND, "tools", "call", "--json", tool, json.dumps(arguments))
    result = json.loads(said)
    assert result["status"] == "ok", said
    return str(result["text"])


def test_a_turn_is_answered_for_a_member_of_the_group_and_for_nobody_else(service: Machine) -> None:
    asked = service.run(COMMAND, "ask", "--json", QUESTION, user="anna")
    assert json.loads(asked.stdout)["answer"]
    refused = service.run(COMMAND, "status", user="bert", check=False)
    assert (refused.returncode, "You may not connect" in refused.stderr) == (3, True)


def test_it_is_active_only_once_it_is_ready(service: Machine) -> None:
    journal = service.journal("--unit=muleteer.service", "--output=cat")
    assert journal.index("Ready.") < journal.index("Started muleteer.service")
    assert service.show("muleteer.service", "StatusText") == "ready"
    assert service.show("muleteer.service", "WatchdogUSec") == "3min"


def test_the_exposure_is_low(service: Machine) -> None:
    told = service.said("systemd-analyze", "security", "--no-pager", "muleteer.service")
    found = re.search(r"Overall exposure level for muleteer\.service: ([\d.]+)", told)
    assert found
    assert float(found[1]) <= HIGHEST_EXPOSURE


def test_what_tools_need_is_there_in_the_sandbox(service: Machine) -> None:
    assert "21.5" in called(service, "sensor", name="greenhouse")
    assert "chimney letter" in called(service, "find_file", words=LETTER.split()[1])
    told = called(service, "device_info")
    assert "Memory" in told
    assert f"{CELSIUS} °C" in told
    service.until(lambda: _sums(service), "the MCP server's tool there")  # it joins after the start
    (name,) = _sums(service)
    said = service.run(COMMAND, "tools", "call", "--json", "--yes", name, '{"a": 3, "b": 4}').stdout
    assert json.loads(said)["text"] == "The sum is 7."


def _sums(service: Machine) -> list[str]:
    """The tools of the MCP server."""
    tools = json.loads(service.said(COMMAND, "tools", "--json"))["tools"]
    return [each["name"] for each in tools if each["name"].startswith("sums")]


def test_nothing_else_is_there_in_the_sandbox(service: Machine) -> None:
    main = service.show("muleteer.service", "MainPID")
    inside = ("nsenter", f"--target={main}", "--mount", "--")
    assert service.run(*inside, "touch", "/etc/x", "/usr/x", "/srv/x", check=False).returncode != 0
    assert service.run(*inside, "ls", "/home/anna", check=False).returncode != 0
    status = service.said("cat", f"/proc/{main}/status")
    assert re.search(r"CapEff:\s+0+$", status, re.MULTILINE)
    assert re.search(r"Seccomp:\s+2$", status, re.MULTILINE)


def test_a_key_is_seen_by_the_daemon_alone(service: Machine) -> None:
    path = "/run/credentials/muleteer.service/keys_home"
    assert service.said("cat", path) == KEY
    assert service.run("cat", path, user="anna", check=False).returncode != 0


def test_a_stop_in_the_middle_of_a_turn_tells_its_client_and_who_asks_then_starts_it(
    service: Machine,
) -> None:
    client = service.start(COMMAND, "ask", LONG)
    service.until(lambda: _running(service), "a turn running")
    service.run("systemctl", "stop", "muleteer.service")
    said, _ = client.communicate(timeout=60)
    assert (client.returncode, "stopping" in said) == (4, True), said
    assert service.show("muleteer.service", "Result") == "success"
    assert service.show("muleteer.socket", "ActiveState") == "active"
    service.write(f"{DROP_INS}/start.conf", "[Service]\nTimeoutStartSec=10\n")
    service.run("systemctl", "daemon-reload")
    asked = service.run(COMMAND, "status", "--json", user="anna", check=False)
    assert json.loads(asked.stdout)["state"] in ("starting", "loading", "ready")
    _load_slowly(service)
    service.run("rm", f"{DROP_INS}/start.conf")
    service.run("systemctl", "daemon-reload")
    found = service.said("stat", "--format=%a %U %G", "/run/muleteer/muleteer.sock")
    assert found == "660 muleteer muleteer"


def _load_slowly(service: Machine) -> None:
    """A load that takes longer than systemd waits for a start, by then: it asks for more time."""
    limit = float(service.show("muleteer.service", "TimeoutStartUSec").removesuffix("s"))
    service.until(lambda: _loading(service), "loading")
    worker = str(engine(service))
    service.run("kill", "-STOP", worker)
    service.until(lambda: _starting_for(service) > limit + 1, "longer than the limit")
    assert service.show("muleteer.service", "ActiveState") == "activating"
    service.until(lambda: service.show("muleteer.service", "StatusText").startswith("loading"), "told")
    service.run("kill", "-CONT", worker)
    service.until(lambda: ready(service), "ready")
    assert service.show("muleteer.service", "ActiveState") == "active"


def _loading(service: Machine) -> bool:
    found = status(service)
    part = found["engine"]
    return found["state"] == "loading" and isinstance(part, dict) and bool(part["pid"])


def _starting_for(service: Machine) -> float:
    """Seconds since the start was asked for."""
    began = int(service.show("muleteer.service", "InactiveExitTimestampMonotonic"))
    return time.clock_gettime(time.CLOCK_MONOTONIC) - began / 1e6


def test_the_engine_is_killed_and_only_the_engine_comes_back(service: Machine) -> None:
    daemon, old = service.show("muleteer.service", "MainPID"), engine(service)
    service.run("kill", "-KILL", str(old))
    service.until(lambda: ready(service) and engine(service) != old, "ready again")
    assert service.show("muleteer.service", "MainPID") == daemon
    assert service.run(COMMAND, "ask", QUESTION).stdout


def test_the_daemon_is_killed_and_comes_back_behind_the_same_socket(service: Machine) -> None:
    old, inode = service.show("muleteer.service", "MainPID"), service.said("stat", "-c%i", "/run/muleteer")
    service.run("kill", "-KILL", old)
    asked = service.run(COMMAND, "ask", QUESTION, user="anna", check=False)  # in flight while it starts
    assert asked.returncode in (0, 4), asked.stderr  # answered, or told that the model loads
    service.until(lambda: ready(service), "ready again")
    assert service.show("muleteer.service", "MainPID") not in (old, "0")
    assert service.said("stat", "-c%i", "/run/muleteer") == inode


def _running(service: Machine) -> object:
    turns = status(service)["turns"]
    assert isinstance(turns, dict)
    return turns["running"]


def test_a_reload_takes_up_settings_and_skills_and_leaves_the_model(service: Machine) -> None:
    before = engine(service)
    service.write("/etc/muleteer/skills/evening-look/SKILL.md", SKILL)
    service.run("sh", "-c", "printf '[budgets]\\nseconds = 99.0\\n' >>/etc/muleteer/config.toml")
    service.run("sed", "-i", "s/^quiet = 0.0/&\\ntokens = 0/", "/etc/muleteer/config.toml")
    service.write("/srv/more/gutter letter.txt", "The gutters are cleaned on 2 April.")
    service.run(
        "sed", "-i", 's|^folders = .*|folders = ["/srv/papers", "/srv/more"]|', "/etc/muleteer/config.toml"
    )
    service.run("systemctl", "reload", "muleteer.service")
    assert "evening-look" in service.said(COMMAND, "skills")
    service.until(lambda: "gutter" in _found(service, "gutters"), "found in the new folder")
    told = service.journal("--unit=muleteer.service", "--lines=20")
    assert re.search("taken up: .*budgets.seconds.*; after a restart: nothing", told)
    skipped = service.said(COMMAND, "turn", "--now", "--json", "evening-look")
    assert "the 0 tokens of today" in json.loads(skipped)["reason"].lower()
    service.run("sed", "-i", "/^tokens = 0/d", "/etc/muleteer/config.toml")
    service.run("sed", "-i", "s/^seconds = 99.0/seconds = true/", "/etc/muleteer/config.toml")
    assert service.run("systemctl", "reload", "muleteer.service", check=False).returncode == 1
    assert "budgets.seconds" in service.journal("--unit=muleteer.service", "--lines=5")
    service.run("sed", "-i", "s/^seconds = true/seconds = 99.0/", "/etc/muleteer/config.toml")
    service.run("systemctl", "reload", "muleteer.service")
    assert (engine(service), status(service)["state"]) == (before, "ready")


def _found(service: Machine, words: str) -> str:
    return service.said(COMMAND, "tools", "call", "--json", "find_file", json.dumps({"words": words}))


def test_the_journal_has_a_turns_fields_and_nothing_that_was_said(service: Machine) -> None:
    turn = json.loads(service.said(COMMAND, "ask", "--json", "Is a zyzzyva an insect?"))["turn"]
    service.run("journalctl", "--sync")
    (line,) = service.said(COMMAND, "logs", "--json", "--turn", turn).splitlines()
    record = json.loads(line)
    assert record["MULETEER_TURN"] == turn
    assert int(record["MULETEER_TOKENS"]) > 0
    assert re.fullmatch("[0-9a-f]{32}", record["MULETEER_DEVICE"])
    assert "zyzzyva" not in service.journal()
    assert turn in service.said(COMMAND, "trace", turn)


def test_a_network_that_comes_later_is_used(service: Machine) -> None:
    """Until here there was none but the loopback."""
    assert ready(service)
    service.run("ip", "link", "add", "late0", "type", "veth", "peer", "name", "late1")
    service.run("ip", "address", "add", "10.99.0.1/24", "dev", "late0")
    service.run("ip", "link", "set", "late0", "up")
    service.run("ip", "link", "set", "late1", "up")
    service.run(COMMAND, "seat", "join")  # shows a code, for which it has to be found
    service.until(lambda: not json.loads(service.said(COMMAND, "seat", "--json"))["mdns"], "announced")


def test_the_doctor_finds_nothing_bad(service: Machine) -> None:
    found = json.loads(service.said(COMMAND, "doctor", "--json"))["findings"]
    assert {each["name"] for each in found} >= {"python", "model", "disk", "socket", "daemon", "seat"}
    service.run("systemctl", "start", "muleteer-health.service")
