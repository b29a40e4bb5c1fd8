"""Packets of mDNS as devices and strangers send them, and what hears them, without a network."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

from zeroconf import DNSIncoming, DNSOutgoing  # type: ignore[attr-defined]
from zeroconf._cache import DNSCache
from zeroconf._handlers.record_manager import RecordManager
from zeroconf.asyncio import AsyncServiceInfo

from muleteer.discovery.announced import TYPE, Announced, Shown
from muleteer.discovery.announcing import records
from muleteer.discovery.hearing import Hearing

ME = "00" * 16
RESPONSE = 0x8400  # flags of RFC 1035: an answer, with authority


def announcement(
    device: str, shown: Shown, addresses: tuple[str, ...] = ("10.0.0.5",), ttl: int | None = None
) -> bytes:
    """What the device sends; with a `ttl` of 0, its goodbye."""
    return packet(records(device, shown, addresses)[0], ttl)


def packet(info: AsyncServiceInfo, ttl: int | None = None) -> bytes:
    """An announcement of whatever that says."""
    out = DNSOutgoing(RESPONSE)
    out.add_answer_at_time(info.dns_pointer(ttl), 0)
    out.add_answer_at_time(info.dns_service(ttl), 0)
    out.add_answer_at_time(info.dns_text(ttl), 0)
    for address in info.dns_addresses(ttl):
        out.add_answer_at_time(address, 0)
    return b"".join(out.packets())


def stranger(device: str, text: dict[str, str] | bytes, port: int = 7433, name: str = "") -> bytes:
    """An announcement with any text."""
    info = AsyncServiceInfo(
        TYPE,
        f"{name or device}.{TYPE}",
        port=port,
        properties=text,
        server="x.local.",
        parsed_addresses=["10.0.0.66"],
    )
    return packet(info)


class Ear:
    """A `Hearing` with a cache behind it, as zeroconf has one. `time` is the clock, `wanted` the members."""

    def __init__(self, wanted: Callable[[str], bool] = lambda device: False) -> None:
        self.time = 0.0
        self.told: list[Announced] = []
        self.asked: list[str] = []
        self.cache = DNSCache()
        self.hearing = Hearing(ME, self.told.append, self.asked.append, wanted, lambda: self.time)
        around = SimpleNamespace(cache=self.cache, async_notify_all=lambda: None)
        self._records = RecordManager(around)  # type: ignore[arg-type]  # what it uses of one
        self._records.listeners.add(self.hearing)

    def hear(self, content: bytes, scope: int | None = None) -> None:
        """A packet from the network, at the interface `scope`."""
        message = DNSIncoming(content, scope_id=scope)
        if message.valid and message.is_response():
            self._records.async_updates_from_response(message)

    def devices(self) -> list[str]:
        return [each.id for each in self.hearing.devices()]
