"""The gateway seen from another host of the network: what is open there, and what it says to strangers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import lan
from tests.seat.devices import DEADLINE, Device, lan_of, wait_until

pytestmark = pytest.mark.skipif(bool(lan.MISSING), reason=f"hosts on one machine: {lan.MISSING}")

PORT = 8765
SCAN = """
import asyncio, json, sys
host = sys.argv[1]
async def look(port, found, room):
    async with room:
        try:
            _, writer = await asyncio.open_connection(host, port)
        except OSError:
            return
        found.append(port)
        writer.close()
async def scan():
    found, room = [], asyncio.Semaphore(200)
    await asyncio.gather(*(look(port, found, room) for port in range(1, 9001)))
    print(json.dumps(sorted(found)))
asyncio.run(scan())
"""
# Asks for every path with every method, from one address after the other, so that none asks too often.
ASK = """
import http.client, itertools, json, ssl, sys
from muleteer.gateway.auth import TABLE
host, port, *sources = sys.argv[1:]
paths = {line.replace("{}", "x").replace("*", "x") for line in TABLE}
paths |= {"/nowhere", "/v1", "/docs", "//", "/%2e%2e/"}
answered = {}
unchecked = ssl._create_unverified_context()
requests = itertools.product(sorted(paths), ("GET", "POST", "DELETE", "OPTIONS"))
for number, (path, method) in enumerate(requests):
    source = sources[number % len(sources)]
    where = {"timeout": 30, "source_address": (source, 0), "context": unchecked}
    connection = http.client.HTTPSConnection(host, int(port), **where)
    connection.request(method, path, "{}", {"Content-Type": "application/json"})
    reply = connection.getresponse()
    reply.read()
    connection.close()
    answered[f"{method} {path}"] = reply.status
print(json.dumps(answered))
"""
SOURCES = [f"10.77.0.{number}" for number in range(50, 60)]


def on(device: Device, script: str, *arguments: object) -> object:
    """What a program of this host prints."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    process = device.host.start(command, device.settings, stdout=subprocess.PIPE)
    said, _ = process.communicate(timeout=4 * DEADLINE)
    assert process.returncode == 0
    return json.loads(said)


def muleteer(device: Device, *words: str) -> tuple[int, str]:
    """What a command says on this host, with its exit code."""
    command = [sys.executable, "-m", "muleteer", *words]
    process = device.host.start(
        command, device.settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL
    )
    said, _ = process.communicate(timeout=DEADLINE)
    return process.returncode, said


@contextmanager
def running(**settings: str) -> Iterator[tuple[Device, Device]]:
    """A device that runs, with these settings, and a laptop that does not."""
    with lan_of(["raspberrypi", "laptop"]) as (_, devices):
        device, laptop = devices
        device.settings |= settings
        device.start()
        wait_until(lambda: device.seat(), device)
        yield device, laptop


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Device, Device]]:
    """The device is open to the network, with TLS."""
    with running(MULETEER_GATEWAY__LISTEN="lan", MULETEER_GATEWAY__TLS="true") as found:
        yield found


def test_nothing_is_open_as_long_as_nobody_wants_it() -> None:
    with running() as (device, laptop):
        assert on(laptop, SCAN, device.host.address) == []


def test_one_port_is_open_and_says_nothing_to_strangers(hosts: tuple[Device, Device]) -> None:
    device, laptop = hosts
    assert on(laptop, SCAN, device.host.address) == [PORT]
    for source in SOURCES:
        laptop.host.also(source)
    answered = on(laptop, ASK, device.host.address, PORT, *SOURCES)
    assert isinstance(answered, dict)
    open_to_all = {"GET /", "GET /healthz", "POST /v1/pair", "POST /v1/pair/exchange"}
    assert {request for request, status in answered.items() if status not in (400, 401)} <= open_to_all
    assert all(answered[request] not in (401, 500) for request in open_to_all)


def test_a_laptop_is_paired_and_uses_the_device_from_then_on(hosts: tuple[Device, Device]) -> None:
    device, laptop = hosts
    code = device.ask("POST", "/v1/pair/code", {"scopes": ["chat"]})["code"]
    assert muleteer(laptop, "pair", "--with", device.host.address, "000-000")[0] == 1
    assert muleteer(laptop, "pair", "--with", device.host.address, code) == (
        0,
        f"Paired with raspberrypi ({device.host.address}:{PORT}). "
        'Try: muleteer --device raspberrypi ask "What time is it?"\n',
    )
    kept = next(Path(laptop.folder).rglob("remote-devices.json"))
    assert kept.stat().st_mode & 0o777 == 0o600
    status, said = muleteer(laptop, "--device", "raspberrypi", "status")
    assert (status, "port 8765, from the local network, TLS" in said) == (0, True)
    assert muleteer(laptop, "--device", "raspberrypi", "skills")[0] == 0
    refused = muleteer(laptop, "--device", "raspberrypi", "tokens")
    assert (refused[0], "needs the scope admin" in refused[1]) == (1, True)
    # Somebody else at that address, later.
    device.kill()
    (device.folder / "state" / "gateway-tls.pem").unlink()
    device.start()
    wait_until(lambda: device.seat(), device)
    refused = muleteer(laptop, "--device", "raspberrypi", "status")
    assert (refused[0], "not the device that was paired" in refused[1]) == (3, True)
