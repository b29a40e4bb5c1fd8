"""The seat on real hosts: daemons of their own, on a network that is cut, split, lossy and lied on.

Times are measured on hosts that share this machine's processors, and printed with `pytest -s`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.seat.timing import TICK_SECONDS, Timing
from tests import lan
from tests.seat.devices import (
    Device,
    enrolled,
    household,
    lan_of,
    one_driver,
    pair,
    wait_until,
)

pytestmark = pytest.mark.skipif(bool(lan.MISSING), reason=f"hosts on one machine: {lan.MISSING}")

AFTER_KILL = 5.0  # seconds to a new driver after kill -9
AFTER_LEAVE = 1.0  # seconds to a new driver after a clean stop
AFTER_HEALING = 3.0  # seconds to one driver after a network is whole again
IDLE_BYTES = 200.0  # a second and device, with every header
CALM = 6.0  # seconds after the last change of a role, which is announced twice
IDLE_SHARE = 0.01  # of a processor
FAKETIME = "/usr/lib/{}/faketime/libfaketime.so.1".format(os.uname().machine + "-linux-gnu")
TAKE_PORT = """
import socket, time
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", 5353))
print("taken", flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def home() -> Iterator[tuple[lan.Lan, list[Device]]]:
    """Three devices that all have the same name, as three copies of one card have."""
    with household(["raspberrypi"] * 3) as found:
        yield found


@pytest.fixture
def devices(home: tuple[lan.Lan, list[Device]]) -> list[Device]:
    """All of them running, connected and of one opinion."""
    network, devices = home
    network.heal()
    for device in devices:
        if device.process is None or device.process.poll() is not None:
            device.start()
    wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
    return devices


def apart(devices: list[Device]) -> tuple[Device, list[Device]]:
    """The driver, and the others."""
    wait_until(lambda: one_driver(devices), *devices)
    while not (driver := one_driver(devices)):  # it may have looked a moment too late
        pass
    return driver, [each for each in devices if each is not driver]


def report(what: str, value: float, unit: str = "s") -> None:
    print(f"\n  {what}: {value:.2f} {unit}", end="")


def never_both(old: Device, rest: list[Device]) -> bool:
    """Whether one of the rest drives. Fails when it does so while the old one does."""
    before = old.drives()
    new = [each for each in rest if each.drives()]
    assert not (before and new and old.drives()), "two drive at the same time"
    return bool(new)


def test_devices_with_one_hostname_are_one_household(devices: list[Device]) -> None:
    seats = [each.seat() for each in devices]
    assert len({seat["device"]["id"] for seat in seats}) == 3
    assert len({seat["device"]["name"] for seat in seats}) == 3, "names that are the same are told apart"
    others = {seat["device"]["id"]: True for seat in seats[1:]}

    def listed() -> dict[str, bool]:
        return {each["id"]: each["member"] for each in devices[0].ask("GET", "/v1/devices")["devices"]}

    wait_until(lambda: listed() == others, *devices)


def idle(devices: list[Device], beats: float) -> None:
    """Measure what all of them cost over so many heartbeats in which nothing happens."""
    wait_until(lambda: all(each.seat()["since_s"] > CALM for each in devices), *devices)
    _, (other, *_) = apart(devices)
    sent = other.host.sent()
    wait_until(lambda: other.host.sent() != sent, *devices)  # a heartbeat was answered
    before = [(each.host.sent(), each.cpu()) for each in devices]
    began = time.monotonic()
    time.sleep(beats * Timing().heartbeat * TICK_SECONDS)
    seconds = time.monotonic() - began
    for (sent, used), device in zip(before, devices, strict=True):
        rate, share = (device.host.sent() - sent) / seconds, (device.cpu() - used) / seconds
        report(f"{device.seat()['role']} of {len(devices)}, sent", rate, "bytes/s")
        report(f"{device.seat()['role']} of {len(devices)}, processor", share * 100, "%")
        assert share < IDLE_SHARE
        assert rate < IDLE_BYTES


def test_an_idle_household_costs_next_to_nothing(devices: list[Device]) -> None:
    idle(devices, 7.5)


def test_after_kill_9_another_device_drives(devices: list[Device]) -> None:
    driver, rest = apart(devices)
    driver.kill()
    took = wait_until(lambda: one_driver(rest), *rest)
    report("to a new driver after kill -9", took)
    assert took < AFTER_KILL


def test_a_clean_stop_hands_over_at_once(devices: list[Device]) -> None:
    driver, rest = apart(devices)
    driver.stop()
    took = wait_until(lambda: any(each.drives() for each in rest), *rest)
    report("to a new driver after a clean stop", took)
    assert took < AFTER_LEAVE
    assert driver.process
    driver.process.wait(30)


def test_a_device_that_is_cut_off_stops_before_another_starts(devices: list[Device]) -> None:
    driver, rest = apart(devices)
    driver.host.cut()
    report("to a new driver after a cut", wait_until(lambda: never_both(driver, rest), *devices))
    wait_until(lambda: driver.seat().get("role") == "no majority", driver)
    driver.host.join()
    took = wait_until(lambda: one_driver(devices), *devices)
    report("to one driver after the cut is healed", took)
    assert took < AFTER_HEALING


def test_a_suspended_driver_is_replaced_and_drives_no_more_when_it_goes_on(devices: list[Device]) -> None:
    driver, rest = apart(devices)
    os.kill(driver.pid, signal.SIGSTOP)
    try:
        took = wait_until(lambda: one_driver(rest), *rest)
        report("to a new driver while the old one is suspended", took)
    finally:
        os.kill(driver.pid, signal.SIGCONT)
    assert not driver.drives()
    report("to one driver after it goes on", wait_until(lambda: one_driver(devices), *devices))


def test_a_new_address_is_announced_and_found(devices: list[Device]) -> None:
    driver, rest = apart(devices)
    moved = rest[0]
    moved.host.move(f"10.77.0.{100 + moved.host.number}")
    me = moved.seat()["device"]["id"]

    def found() -> bool:
        peers = [peer for each in devices if each is not moved for peer in each.seat().get("peers", [])]
        return {peer["address"] for peer in peers if peer["id"] == me} == {moved.host.address}

    report("until the others have the new address", wait_until(found, *devices))

    def announced() -> bool:
        listed = rest[1].ask("GET", "/v1/devices")["devices"]
        return any(each["id"] == me and moved.host.address in each["addresses"] for each in listed)

    wait_until(announced, *devices)
    assert apart(devices)[0] is driver


@pytest.mark.skipif(not Path("/dev/net/tun").exists(), reason="losing packets needs /dev/net/tun")
@pytest.mark.parametrize("percent", [20, 50])
def test_lost_packets_never_make_two_drivers(devices: list[Device], percent: int) -> None:
    _, rest = apart(devices)
    for device in rest:
        device.host.lose(percent)
    try:
        until = time.monotonic() + 6
        while time.monotonic() < until:
            for one in devices:
                never_both(one, [each for each in devices if each is not one])
    finally:
        for device in rest:
            device.host.lose(0)
    took = wait_until(lambda: one_driver(devices), *devices)
    report(f"to one driver after {percent} % loss", took)
    assert took < AFTER_HEALING


def test_a_liar_on_the_network_changes_nothing(
    home: tuple[lan.Lan, list[Device]], devices: list[Device]
) -> None:
    driver, rest = apart(devices)
    term, target = driver.seat()["term"], rest[0].seat()["device"]["id"]
    liar = Path(__file__).with_name("liar.py")
    with lan.guest(home[0], "liar") as host:
        said = subprocess.run(
            host.command([sys.executable, str(liar), target, rest[0].host.address, "7433"]),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        assert "TXT id,port,proto,role" in said
        assert "without a certificate: closed" in said
        assert "a certificate of its own: closed" in said
        listed = driver.ask("GET", "/v1/devices")["devices"]
        assert len(listed) <= 64
        assert not any(
            each["member"] for each in listed if each["addresses"] == [host.address] and each["id"] != target
        )
        assert one_driver(devices) is driver
        assert driver.seat()["term"] == term
        assert driver.seat()["peers"][0]["connected"]


@pytest.mark.skipif(not Path(FAKETIME).exists(), reason="setting a clock back needs libfaketime")
def test_a_clock_set_back_an_hour_changes_nothing() -> None:
    with lan_of(["one", "two"]) as (_, devices):
        for device in devices:
            times = device.folder / "time"
            times.write_text("+0\n")
            device.settings |= {
                "LD_PRELOAD": FAKETIME,
                "FAKETIME_TIMESTAMP_FILE": str(times),
                "FAKETIME_CACHE_DURATION": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
            device.start()
        wait_until(lambda: devices[1].seat(), devices[1])
        pair(devices[0], devices[1])
        wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
        driver, _ = apart(devices)
        term = driver.seat()["term"]
        (driver.folder / "time").write_text("-3600\n")
        until = time.monotonic() + 6  # two leases
        while time.monotonic() < until:
            assert one_driver(devices) is driver
        assert driver.seat()["term"] == term


def test_without_mdns_devices_are_alone_until_they_are_told_addresses() -> None:
    """First another program has its port for itself, which is said; then it is off."""
    with lan_of(["one", "two"]) as (_, devices):
        one, two = devices
        taker = [sys.executable, "-c", TAKE_PORT]
        process = two.host.start(taker, os.environ, stdout=subprocess.PIPE)
        assert process.stdout
        assert process.stdout.readline() == "taken\n"
        process.stdout.close()
        for device in devices:
            device.start()
        wait_until(lambda: one.drives() and two.drives(), *devices)
        assert {each.seat()["role"] for each in devices} == {"alone"}
        code = one.ask("POST", "/v1/seat/invite")["code"]
        two.ask("POST", "/v1/seat/join", {"code": code, "address": one.host.address})
        wait_until(lambda: one_driver(devices), *devices)
        assert "port 5353" in two.seat()["mdns"]
        assert two.log().count("port 5353") == 1
        process.kill()
        process.wait()
        for device in devices:
            device.kill()
            device.settings["MULETEER_SEAT__MDNS"] = "false"
        two.settings["MULETEER_SEAT__PEERS"] = one.host.address
        for device in devices:
            device.start()
        wait_until(lambda: one.seat() and two.seat(), *devices)
        report("to one driver after both answer", wait_until(lambda: one_driver(devices), *devices))


def test_five_devices_idle_split_and_healed() -> None:
    with household(["attic", "bath", "cellar", "den", "entry"]) as (network, devices):
        idle(devices, 7.5)
        driver, rest = apart(devices)
        minority, majority = [driver, rest[0]], rest[1:]
        network.split(*(each.host for each in minority))
        report(
            "five, to a driver in the majority", wait_until(lambda: never_both(driver, majority), *devices)
        )
        wait_until(lambda: all(each.seat().get("role") == "no majority" for each in minority), *minority)
        network.heal()
        took = wait_until(lambda: one_driver(devices), *devices)
        report("five, to one driver after healing", took)
        assert took < AFTER_HEALING
        wait_until(lambda: enrolled(devices), *devices)
        driver, rest = apart(devices)
        driver.kill()
        took = wait_until(lambda: one_driver(rest), *rest)
        report("five, to a new driver after kill -9", took)
        assert took < AFTER_KILL
