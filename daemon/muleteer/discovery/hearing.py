"""What is heard of other devices, packet by packet, within limits.

A device's announcement is one packet with its whole record, and is read from the packet: the library's cache
keeps ten thousand records of up to 9 kB, and in a flood it drops those first that are of use here. So nothing
that was heard stays in that cache. Knows zeroconf's records; not sockets, nor who is a member.
"""

from __future__ import annotations

import ipaddress
import socket
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv6Address

from zeroconf import (  # type: ignore[attr-defined]  # the records are exported without being in __all__
    DNSAddress,
    DNSPointer,
    DNSRecord,
    DNSService,
    DNSText,
    IPVersion,
    RecordUpdate,
    RecordUpdateListener,
    ServiceInfo,
    Zeroconf,
)

from muleteer.discovery.announced import TYPE, Announced, device_of, read

MOST_DEVICES = 64  # strangers remembered, who can announce any number; beyond it members alone
GONE_SECONDS = 120.0  # without an announcement, of which every device makes one in 28 seconds
LONGEST_TEXT = 512  # bytes; ours has under 100
INTERNET = 1  # class IN of RFC 1035


@dataclass(slots=True)
class _Packet:
    """The records of one packet: by device, and addresses by the name of their host."""

    services: dict[str, DNSService] = field(default_factory=dict)
    texts: dict[str, DNSText] = field(default_factory=dict)
    addresses: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    named: dict[str, None] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)


class Hearing(RecordUpdateListener):
    """Hears for the device `me`. `told` is given every announcement; `ask` the id of a device that is not
    known, and of which less than the whole record came. Devices that are `wanted` are kept among any number
    of strangers. `now` is the loop's clock."""

    def __init__(
        self,
        me: str,
        told: Callable[[Announced], None],
        ask: Callable[[str], None],
        wanted: Callable[[str], bool],
        now: Callable[[], float],
    ) -> None:
        self._me, self._told, self._ask, self._wanted, self._now = me, told, ask, wanted, now
        self._devices: dict[str, Announced] = {}
        self._zeroconf: Zeroconf | None = None
        self._cached: list[DNSRecord] = []

    def devices(self) -> list[Announced]:
        """Those that were announced lately, by id."""
        self._forget()
        return sorted(self._devices.values(), key=lambda each: each.id)

    def async_update_records(self, zc: Zeroconf, now: float, records: list[RecordUpdate]) -> None:
        """A packet has come; called by zeroconf, before it caches the records."""
        heard = [each.new for each in records]
        self._zeroconf, self._cached = zc, heard
        packet = _sorted(heard, now)
        for device in packet.gone:
            self._devices.pop(device, None)
        for device in packet.named:
            if device != self._me:
                self._take(device, packet)

    def async_update_records_complete(self) -> None:
        """Drop what zeroconf has cached but names: our own, by which it learns that it is taken, and those of
        the devices that are remembered, since it tells no goodbye of any other."""
        heard, self._cached = dict.fromkeys(self._cached), []
        if self._zeroconf is None:
            return
        cache = self._zeroconf.cache
        for record in heard:
            if not self._is_known(record) and cache.get(record):
                cache.async_remove_records((record,))

    def _is_known(self, record: DNSRecord) -> bool:
        if not isinstance(record, DNSPointer) or (record.key, record.class_) != (TYPE, INTERNET):
            return False
        device = device_of(record.alias)
        return device == self._me or device in self._devices

    def resolved(self, device: str, info: ServiceInfo) -> None:
        """What was asked for has come."""
        found = [_address(each) for each in info.ip_addresses_by_version(IPVersion.All)]
        self._keep(device, info, [each for each in found if each])

    def _take(self, device: str, packet: _Packet) -> None:
        service, text = packet.services.get(device), packet.texts.get(device)
        addresses = packet.addresses[service.server_key] if service else []
        if service and text and addresses:
            if len(text.text) <= LONGEST_TEXT:
                info = ServiceInfo(TYPE, f"{device}.{TYPE}", port=service.port, properties=text.text)
                self._keep(device, info, sorted(addresses, key=lambda each: ":" in each))
        elif device not in self._devices:
            self._ask(device)

    def _keep(self, device: str, info: ServiceInfo, addresses: list[str]) -> None:
        told = read(device, info.port or 0, info.decoded_properties, addresses, self._now())
        if told is None:
            return
        if device not in self._devices and not self._wanted(device):
            self._forget()
            if len(self._devices) >= MOST_DEVICES:
                return
        self._devices[device] = told
        self._told(told)

    def _forget(self) -> None:
        oldest = self._now() - GONE_SECONDS
        for device in [id for id, each in self._devices.items() if each.seen <= oldest]:
            del self._devices[device]
            cache = self._zeroconf.cache if self._zeroconf else None
            if cache and (name := cache.current_entry_with_name_and_alias(TYPE, f"{device}.{TYPE}")):
                cache.async_remove_records((name,))


def _sorted(records: Iterable[DNSRecord], now: float) -> _Packet:
    packet = _Packet()
    for record in records:
        if isinstance(record, DNSAddress):
            if not record.is_expired(now) and (address := _address_of(record)):
                packet.addresses[record.key].append(address)
            continue
        pointed = record.alias if isinstance(record, DNSPointer) and record.key == TYPE else ""
        device = device_of(pointed or record.key)
        if not device:
            continue
        if record.is_expired(now):
            packet.gone += [device] if pointed else []
            continue
        packet.named[device] = None
        if isinstance(record, DNSService):
            packet.services[device] = record
        elif isinstance(record, DNSText):
            packet.texts[device] = record
    return packet


def _address_of(record: DNSAddress) -> str:
    try:
        address = ipaddress.ip_address(record.address)
    except ValueError:
        return ""
    scope = f"%{record.scope_id}" if record.scope_id and address.version == 6 else ""
    return _address(ipaddress.ip_address(f"{address}{scope}"))


def _address(address: IPv4Address | IPv6Address) -> str:
    """Of the link only with the interface where it was heard, without which nobody can connect to it: by its
    name, which is what every program takes."""
    if isinstance(address, IPv4Address) or not address.is_link_local:
        return str(address).partition("%")[0]
    try:
        interface = socket.if_indextoname(int(address.scope_id or 0))
    except (OSError, OverflowError):
        return ""
    return f"{str(address).partition('%')[0]}%{interface}"
