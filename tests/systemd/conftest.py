"""Muleteer installed as on a device: the wheel in a virtual environment under /opt, and a machine to run it.

The environment is made with the distribution's Python, since a service user can execute no interpreter in
somebody's home. Its libraries are those of the environment that runs these tests, shown read-only.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import zipfile
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from muleteer.engine import models
from tests.systemd.machine import Machine, machine, missing

ROOT = Path(__file__).resolve().parents[2]
VENV = "/opt/muleteer"
LIBRARIES = "/opt/muleteer-libraries"
MODELS = "/srv/models"
COMMAND = f"{VENV}/bin/muleteer"
PYTHON = "/usr/bin/python3"

# Of the shipped tools, those that are tried here: reading a long menu takes minutes on a busy machine.
KEPT = ("current_time", "device_info", "find_file", "sensor")

SETTINGS = f"""\
models = "{MODELS}"
[engine]
model = "tiny"
[background]
quiet = 0.0
[files]
folders = ["/srv/papers"]
[serial.devices.board]
path = "/srv/board"
settle = 0.0
[serial.devices.board.sensors.greenhouse]
request = "T?"
pattern = 'T=(\\d+\\.\\d)'
unit = "°C"
[mcp.servers.sums]
command = "{VENV}/bin/python3"
args = ["/srv/reference.py", "stdio"]
tools = ["add"]
"""
# A microcontroller at a pseudo-terminal that belongs to the group of serial ports, as real ones do.
BOARD = """\
import os, shutil, sys, threading
from pathlib import Path
sys.path.insert(0, "/srv")
from microcontroller import Microcontroller, greenhouse
board = Microcontroller(Path("/srv/board"), greenhouse)
port = board.path.resolve()
shutil.chown(port, "root", "dialout")
port.chmod(0o660)
threading.Event().wait()
"""
BOARD_UNIT = f"""\
[Service]
ExecStartPre=rm -f /srv/board
ExecStart={PYTHON} /srv/board.py
[Install]
WantedBy=multi-user.target
"""
CELSIUS = 47  # of the processor, as its thermal zone tells it
KEY = "a secret of the house"
LETTER = "The chimney sweep comes on 14 March."

# Half a day from now, so that no test sees it become due.
DAILY = f"*-*-* {(time.localtime().tm_hour + 12) % 24:02}:00"
# Carried out by code alone, so that a run costs no model.
SKILL = f"""\
---
name: morning-look
description: Looks at the device every morning.
metadata:
  examples: ["How is the device this morning?"]
  schedule: "{DAILY}"
  run: all
---
1. Call @device-info.
"""

SCRIPT = f"""\
#!{VENV}/bin/python3
import sys
from muleteer.cli import main
sys.exit(main())
"""


class Boots(Protocol):
    """Boots a machine with Muleteer in it; with `install` its units are those of `muleteer install`."""

    def __call__(self, network: str = "", name: str = "mule") -> AbstractContextManager[Machine]: ...


@dataclass(frozen=True, slots=True)
class Package:
    """Muleteer as it is copied into a machine, by where it goes; and what the machine is shown."""

    copies: dict[Path, str]
    shown: dict[Path, str]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where no machine can be booted, its tests say why."""
    why = missing() or _unfit()
    for item in items:
        if why and "tests/systemd" in str(item.path) and {"package", "boots", "service"} & _fixtures(item):
            item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Package:
    folder = tmp_path_factory.mktemp("package")
    build = [sys.executable, "-m", "pip", "--quiet", "wheel", "--no-build-isolation", "--no-deps"]
    subprocess.run([*build, "--wheel-dir", folder, ROOT], check=True)
    (wheel,) = folder.glob("muleteer-*.whl")
    venv = folder / "venv"
    subprocess.run([PYTHON, "-m", "venv", "--without-pip", venv], check=True)
    settings = venv / "pyvenv.cfg"
    settings.write_text(settings.read_text().replace(str(venv), VENV))
    site = venv / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    for each in (site / "muleteer" / "share").glob("*/*"):
        if each.parent.name in ("skills", "tools") and each.stem not in KEPT:
            shutil.rmtree(each) if each.is_dir() else each.unlink()
    (site / "libraries.pth").write_text(LIBRARIES + "\n")
    command = venv / "bin" / "muleteer"
    command.write_text(SCRIPT)
    command.chmod(0o755)
    config = folder / "config.toml"
    config.write_text(SETTINGS)
    model = models.locate("tiny")
    assert model, "The model tiny is missing; run make setup."
    board, letter = folder / "board.py", folder / "chimney letter.txt"
    board.write_text(BOARD)
    letter.write_text(LETTER)
    note = folder / "SKILL.md"
    note.write_text(SKILL)
    return Package(
        {
            venv: VENV,
            config: "/etc/muleteer/config.toml",
            note: "/etc/muleteer/skills/morning-look/SKILL.md",
            board: "/srv/board.py",
            letter: "/srv/papers/chimney letter.txt",
            ROOT / "tests/ports/microcontroller.py": "/srv/microcontroller.py",
            ROOT / "tests/mcp_servers/reference.py": "/srv/reference.py",
        },
        {Path(sysconfig.get_path("purelib")): LIBRARIES, model.parent: MODELS},
    )


@pytest.fixture(scope="session")
def boots(package: Package) -> Boots:
    @contextmanager
    def boot(network: str = "", name: str = "mule") -> Iterator[Machine]:
        with machine(copies=package.copies, shown=package.shown, network=network, name=name) as booted:
            for user in ("anna", "bert"):
                booted.run("useradd", "--user-group", user)
            yield booted

    return boot


@pytest.fixture(scope="session")
def service(boots: Boots) -> Iterator[Machine]:
    """A machine whose service is installed and runs. Its tests leave it running."""
    with boots() as booted:
        booted.write("/etc/systemd/system/board.service", BOARD_UNIT)
        booted.run("systemctl", "enable", "--now", "board.service")
        booted.write("/srv/thermal/thermal_zone0/type", "cpu-thermal")
        booted.write("/srv/thermal/thermal_zone0/temp", f"{CELSIUS}000")
        booted.run("mount", "--bind", "/srv/thermal", "/sys/class/thermal")
        booted.write("/etc/muleteer/keys/home", KEY, mode="600")
        install(booted)
        yield booted


def ready(booted: Machine) -> bool:
    """Whether a turn could be served now."""
    asked = booted.run(COMMAND, "status", "--json", check=False)
    return asked.returncode == 0 and json.loads(asked.stdout)["state"] == "ready"


def install(booted: Machine, *options: str) -> str:
    """Install the service as an administrator would, and let anna use it; what the installation says."""
    said = booted.said(COMMAND, "install", *options)
    booted.run("usermod", "--append", "--groups", "muleteer", "anna")
    return said


def _fixtures(item: pytest.Item) -> set[str]:
    return set(getattr(item, "fixturenames", ()))


def _unfit() -> str:
    """Why the distribution's Python cannot run the libraries that are here."""
    if not os.access(PYTHON, os.X_OK):
        return f"There is no {PYTHON}, which the service would run with."
    said = subprocess.run([PYTHON, "-V"], capture_output=True, text=True, check=False).stdout.split()[-1]
    ours = f"{sys.version_info.major}.{sys.version_info.minor}"
    if said.rpartition(".")[0] != ours:
        return f"{PYTHON} is {said}, and the libraries here are for {ours}."
    return ""
