"""Two machines of one household on one network, both with the same timer: each slot is run once. Then one
starts before its network does."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack

import pytest

from tests import lan
from tests.systemd.conftest import COMMAND, DAILY, SKILL, Boots, install, ready
from tests.systemd.machine import Machine
from tests.systemd.test_timers import PROMPT, entries

pytestmark = [
    pytest.mark.model("tiny"),
    pytest.mark.skipif(bool(lan.MISSING), reason=f"hosts on one machine: {lan.MISSING}"),
]

# Both timers fire in the same slot, with time for the slower one to ask for it.
OFTEN = SKILL.replace("morning-look", "often-look").replace(DAILY, "*:*:0/20")


def seat(device: Machine) -> dict[str, object]:
    found: dict[str, object] = json.loads(device.said(COMMAND, "seat", "--json"))
    return found


def test_one_timer_on_two_devices_is_one_run(boots: Boots) -> None:
    with lan.Lan(["kitchen", "cellar"]) as network, ExitStack() as stack:
        devices = [
            stack.enter_context(boots(network=host.namespace, name=host.name)) for host in network.hosts
        ]
        for device in devices:
            device.write("/etc/muleteer/skills/often-look/SKILL.md", OFTEN)
            device.write(PROMPT, "[Timer]\nAccuracySec=100ms\n")
            install(device, "--no-start")
            device.run("systemctl", "start", "--no-block", "muleteer.socket", "muleteer.service")
        for device in devices:
            device.until(lambda each=device: ready(each), "ready")  # type: ignore[misc]  # bound now
        kitchen, cellar = devices
        code = json.loads(kitchen.said(COMMAND, "seat", "join", "--json"))["code"]
        cellar.run(COMMAND, "seat", "join", code)
        kitchen.until(
            lambda: sorted(str(seat(each)["drives"]) for each in devices) == ["False", "True"], "one"
        )
        for device in devices:
            device.run(COMMAND, "timers", "sync")
        kitchen.until(lambda: all("Finished" in _fired(each) for each in devices), "fired on both")
        kitchen.until(lambda: any("elsewhere" in _fired(each) for each in devices), "told of the other's run")
        for device in devices:
            device.run("systemctl", "stop", "muleteer-turn@often-look.timer")
        cellar.until(lambda: _results(cellar) == _results(kitchen), "the same in both inboxes")
        assert max(_results(kitchen).values()) == 1
        _start_without_a_network(cellar)


def _start_without_a_network(device: Machine) -> None:
    """It starts all the same, and finds its household once there is one."""
    device.run("ip", "link", "set", "eth0", "down")
    device.run("systemctl", "restart", "muleteer.service")
    assert ready(device)
    assert _connected(device) == []
    device.run("ip", "link", "set", "eth0", "up")
    device.run("ip", "route", "add", "224.0.0.0/4", "dev", "eth0")
    device.until(lambda: _connected(device), "in its household again")


def _connected(device: Machine) -> list[object]:
    """The other members that it has a connection to."""
    members = json.loads(device.said(COMMAND, "seat", "--json"))["peers"]
    return [each for each in members if each["connected"]]


def _fired(device: Machine) -> str:
    """What the turns that its timer has started said."""
    return device.journal("--unit=muleteer-turn@often-look.service")


def _results(device: Machine) -> Counter[str]:
    return Counter(entries(device, "often-look"))
