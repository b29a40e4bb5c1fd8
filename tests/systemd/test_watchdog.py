"""What only the watchdog ends: an event loop that stands still, a decode that nothing can end."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from tests.systemd.conftest import COMMAND, ready
from tests.systemd.machine import Machine
from tests.systemd.test_service import LONG, engine, status

pytestmark = pytest.mark.model("tiny")

# Long enough for one chunk of a prompt on a busy machine, and shorter than the daemon's own patience (60 s).
DROP_IN = "[Service]\nWatchdogSec=10\n"
# A regular expression that takes for ever holds Python's lock, and with it the event loop.
HANG = '''\
import re
from muleteer.tool import Result, tool


@tool(effect="read")
def hang() -> Result:
    """Hang."""
    re.match(r"(a+)+$", "a" * 64 + "b")
    return Result.ok("never")
'''


@pytest.fixture
def watched(service: Machine) -> Iterator[Machine]:
    """The service, watched more closely, until its next start."""
    path = "/etc/systemd/system/muleteer.service.d/watchdog.conf"
    service.write(path, DROP_IN)
    service.run("systemctl", "daemon-reload")
    service.run("systemctl", "restart", "muleteer.service")
    yield service
    service.run("rm", path)
    service.run("systemctl", "daemon-reload")


def test_a_loop_and_a_decode_that_hang_end_in_a_restart(watched: Machine) -> None:
    watched.write("/etc/muleteer/tools/hang.py", HANG)
    watched.run("systemctl", "reload", "muleteer.service")
    before = watched.show("muleteer.service", "MainPID")
    watched.run(COMMAND, "tools", "call", "hang", check=False)
    watched.until(lambda: _restarted(watched, before), "restarted")
    assert "Watchdog timeout" in watched.journal("--unit=muleteer.service")
    watched.run("rm", "/etc/muleteer/tools/hang.py")

    before = watched.show("muleteer.service", "MainPID")
    client = watched.start(COMMAND, "ask", LONG)
    watched.until(lambda: _decoding(watched), "decoding")
    watched.run("kill", "-STOP", str(engine(watched)))
    watched.until(lambda: _restarted(watched, before), "restarted")
    assert "the watchdog is fed no more" in watched.journal("--unit=muleteer.service")
    client.communicate(timeout=60)


def _restarted(watched: Machine, before: str) -> bool:
    return watched.show("muleteer.service", "MainPID") not in (before, "0") and ready(watched)


def _decoding(watched: Machine) -> bool:
    turns = status(watched)["turns"]
    return bool(json.loads(json.dumps(turns))["running"])
