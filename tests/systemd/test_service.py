"""The service under a real systemd, with a real model."""

from __future__ import annotations

import json
import re

import pytest

from tests.systemd.conftest import COMMAND
from tests.systemd.machine import Machine

pytestmark = pytest.mark.model("tiny")

HIGHEST_EXPOSURE = 1.5


def test_a_turn_is_answered_for_a_member_of_the_group_and_for_nobody_else(service: Machine) -> None:
    asked = service.run(COMMAND, "ask", "--json", "What is 3 + 4?", user="anna")
    assert json.loads(asked.stdout)["answer"]
    refused = service.run(COMMAND, "status", user="bert", check=False)
    assert (refused.returncode, "You may not connect" in refused.stderr) == (3, True)


def test_it_is_active_only_once_it_is_ready(service: Machine) -> None:
    journal = service.journal("--unit=muleteer.service", "--output=cat")
    assert journal.index("Ready.") < journal.index("Started muleteer.service")
    assert service.show("muleteer.service", "StatusText") == "ready"
    assert service.show("muleteer.service", "WatchdogUSec") == "3min"


def test_the_exposure_is_low(service: Machine) -> None:
    told = service.run("systemd-analyze", "security", "--no-pager", "muleteer.service").stdout
    found = re.search(r"Overall exposure level for muleteer\.service: ([\d.]+)", told)
    assert found
    assert float(found[1]) <= HIGHEST_EXPOSURE
