"""Two machines of one household on one network, both with the same timer: each slot is run once."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import ExitStack

import pytest

from tests import lan
from tests.systemd.conftest import COMMAND, Boots, install, ready
from tests.systemd.machine import Machine
from tests.systemd.test_timers import OFTEN, entries

pytestmark = [
    pytest.mark.model("tiny"),
    pytest.mark.skipif(bool(lan.MISSING), reason=f"hosts on one machine: {lan.MISSING}"),
]

SLOTS = 3  # that are run; with luck alone both devices would rarely agree so often


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
            install(device)
        kitchen, cellar = devices
        code = json.loads(kitchen.said(COMMAND, "seat", "join", "--json"))["code"]
        cellar.run(COMMAND, "seat", "join", code)
        kitchen.until(
            lambda: sorted(str(seat(each)["drives"]) for each in devices) == ["False", "True"], "one"
        )
        for device in devices:
            device.until(lambda each=device: ready(each), "ready")  # type: ignore[misc]  # bound now
            device.run(COMMAND, "timers", "sync")
        kitchen.until(lambda: len(set(entries(kitchen, "often-look"))) >= SLOTS, "run")
        for device in devices:
            device.run("systemctl", "stop", "muleteer-turn@often-look.timer")
        cellar.until(lambda: _results(cellar) == _results(kitchen), "the same in both inboxes")
        slots = entries(kitchen, "often-look")
        assert max(Counter(slots).values()) == 1
        fired = [each.journal("--unit=muleteer-turn@often-look.service") for each in devices]
        assert all("Finished" in said for said in fired)
        assert any("elsewhere" in said for said in fired)


def _results(device: Machine) -> Counter[str]:
    return Counter(entries(device, "often-look"))
