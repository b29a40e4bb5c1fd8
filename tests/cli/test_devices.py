"""`muleteer devices`, from the command line."""

from __future__ import annotations

import json

import pytest

from tests.cli.conftest import Run
from tests.cli.scripted_daemon import ScriptedDaemon, obj

ATTIC: dict[str, object] = {
    "id": "bbbb" * 8,
    "name": "attic",
    "role": "driver",
    "clients_port": 8765,
    "household_port": 7433,
    "addresses": ["10.0.0.5", "10.0.1.5"],
    "member": True,
}
VISITOR: dict[str, object] = {
    "id": "cccc" * 8,
    "name": "cccccccc",
    "role": "alone",
    "clients_port": None,
    "household_port": None,
    "addresses": [],
    "member": False,
}


def test_each_device_with_where_to_connect_and_whose_it_is(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/devices"] = obj({"devices": [ATTIC, VISITOR], "mdns": ""})
    rows = [" ".join(line.split()) for line in run("devices").out.splitlines()]
    assert rows[1:] == [
        "attic bbbbbbbb driver 10.0.0.5 port 8765 ours, port 7433",
        "- cccccccc alone no clients not ours",
    ]
    assert json.loads(run("devices", "--json").out)["devices"] == [ATTIC, VISITOR]


def test_none_because_there_is_none_or_because_nothing_can_be_seen(run: Run, daemon: ScriptedDaemon) -> None:
    daemon.replies["/v1/devices"] = obj({"devices": [], "mdns": ""})
    assert run("devices").out == "No other device is announced on this network.\n"
    daemon.replies["/v1/devices"] = obj({"devices": [], "mdns": "off by seat.mdns"})
    assert (
        run("devices").out
        == "Nothing can be seen of the network: mDNS does not work here, off by seat.mdns.\n"
    )


@pytest.mark.parametrize("body", [{}, {"devices": 5}, {"devices": [{}]}])
def test_an_answer_that_makes_no_sense_is_no_crash(run: Run, daemon: ScriptedDaemon, body: object) -> None:
    daemon.replies["/v1/devices"] = obj(body)
    assert run("devices").code == 0
