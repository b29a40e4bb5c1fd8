"""Real daemons on hosts of their own, for tests of the seat: without a model, everything else as it is.

Knows how a daemon is started, paired and asked; not what a test does to it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.lan import Host, Lan

DEADLINE = 60.0  # seconds for whatever is waited for; a busy machine is forgiven
PAUSE = 0.02  # seconds between two looks; the precision of what is measured


class _Connection(HTTPConnection):
    def __init__(self, path: Path) -> None:
        super().__init__("localhost", timeout=DEADLINE)
        self._path = str(path)

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Device:
    """`muleteer serve` on a host. `folder` outlives the process, as a card does."""

    def __init__(self, host: Host, folder: Path, settings: Mapping[str, str]) -> None:
        self.host, self.folder = host, folder
        self.socket = folder / "s"
        self.settings = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "MULETEER_ENGINE__MODEL": "none",
            **settings,
        }
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin to run; returns at once."""
        command = [sys.executable, "-m", "muleteer", "serve"]
        command += ["--state", f"{self.folder}/state", "--socket", str(self.socket)]
        with (self.folder / "log").open("a") as log:
            self.process = self.host.start(command, self.settings, stderr=log)

    def ask(self, method: str, path: str, body: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Raises `OSError` when it does not answer, `ValueError` with its sentence when it refuses."""
        connection = _Connection(self.socket)
        try:
            content = None if body is None else json.dumps(body)
            connection.request(method, path, content, {"Content-Type": "application/json"})
            reply = connection.getresponse()
            answer: dict[str, Any] = json.loads(reply.read())
        finally:
            connection.close()
        if reply.status != 200:
            raise ValueError(answer["error"]["message"])
        return answer

    def seat(self) -> dict[str, Any]:
        """What it says of the seat; nothing while it does not answer."""
        with contextlib.suppress(OSError):
            return self.ask("GET", "/v1/seat")
        return {}

    def drives(self) -> bool:
        return bool(self.seat().get("drives"))

    @property
    def pid(self) -> int:
        assert self.process
        return self.process.pid

    def kill(self) -> None:
        """As when the power is cut."""
        os.kill(self.pid, signal.SIGKILL)
        assert self.process
        self.process.wait()

    def stop(self) -> None:
        """As when the service is stopped; returns at once."""
        os.kill(self.pid, signal.SIGTERM)

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def cpu(self) -> float:
        """Seconds of a processor used so far."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def household(names: Sequence[str], **settings: str) -> Iterator[tuple[Lan, list[Device]]]:
    """A LAN with one device a name, all in one household, with a driver."""
    with lan_of(names, **settings) as (lan, devices):
        for device in devices:
            device.start()
        first = devices[0]
        for device in devices[1:]:
            wait_until(lambda each=device: each.seat(), device)  # type: ignore[misc]
            pair(first, device)
        wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
        yield lan, devices


@contextlib.contextmanager
def lan_of(names: Sequence[str], **settings: str) -> Iterator[tuple[Lan, list[Device]]]:
    """A LAN with one device a name; none of them runs yet."""
    folder = Path(tempfile.mkdtemp(prefix="mule-"))  # short: a socket's path must be
    try:
        with Lan(names) as lan:
            devices = []
            for host in lan.hosts:
                (folder / str(host.number)).mkdir()
                devices.append(Device(host, folder / str(host.number), settings))
            try:
                yield lan, devices
            except BaseException:
                for device in devices:
                    with contextlib.suppress(OSError):
                        print(f"--- {device.host.number} {device.host.name}\n{device.log()}")
                raise
            finally:
                for device in devices:
                    if device.process and device.process.poll() is None:
                        device.kill()
    finally:
        shutil.rmtree(folder)


def pair(shows: Device, types: Device) -> None:
    """As two people do it, one at each device."""
    wait_until(lambda: shows.seat(), shows)
    code = shows.ask("POST", "/v1/seat/invite")["code"]
    types.ask("POST", "/v1/seat/join", {"code": code})


def one_driver(devices: Sequence[Device]) -> Device | None:
    """The device that drives, if one does and all others follow it."""
    said = [(each, each.seat()) for each in devices]
    drivers = [each for each, seat in said if seat.get("drives")]
    ids = {(seat.get("driver") or {}).get("id") for _, seat in said}
    return drivers[0] if len(drivers) == 1 and len(ids) == 1 and None not in ids else None


def enrolled(devices: Sequence[Device]) -> bool:
    """Whether everybody is connected with everybody, and all take part."""
    seats = [each.seat() for each in devices]
    return all(
        len(seat.get("peers", ())) == len(devices) - 1
        and all(peer["connected"] and peer["enrolled"] for peer in seat["peers"])
        for seat in seats
    )


def wait_until(holds: Callable[[], object], *devices: Device, seconds: float = DEADLINE) -> float:
    """Until `holds`; returns how many seconds that took. The devices' logs say why, if it never does."""
    began = time.monotonic()
    while not holds():
        ended = any(
            each.process is not None and each.process.poll() not in (None, 0, -9, -15) for each in devices
        )
        if ended or time.monotonic() - began > seconds:
            seats = "\n".join(json.dumps(each.seat()) for each in devices)
            raise AssertionError(f"not within {seconds:g} seconds:\n{seats}")
        time.sleep(PAUSE)
    return time.monotonic() - began
