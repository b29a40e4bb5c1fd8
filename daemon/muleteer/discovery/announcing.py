"""This device's records at one zeroconf: registering what is open, announcing it, saying goodbye to the rest.

Knows records and names; not when to announce.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence

from zeroconf import NonUniqueNameException, Zeroconf
from zeroconf.asyncio import AsyncServiceInfo

from muleteer.discovery.announced import TYPE, VOICE_TYPE, Shown

log = logging.getLogger(__name__)

GOODBYE = 0  # seconds a record is still good for; RFC 6762, 10.1


def records(device: str, shown: Shown, addresses: Sequence[str]) -> list[AsyncServiceInfo]:
    """What is announced of the device: names made of its id, which stay the same over restarts."""
    found = []
    if shown.port():
        found.append(_record(TYPE, device, shown.port(), shown.text(device), device, addresses))
    if shown.voice:
        found.append(_record(VOICE_TYPE, f"muleteer-{device}", shown.voice, {}, device, addresses))
    return found


def _record(
    kind: str, name: str, port: int, text: Mapping[str, str], device: str, addresses: Sequence[str]
) -> AsyncServiceInfo:
    return AsyncServiceInfo(
        kind,
        f"{name}.{kind}",
        port=port,
        properties=dict(text),
        server=f"{device}.local.",
        parsed_addresses=list(addresses),
    )


class Announcing:
    """The records registered at `core`."""

    def __init__(self, core: Zeroconf) -> None:
        self._core = core
        self._registered: dict[str, AsyncServiceInfo] = {}
        self._is_ours = False

    async def show(self, wanted: Sequence[AsyncServiceInfo]) -> None:
        """These and no others are answered for; of the others, goodbye is said."""
        names = {each.name for each in wanted}
        for name in self._registered.keys() - names:
            gone = self._registered.pop(name)
            self._core.registry.async_remove(gone)
            self._core.async_send(self._core.generate_service_broadcast(gone, GOODBYE))
        for each in wanted:
            if each.name in self._registered:
                self._core.registry.async_update(each)
            else:
                await self._claim(each)
                self._core.registry.async_add(each)
            self._registered[each.name] = each

    def say(self) -> None:
        """Announce all of it."""
        for each in self._registered.values():
            self._core.async_send(self._core.generate_service_broadcast(each, None))

    def goodbye(self) -> None:
        """Once: the library would take a third of a second to say it thrice."""
        self._registered.clear()
        if goodbye := self._core.generate_unregister_all_services():
            self._core.async_send(goodbye)

    async def _claim(self, info: AsyncServiceInfo) -> None:
        """Ask, once, whether the name is anybody's. Another one with our id is a copied card, or a liar: our
        own record is still right."""
        if self._is_ours or info.type != TYPE:
            return
        self._is_ours = True
        try:
            await self._core.async_check_service(info, False)
        except NonUniqueNameException:
            log.warning("Another device announces this one's id; was its card copied, with the state folder?")
