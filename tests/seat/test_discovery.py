"""What can be decided about discovery without a network; the rest is tested on real hosts."""

from __future__ import annotations

import socket
from collections import namedtuple

import psutil
import pytest
from pydantic import ValidationError

from muleteer.seat.interfaces import MOST, reachable_addresses
from muleteer.settings.seat import PORT, SeatSettings, split_address

Address = namedtuple("Address", "family address")
State = namedtuple("State", "isup")


def test_addresses_of_containers_tunnels_and_dead_links_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which interfaces a machine has is the kernel's; here it has all there are."""
    four = socket.AF_INET
    addresses = {
        "lo": [Address(four, "127.0.0.1")],
        "eth0": [Address(four, "192.168.1.20"), Address(socket.AF_INET6, "fe80::1")],
        "wlan0": [Address(four, "192.168.2.20")],
        "docker0": [Address(four, "172.17.0.1")],
        "br-12ab": [Address(four, "172.18.0.1")],
        "vethab": [Address(four, "172.18.0.2")],
        "wg0": [Address(four, "10.8.0.2")],
        "eth1": [Address(four, "192.168.3.20")],
    } | {f"usb{number}": [Address(four, f"10.0.0.{number}")] for number in range(20)}
    monkeypatch.setattr(psutil, "net_if_addrs", lambda: addresses)
    monkeypatch.setattr(psutil, "net_if_stats", lambda: {name: State(name != "eth1") for name in addresses})
    assert len(reachable_addresses()) == MOST
    for name in list(addresses):
        if name.startswith("usb"):
            del addresses[name]
    assert reachable_addresses() == ["192.168.1.20", "192.168.2.20"]


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("192.168.1.20", "192.168.1.20", PORT),
        ("shed.lan:7000", "shed.lan", 7000),
        ("fe80::1", "fe80::1", PORT),
        ("[fe80::1]:7000", "fe80::1", 7000),
        ("[fe80::1]", "fe80::1", PORT),
    ],
)
def test_addresses_are_read_as_people_write_them(text: str, host: str, port: int) -> None:
    assert split_address(text) == (host, port)
    assert SeatSettings.model_validate({"peers": [text]}).peers == (text,)


@pytest.mark.parametrize("text", ["", "a b", "shed:0", "shed:99999", "http://shed", ":7433", "[]:7433"])
def test_what_is_no_address_is_told(text: str) -> None:
    with pytest.raises(ValidationError, match="is no address; write it like"):
        SeatSettings.model_validate({"peers": [text]})
