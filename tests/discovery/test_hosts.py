"""Being found on real hosts: daemons of their own, with one name, late networks, IPv6 alone, and a flood."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests import lan
from tests.seat.devices import Device, enrolled, lan_of, one_driver, pair, wait_until

pytestmark = pytest.mark.skipif(bool(lan.MISSING), reason=f"hosts on one machine: {lan.MISSING}")

HERE = Path(__file__).parent
LAN = {"MULETEER_GATEWAY__LISTEN": "lan", "MULETEER_WYOMING__LISTEN": "lan"}
FLOOD = 10_000  # names
MOST_GROWTH = 24 << 20  # bytes a device may grow by in a flood; the records alone are 25 MB


def id_of(device: Device) -> str:
    return (device.folder / "state" / "device-id").read_text().strip()


def listed(device: Device) -> dict[str, dict[str, Any]]:
    """What the device says of others, by id."""
    try:
        return {each["id"]: each for each in device.ask("GET", "/v1/devices")["devices"]}
    except OSError:
        return {}


def seen(network: lan.Lan, seconds: float = 2.0) -> list[dict[str, Any]]:
    """What a program of a visitor sees."""
    with lan.guest(network, "visitor") as host:
        command = host.command([sys.executable, str(HERE / "onlooker.py"), host.address, str(seconds)])
        said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=60).stdout
    found: list[dict[str, Any]] = json.loads(said)
    return found


def stopped(device: Device) -> None:
    device.stop()
    assert device.process
    device.process.wait(60)


def test_devices_with_one_hostname_are_told_apart_and_are_the_same_after_each_restart() -> None:
    """And one of which nothing is open looks around without being seen."""
    with lan_of(["raspberrypi"] * 3, **LAN) as (network, devices):
        one, two, closed = devices
        closed.settings |= dict.fromkeys(LAN, "off")
        two.settings["MULETEER_WYOMING__ALLOW"] = one.host.address
        one.host.add_bridge("docker0", "172.17.0.1/16")
        for device in devices:
            device.start()
        wait_until(lambda: listed(one) and listed(two), *devices)
        first, second = id_of(one), id_of(two)
        assert first != second
        told = listed(two)[first]
        assert told["addresses"] == [one.host.address], "what leads to containers is left out"
        assert (told["clients_port"], told["household_port"], told["member"]) == (8765, None, False)
        wait_until(lambda: set(listed(closed)) == {first, second}, *devices)
        before = seen(network)
        assert [each["name"] for each in before] == sorted(
            [
                *(f"{each}._muleteer._tcp.local." for each in (first, second)),
                *(f"muleteer-{each}._wyoming._tcp.local." for each in (first, second)),
            ]
        )
        ours = [each for each in before if "_muleteer" in each["name"]]
        assert all(sorted(each["text"]) == ["id", "port", "proto", "role"] for each in ours)
        assert all(each["port"] == (8765 if each in ours else 10500) for each in before)
        said = {each["name"][9:41]: each["said"] for each in before if each not in ours}
        assert said == {first: f"Muleteer {first[:4]}", second: None}, "two talks to one alone"
        for _ in range(3):
            stopped(one)
            wait_until(lambda: first not in listed(two), two)
            one.start()
            wait_until(lambda: first in listed(two), *devices)
        assert seen(network) == before


def test_a_network_that_comes_late_is_found() -> None:
    with lan_of(["early", "late"], **LAN) as (_, devices):
        early, late = devices
        address = late.host.address
        late.host.lose_addresses()
        for device in devices:
            device.start()
        wait_until(lambda: "there is no network yet" in late.log(), *devices)
        assert late.ask("GET", "/v1/devices")["mdns"] == "there is no network yet"
        late.host.move(address)
        took = wait_until(lambda: id_of(late) in listed(early) and id_of(early) in listed(late), *devices)
        print(f"\n  from the late address until both see each other: {took:.1f} s", end="")
        late.host.move("10.77.0.99")
        wait_until(lambda: listed(early)[id_of(late)]["addresses"] == ["10.77.0.99"], *devices)


def test_with_ipv6_alone_devices_find_each_other_and_are_a_household() -> None:
    with lan_of(["one", "two"], **LAN) as (_, devices):
        for device in devices:
            device.host.lose_addresses("-4")
            device.start()
        wait_until(lambda: listed(devices[0]) and listed(devices[1]), *devices)
        (told,) = listed(devices[0]).values()
        assert [each[:4] for each in told["addresses"]] == ["fe80"]
        pair(devices[0], devices[1])  # found by mDNS: no address is told
        wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
        (told,) = listed(devices[0]).values()
        assert told["member"]


def test_one_with_ipv6_alone_and_one_with_both_are_a_household_where_an_address_is_named() -> None:
    """By mDNS they do not find each other: an interface that has IPv4 speaks nothing else."""
    with lan_of(["both", "six"], **LAN) as (_, devices):
        both, six = devices
        six.host.lose_addresses("-4")
        both.host.also("fd00::1")
        six.host.also("fd00::2")
        six.settings["MULETEER_SEAT__PEERS"] = "fd00::1"
        for device in devices:
            device.start()
        wait_until(lambda: both.seat() and six.seat(), *devices)
        code = both.ask("POST", "/v1/seat/invite")["code"]
        six.ask("POST", "/v1/seat/join", {"code": code, "address": "fd00::1"})
        wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)


def test_a_flood_of_devices_hides_no_member_and_takes_little() -> None:
    with lan_of(["one", "two"], **LAN) as (network, devices):
        one, two = devices
        for device in devices:
            device.start()
        wait_until(lambda: one.seat() and two.seat(), *devices)
        pair(one, two)
        wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
        stopped(two)
        wait_until(lambda: not listed(one), one)
        memory, used = psutil.Process(one.pid).memory_info().rss, one.cpu()
        with lan.guest(network, "stranger") as host:
            command = host.command([sys.executable, str(HERE / "flood.py"), host.address, str(FLOOD)])
            flood = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            wait_until(lambda: len(listed(one)) == 64, one)
            two.start()
            wait_until(lambda: listed(one).get(id_of(two), {}).get("member"), *devices)
            wait_until(lambda: one_driver(devices) and enrolled(devices), *devices)
            began = time.monotonic()
            assert one.seat()
            print(f"\n  an answer while flooded: {time.monotonic() - began:.3f} s", end="")
            said, _ = flood.communicate(timeout=120)
        assert said == "sent\n"
        grown = psutil.Process(one.pid).memory_info().rss - memory
        print(f"\n  {FLOOD} names: {grown / 2**20:.1f} MiB, {one.cpu() - used:.1f} s of a processor", end="")
        assert grown < MOST_GROWTH
        assert len(listed(one)) <= 65
