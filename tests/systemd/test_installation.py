"""Installing, bringing up to date and removing, by the command and by the Debian package; without a model,
since nothing of this decodes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.systemd.conftest import COMMAND, ROOT, VENV, Package, install
from tests.systemd.machine import Machine, machine

pytestmark = pytest.mark.model("tiny")

NO_MODEL = '[engine]\nmodel = "none"\n[service]\nmemory_high = 1500\nmemory_max = 2000\n'


@pytest.fixture(scope="module")
def booted(package: Package) -> Iterator[Machine]:
    """A machine on which nothing is installed as a service; its tests leave it so."""
    with bare(package) as machine:
        yield machine


def test_installed_twice_brought_up_to_date_and_gone(booted: Machine) -> None:
    booted.write("/etc/muleteer/config.toml", NO_MODEL)
    planned = booted.said(COMMAND, "install", "--dry-run")
    assert "write /etc/systemd/system/muleteer.service" in planned
    assert booted.run("systemctl", "cat", "muleteer.service", check=False).returncode != 0
    assert _lines(install(booted)) == _lines(planned)
    assert booted.show("muleteer.service", "ActiveState") == "active"
    assert booted.show("muleteer.service", "MemoryHigh") == str(1500 * 2**20)
    first = booted.show("muleteer.service", "MainPID")
    assert "is so already" in install(booted)
    assert booted.show("muleteer.service", "MainPID") == first
    device = booted.said("cat", "/var/lib/muleteer/device-id")

    booted.run("sed", "-i", "s/memory_high = 1500/memory_high = 1600/", "/etc/muleteer/config.toml")
    install(booted)
    assert booted.show("muleteer.service", "MemoryHigh") == str(1600 * 2**20)
    assert booted.show("muleteer.service", "MainPID") not in (first, "0")

    booted.run(COMMAND, "uninstall")
    assert booted.run("systemctl", "cat", "muleteer.service", check=False).returncode != 0
    assert booted.said("cat", "/var/lib/muleteer/device-id") == device
    install(booted)
    assert booted.said("cat", "/var/lib/muleteer/device-id") == device
    booted.run(COMMAND, "uninstall", "--purge")
    assert booted.run("ls", "/var/lib/muleteer", check=False).returncode != 0


# Sends to an address from within a cgroup; prints what came of it.
SEND = """\
import socket, sys
with open(sys.argv[1] + "/cgroup.procs", "w") as group:
    group.write("0")
for host in sys.argv[2:]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as sock:
        try:
            sock.sendto(b"x", (host, 5353))
            print(host, "sent")
        except OSError as error:
            print(host, error.strerror)
"""
NEAR = ("127.0.0.1", "::1", "10.99.0.2", "224.0.0.251")
FAR = ("192.0.2.1", "198.51.100.7")


def test_a_service_for_the_homes_network_alone_reaches_it_and_nothing_beyond(booted: Machine) -> None:
    booted.run("ip", "link", "add", "lan0", "type", "veth", "peer", "name", "lan1")
    booted.run("ip", "address", "add", "10.99.0.1/24", "dev", "lan0")
    for command in (("set", "lan0"), ("set", "lan1")):
        booted.run("ip", "link", *command, "up")
    booted.run("ip", "route", "add", "default", "via", "10.99.0.2", "dev", "lan0")
    booted.write("/srv/send.py", SEND)
    booted.write("/etc/muleteer/config.toml", NO_MODEL)
    install(booted)
    assert _sent(booted) == {*NEAR, *FAR}
    booted.write("/etc/muleteer/config.toml", f"{NO_MODEL}lan_only = true\n")
    install(booted)
    assert _sent(booted) == set(NEAR)
    booted.run(COMMAND, "seat", "join")  # shows a code, for which it has to be found
    booted.until(lambda: not json.loads(booted.said(COMMAND, "seat", "--json"))["mdns"], "announced")
    booted.run(COMMAND, "uninstall", "--purge")


def _sent(booted: Machine) -> set[str]:
    """The addresses that something in the service's cgroup can send to."""
    group = f"/sys/fs/cgroup{booted.show('muleteer.service', 'ControlGroup')}"
    said = booted.said("/usr/bin/python3", "/srv/send.py", group, *NEAR, *FAR)
    assert all(line.endswith((" sent", " Operation not permitted")) for line in said.splitlines()), said
    return {line.split()[0] for line in said.splitlines() if line.endswith(" sent")}


def test_a_user_has_a_daemon_of_their_own(booted: Machine) -> None:
    booted.write("/home/anna/.config/muleteer/config.toml", NO_MODEL)
    booted.run("chown", "-R", "anna:anna", "/home/anna")
    booted.run("loginctl", "enable-linger", "anna")
    uid = booted.said("id", "-u", "anna")
    booted.until(lambda: booted.run("ls", f"/run/user/{uid}/bus", check=False).returncode == 0, "in")
    session = ("env", "HOME=/home/anna", f"XDG_RUNTIME_DIR=/run/user/{uid}")
    booted.run(*session, COMMAND, "install", "--user", user="anna")
    shown = booted.run(*session, COMMAND, "status", "--json", user="anna").stdout
    assert json.loads(shown)["socket"] == f"/run/user/{uid}/muleteer/muleteer.sock"
    booted.run(*session, COMMAND, "uninstall", "--user", user="anna")
    assert booted.run(*session, COMMAND, "status", user="anna", check=False).returncode == 3


