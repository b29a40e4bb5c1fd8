"""The default model behind a real socket, started once, as a user would start it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import hypothesis
import pytest

import muleteer.harness.likeness  # noqa: F401 (so that numpy is loaded as the daemon loads it)
from muleteer.engine import models
from tests.home import write_home, write_serial
from tests.ports.microcontroller import Microcontroller, greenhouse

# A shell that starts the tests in the background makes them and all they start ignore Ctrl-C.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Other work on the machine may hold up any one example for longer than the library allows.
hypothesis.settings.register_profile("shared machine", deadline=None)
hypothesis.settings.load_profile("shared machine")

START_SECONDS = 300.0  # a cold file cache on a slow disk


@dataclass
class Served:
    """A daemon that is ready, in a home with papers, a calendar and a greenhouse at a serial port.
    `environment` is that of a user whose commands shall reach it; `heard` is what the greenhouse got."""

    socket: Path
    environment: dict[str, str]
    process: subprocess.Popen[str]
    log: list[str]
    heard: list[str]


@pytest.fixture(scope="session")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    model = models.locate("standard")
    assert model, (
        "The model standard is missing; run make setup, then .venv/bin/muleteer model pull standard."
    )
    home = tmp_path_factory.mktemp("home")
    socket = home / "s"
    papers, calendars = write_home(home)
    board = Microcontroller(home / "port", greenhouse)
    write_serial(home / ".config" / "muleteer" / "config.toml", board.path)
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MULETEER_SOCKET": str(socket),
        "MULETEER_MODELS": str(model.parent),
        "MULETEER_FILES__FOLDERS": str(papers),
        "MULETEER_CALENDAR__FOLDERS": str(calendars),
        "MULETEER_WYOMING__UNIX": str(home / "voice"),
        "MULETEER_GATEWAY__LISTEN": "loopback",
        "MULETEER_GATEWAY__PORT": "0",
    }
    command = [sys.executable, "-m", "muleteer", "serve", "--state", str(home / "state")]
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True)
    log: list[str] = []
    ready = threading.Event()

    def read() -> None:
        assert process.stderr
        for line in process.stderr:
            log.append(line)
            if "Ready." in line:
                ready.set()
        ready.set()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        assert ready.wait(START_SECONDS), f"not ready:\n{''.join(log)}"
        assert process.poll() is None, f"ended:\n{''.join(log)}"
        yield Served(socket, environment, process, log, board.heard)
    finally:
        process.terminate()
        code = process.wait(60)
        reader.join()
        board.unplug()
        assert process.stderr
        process.stderr.close()
    assert code == -signal.SIGTERM, f"ended with {code}:\n{''.join(log)}"
    assert not socket.exists(), "the socket was left behind"
