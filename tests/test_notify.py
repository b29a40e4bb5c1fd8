"""sd_notify against a real socket, and what the daemon tells with it."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.alive import START_STEP_SECONDS, TELL_SECONDS, Alive
from muleteer.notify import Notifier


class Heard:
    """A service manager's socket, and what arrived."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(path))
        self.socket.setblocking(False)

    def take(self) -> list[str]:
        lines: list[str] = []
        while True:
            try:
                lines += self.socket.recv(4096).decode().split("\n")
            except BlockingIOError:
                return lines


@pytest.fixture
def manager(tmp_path: Path) -> Iterator[Heard]:
    heard = Heard(tmp_path / "notify")
    yield heard
    heard.socket.close()


def test_the_variables_are_taken_and_gone(manager: Heard) -> None:
    environment = {
        "NOTIFY_SOCKET": str(manager.path),
        "WATCHDOG_USEC": "6000000",
        "WATCHDOG_PID": str(os.getpid()),
        "HOME": "/",
    }
    notifier = Notifier.take(environment)
    assert environment == {"HOME": "/"}
    assert notifier.watchdog == 6.0
    notifier.send(STATUS="one\nREADY=1", READY=1)
    assert manager.take() == ["STATUS=one READY=1", "READY=1"]


def test_a_watchdog_for_another_process_is_none() -> None:
    assert Notifier.take({"WATCHDOG_USEC": "6000000", "WATCHDOG_PID": "1"}).watchdog == 0.0


def test_nothing_is_sent_without_a_manager_and_a_full_one_does_not_hold_us_up(manager: Heard) -> None:
    Notifier().send(READY=1)
    Notifier("relative").send(READY=1)
    full = Notifier(str(manager.path))
    for _ in range(2000):  # more than any socket holds; blocking would hang this test
        full.send(STATUS="x" * 100)
    assert manager.take()
    Notifier(str(manager.path.with_name("nobody"))).send(READY=1)


def test_a_start_asks_for_time_and_says_what_it_waits_for(manager: Heard) -> None:
    alive = Alive(Notifier(str(manager.path)), lambda: ("loading", "the model is loading"), lambda: 0.0)
    assert alive.tell() == START_STEP_SECONDS
    assert manager.take() == ["STATUS=loading: the model is loading", "EXTEND_TIMEOUT_USEC=60000000"]


def test_the_watchdog_is_fed_while_the_engine_makes_progress(manager: Heard) -> None:
    silent = 0.0
    alive = Alive(Notifier(str(manager.path), 6.0), lambda: ("ready", ""), lambda: silent)
    assert alive.tell() == 2.0
    assert manager.take() == ["STATUS=ready", "WATCHDOG=1"]
    silent = 6.0
    assert alive.tell() == 2.0
    assert manager.take() == []
    silent = 0.1
    alive.tell()
    assert manager.take() == ["WATCHDOG=1"]


def test_without_a_watchdog_only_changes_are_told(manager: Heard) -> None:
    alive = Alive(Notifier(str(manager.path)), lambda: ("ready", ""), lambda: 99.0)
    alive.ready()
    assert alive.tell() == TELL_SECONDS
    alive.stopping()
    assert manager.take() == ["READY=1", "STATUS=ready", "STOPPING=1", "STATUS=stopping"]
