"""The port for clients under a real systemd: opened where the settings say so, and gone where they do not."""

from __future__ import annotations

import json

import pytest

from muleteer.systemd.installing import TCP
from tests.systemd.conftest import COMMAND, PYTHON, ready
from tests.systemd.machine import Machine

pytestmark = pytest.mark.model("tiny")

CONFIG = "/etc/muleteer/config.toml"
# The status of a reply at the port, or that nobody listens there.
ASK = """
import http.client
connection = http.client.HTTPConnection("127.0.0.1", 8765, timeout=60)
try:
    connection.request("GET", "/healthz")
    print(connection.getresponse().status)
except ConnectionRefusedError:
    print("refused")
"""


def asked(service: Machine) -> str:
    return service.said(PYTHON, "-c", ASK)


def test_the_port_outlives_a_restart_and_goes_with_the_settings(service: Machine) -> None:
    assert asked(service) == "refused"
    before = service.said("cat", CONFIG)
    service.write(CONFIG, f'{before}\n[gateway]\nlisten = "loopback"\n')
    service.run(COMMAND, "install")
    service.until(lambda: ready(service), "the daemon ready")
    assert service.show(TCP, "ActiveState") == "active"
    network = json.loads(service.said(COMMAND, "status", "--json"))["network"]
    assert (network["listen"], network["port"], network["problem"]) == ("loopback", 8765, "")
    assert asked(service) == "200"
    service.run("systemctl", "restart", "--no-block", "muleteer.service")
    assert asked(service) in ("200", "503")  # it has waited, and was not refused
    service.write(CONFIG, before + "\n")
    service.run("systemctl", "restart", "muleteer.service")
    found = json.loads(service.run(COMMAND, "doctor", "--json", check=False).stdout)["findings"]
    assert "systemd still holds the port" in next(each["said"] for each in found if each["name"] == "clients")
    service.run(COMMAND, "install")
    service.until(lambda: ready(service), "the daemon ready")
    assert asked(service) == "refused"
    assert service.run("test", "-e", f"/etc/systemd/system/{TCP}", check=False).returncode != 0