def test_who_fails_again_and_again_is_left_for_a_person(booted: Machine) -> None:
    """A start that fails is tried eight times; settings with a mistake are read once."""
    booted.write("/etc/muleteer/config.toml", NO_MODEL)
    booted.run(COMMAND, "install", "--no-start")
    folder = "/etc/systemd/system/muleteer.service.d"
    broken = "[Service]\nEnvironment=PYTHONHOME=/nonexistent\nRestartSec=100ms\n"
    booted.write(f"{folder}/broken.conf", broken)
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "start", "muleteer.service", check=False)
    booted.until(lambda: "start-limit-hit" in _end(booted) or "too quickly" in _tail(booted), "given up")
    assert booted.show("muleteer.service", "ActiveState") == "failed"
    assert booted.journal("--unit=muleteer.service").count("status=1/FAILURE") == 8

    booted.run("rm", f"{folder}/broken.conf")
    booted.write("/etc/muleteer/config.toml", NO_MODEL.replace("1500", '"much"'))
    booted.run("systemctl", "daemon-reload")
    booted.run("systemctl", "reset-failed", "muleteer.service", "muleteer.socket")
    booted.run("systemctl", "start", "muleteer.service", check=False)
    assert booted.show("muleteer.service", "ActiveState") == "failed"
    assert booted.show("muleteer.service", "NRestarts") == "0"
    assert "service.memory_high" in _tail(booted)

    # Who asks meanwhile has the socket start it, up to the limit; an installation makes a new beginning.
    assert booted.run(COMMAND, "status", check=False).returncode == 3
    booted.until(lambda: booted.show("muleteer.socket", "ActiveState") == "failed", "given up by the socket")
    booted.write("/etc/muleteer/config.toml", NO_MODEL)
    booted.run(COMMAND, "install")
    assert booted.show("muleteer.service", "ActiveState") == "active"
    assert booted.show("muleteer.socket", "ActiveState") == "active"
    booted.run(COMMAND, "uninstall", "--purge")


def _end(booted: Machine) -> str:
    return booted.show("muleteer.service", "Result")


def _tail(booted: Machine) -> str:
    return booted.journal("--unit=muleteer.service", "--lines=8")


def test_the_debian_package_is_installed_upgraded_removed_and_purged(
    package: Package, tmp_path: Path
) -> None:
    (venv,) = [source for source, target in package.copies.items() if target == VENV]
    old, new = (_package(venv, tmp_path, version) for version in ("0.0.1", "0.0.2"))
    with bare(package, {old: "/srv/old.deb", new: "/srv/new.deb"}) as booted:
        booted.run("rm", "-r", VENV)
        booted.run("dpkg", "--install", "/srv/old.deb")
        booted.until(lambda: _answers(booted), "started")
        limit = "/etc/systemd/system/muleteer.service.d/50-settings.conf"
        assert booted.said("ls", "-A", "/etc/systemd/system/muleteer.service.d") == Path(limit).name
        assert booted.run("ls", "/etc/systemd/system/muleteer.service", check=False).returncode != 0
        assert booted.show("muleteer.service", "MemoryHigh") == str(1500 * 2**20)
        assert "Unknown key" not in booted.journal()
        device = booted.said("cat", "/var/lib/muleteer/device-id")
        booted.run("sed", "-i", "s/memory_high = 1500/memory_high = 1600/", "/etc/muleteer/config.toml")
        before = booted.show("muleteer.service", "MainPID")
        booted.run("dpkg", "--install", "/srv/new.deb")
        booted.until(lambda: _answers(booted), "started again")
        assert booted.show("muleteer.service", "MainPID") != before
        assert booted.show("muleteer.service", "MemoryHigh") == str(1600 * 2**20)
        assert booted.said("cat", "/var/lib/muleteer/device-id") == device
        booted.run("dpkg", "--remove", "muleteer")
        assert booted.show("muleteer.service", "ActiveState") == "inactive"
        assert booted.said("cat", "/var/lib/muleteer/device-id") == device
        booted.run("dpkg", "--purge", "muleteer")
        for path in ("/var/lib/muleteer", "/etc/muleteer", VENV):
            assert booted.run("ls", path, check=False).returncode != 0, path
        assert booted.run("systemctl", "cat", "muleteer.service", check=False).returncode != 0


@contextmanager
def bare(package: Package, more: dict[Path, str] | None = None) -> Iterator[Machine]:
    """A machine with Muleteer that is not installed as a service, and has no model."""
    (venv,) = [source for source, target in package.copies.items() if target == VENV]
    with machine(copies={venv: VENV, **(more or {})}, shown=package.shown) as booted:
        booted.write("/etc/muleteer/config.toml", NO_MODEL)
        booted.run("useradd", "--create-home", "--user-group", "anna")
        yield booted


def _package(venv: Path, folder: Path, version: str) -> Path:
    options = ["--venv", str(venv), "--version", version, "--out", str(folder)]
    command = [sys.executable, str(ROOT / ".ci/deb.py"), *options]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Path(said.strip().rpartition("\n")[2])


def _answers(booted: Machine) -> bool:
    return booted.run("/usr/bin/muleteer", "status", check=False).returncode == 0


def _lines(said: str) -> list[str]:
    return [line for line in said.splitlines() if line.startswith(("write", "run"))]
