"""Timers of skills: made from schedules, fired by systemd, each slot run once."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path

import pytest

from muleteer.background.schedule import own_delay
from tests.systemd.conftest import COMMAND, DAILY, SKILL, ready
from tests.systemd.machine import Machine

pytestmark = pytest.mark.model("tiny")

FAKETIME = f"/usr/lib/{os.uname().machine}-linux-gnu/faketime/libfaketime.so.1"
OFTEN = SKILL.replace("morning-look", "often-look").replace(DAILY, "*:*:*")  # each second
PROMPT = "/etc/systemd/system/muleteer-turn@often-look.timer.d/prompt.conf"  # not 15 s late
STARTS = 8  # in a row; five within ten seconds are systemd's own limit

# Clients of the socket that stay: event streams, as open pages have them.
CLIENTS = """\
import os, socket, sys, threading
clients = []
for _ in range(int(sys.argv[1])):
    client = socket.socket(socket.AF_UNIX)
    client.connect("/run/muleteer/muleteer.sock")
    client.sendall(b"GET /v1/events HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    assert b"200 OK" in client.recv(4096)
    clients.append(client)
print(os.getpid(), flush=True)
threading.Event().wait()
"""


def entries(service: Machine, skill: str) -> list[str]:
    """The slots in the inbox."""
    listed = json.loads(service.said(COMMAND, "inbox", "--all", "--json", "--keep", "--limit", "500"))
    return [each["slot"] for each in listed["entries"] if each["skill"] == skill]


def test_schedules_get_their_timers_and_a_second_sync_changes_nothing(service: Machine) -> None:
    said = service.said(COMMAND, "timers", "sync")
    assert f"added muleteer-turn@morning-look.timer: {DAILY}" in said
    assert service.said(COMMAND, "timers", "sync") == "Nothing has changed."
    assert service.show("muleteer-turn@morning-look.timer", "Persistent") == "yes"
    assert "time-sync.target" not in service.show("muleteer-turn@morning-look.timer", "After")
    service.run(COMMAND, "timers", "disable", "morning-look")
    assert service.said(COMMAND, "timers", "sync") == "Nothing has changed."
    (listed,) = json.loads(service.said(COMMAND, "timers", "list", "--json"))["timers"]
    assert (listed["skill"], listed["state"]) == ("morning-look", "disabled")
    service.run(COMMAND, "timers", "enable", "morning-look")


def test_a_copy_of_the_card_fires_at_another_time(service: Machine) -> None:
    """The machine's id is the same on both, and systemd's delay is made of it."""
    path = "/etc/systemd/system/muleteer-turn@morning-look.timer.d/schedule.conf"
    ours = _next(service)
    copy = own_delay(300, "c0" * 16, "morning-look")
    service.run("sed", "-i", f"s/^RandomizedDelaySec=.*/RandomizedDelaySec={copy}/", path)
    service.run("systemctl", "daemon-reload")
    service.run("systemctl", "restart", "muleteer-turn@morning-look.timer")
    assert _next(service) != ours
    assert "changed" in service.said(COMMAND, "timers", "sync")
    assert _next(service) == ours


def _next(service: Machine) -> str:
    """When the timer fires, to the microsecond."""
    shown = ("--property=NextElapseUSecRealtime", "--value", "--timestamp=us")
    return service.said("systemctl", "show", "muleteer-turn@morning-look.timer", *shown)


def test_twelve_open_clients_are_one_run_of_a_slot_whoever_asks(service: Machine) -> None:
    service.write("/srv/clients.py", CLIENTS)
    clients = service.start("/usr/bin/python3", "/srv/clients.py", "12")
    assert clients.stdout
    process = clients.stdout.readline().strip()
    assert process.isdecimal(), process
    asked = [service.start(COMMAND, "turn", "--json", "morning-look") for _ in range(12)]
    ended = [json.loads(each.communicate(timeout=120)[0].partition("\n")[2]) for each in asked]
    assert [each["state"] for each in ended].count("done") == 1, ended
    (slot,) = {each["slot"] for each in ended}
    again = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    assert (again["state"], again["slot"]) == ("skipped", slot)
    service.run("systemctl", "start", "muleteer-turn@morning-look.service")
    assert entries(service, "morning-look") == [slot]
    service.run("kill", process)
    clients.communicate(timeout=60)


def test_a_timer_fires_once_a_slot_however_often_and_across_a_reboot(service: Machine) -> None:
    service.write("/etc/muleteer/skills/often-look/SKILL.md", OFTEN)
    service.write(PROMPT, "[Timer]\nAccuracySec=100ms\n")
    service.run("systemctl", "reload", "muleteer.service")
    service.run(COMMAND, "timers", "sync")
    service.until(lambda: len(entries(service, "often-look")) > STARTS, "run as often as it is due")
    service.reboot()
    service.until(lambda: ready(service), "ready after the reboot")
    before = set(entries(service, "often-look"))
    service.until(lambda: set(entries(service, "often-look")) - before, "run again")
    again = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    assert again["state"] == "skipped"  # its slot was run before the reboot
    service.run("rm", "-r", "/etc/muleteer/skills/often-look")
    service.run("systemctl", "reload", "muleteer.service")
    assert "removed muleteer-turn@often-look.timer" in service.said(COMMAND, "timers", "sync")
    slots = entries(service, "often-look")
    assert max(Counter(slots).values()) == 1


@pytest.mark.skipif(
    not Path(FAKETIME).exists(), reason="libfaketime is not here: apt-get install libfaketime"
)
def test_a_start_with_the_clock_set_back_runs_no_slot_again(service: Machine) -> None:
    """As on a board without a clock battery, whose time jumps forward once it is connected."""
    path = "/etc/systemd/system/muleteer.service.d/clock.conf"
    first = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    service.write(
        path,
        f"[Service]\nEnvironment=LD_PRELOAD={FAKETIME} FAKETIME=-3d FAKETIME_DONT_FAKE_MONOTONIC=1\n",
    )
    service.run("systemctl", "daemon-reload")
    service.run("systemctl", "restart", "muleteer.service")
    back = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    assert back["slot"] < first["slot"]
    again = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    assert (again["slot"], again["state"]) == (back["slot"], "skipped")
    service.run("rm", path)
    service.run("systemctl", "daemon-reload")
    service.run("systemctl", "restart", "muleteer.service")
    now = json.loads(service.said(COMMAND, "turn", "--json", "morning-look"))
    assert (now["slot"], now["state"]) == (first["slot"], "skipped")
    slots = entries(service, "morning-look")
    assert max(Counter(slots).values()) == 1
