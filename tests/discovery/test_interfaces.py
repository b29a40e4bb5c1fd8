"""Which of a machine's addresses are told to others."""

from __future__ import annotations

import socket
from collections import namedtuple

import psutil
import pytest

from muleteer.discovery.interfaces import MOST, Reach, reach

Address = namedtuple("Address", "family address")
State = namedtuple("State", "isup flags")

UP = "up,broadcast,running,multicast"
TUNNEL = "up,pointopoint,running,noarp,multicast"


def four(address: str) -> Address:
    return Address(socket.AF_INET, address)


def six(address: str) -> Address:
    return Address(socket.AF_INET6, address)


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Address]]:
    """Which interfaces a machine has is the kernel's; here it has those that the test puts into it."""
    addresses: dict[str, list[Address]] = {"lo": [four("127.0.0.1"), six("::1")]}

    def states() -> dict[str, State]:
        return {name: State(name != "eth1", TUNNEL if "vpn" in name else UP) for name in addresses}

    monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
    monkeypatch.setattr(psutil, "net_if_stats", states)
    return addresses


def test_addresses_of_containers_tunnels_and_dead_links_are_left_out(
    machine: dict[str, list[Address]],
) -> None:
    machine |= {
        "eth0": [four("192.168.1.20"), six("fe80::1%eth0"), six("fd00::20")],
        "wlan0": [four("192.168.2.20")],
        "docker0": [four("172.17.0.1"), six("fe80::2%docker0")],
        "br-12ab34cd56ef": [four("172.18.0.1")],
        "vethab12": [four("172.18.0.2"), six("fe80::3%vethab12")],
        "virbr0": [four("192.168.122.1")],
        "cni-podman0": [four("10.88.0.1")],
        "podman1": [four("10.89.0.1")],
        "lxdbr0": [four("10.90.0.1")],
        "wg0": [four("10.8.0.2")],
        "tailscale0": [four("100.64.0.7")],
        "homevpn": [four("10.9.0.2"), six("fe80::4%homevpn")],
        "eth1": [four("192.168.3.20")],
    }
    assert reach() == Reach(("192.168.1.20", "192.168.2.20"), ("192.168.1.20", "192.168.2.20"))


def test_a_bridge_that_a_person_made_counts(machine: dict[str, list[Address]]) -> None:
    machine["br0"] = [four("192.168.1.20")]
    assert reach().addresses == ("192.168.1.20",)


def test_ipv6_counts_where_there_is_no_ipv4_and_speaks_once_an_interface(
    machine: dict[str, list[Address]],
) -> None:
    machine["eth0"] = [six("fe80::1%eth0"), six("fd00::9"), six("2001:db8::7"), six("2001:db8::8")]
    assert reach() == Reach(("2001:db8::7", "2001:db8::8", "fe80::1"), ("fe80::1",))
    machine["wlan0"] = [four("192.168.2.20"), six("fe80::2%wlan0")]
    assert reach().speaking == ("192.168.2.20", "fe80::1")
    assert reach().addresses[0] == "192.168.2.20"


def test_however_many_there_are_few_are_told(machine: dict[str, list[Address]]) -> None:
    machine |= {f"usb{number}": [four(f"10.0.0.{number}"), four(f"10.0.1.{number}")] for number in range(20)}
    machine |= {f"eth{number}": [six(f"fe80::{number}%eth{number}")] for number in range(2, 20)}
    assert len(reach().addresses) == len(reach().speaking) == MOST


def test_no_network_is_none(machine: dict[str, list[Address]]) -> None:
    assert reach() == Reach()
