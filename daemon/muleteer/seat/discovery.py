"""Where devices may be, by mDNS: what others announce, and announcing this one.

All of it is a hint. Anybody on the network can announce anything, and a record says nothing about whether its
device still runs, so nothing is decided here. Announced are id, protocol, port and role, nothing else, under
a name made of the id, since hostnames are given twice. A silent network is not healed until somebody speaks,
so everyone does now and then, and after a change of the own addresses. Knows zeroconf; not who is a member.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from zeroconf import NonUniqueNameException, ServiceStateChange, Zeroconf
from zeroconf.asyncio import AsyncServiceBrowser, AsyncServiceInfo, AsyncZeroconf

from muleteer.seat.interfaces import reachable_addresses

log = logging.getLogger(__name__)

TYPE = "_muleteer._tcp.local."
PROTOCOL = 1
ROLE = re.compile(r"[a-z ]{1,16}")
ID = re.compile(r"[0-9a-f]{32}")
ANNOUNCE_SECONDS = (20.0, 28.0)  # between two announcements: a link that was cut is found again in that time
LOOK_SECONDS = 3.0  # between two looks at the own addresses
CALM_SECONDS = 2.5  # between two changes: a network that comes up changes several times
RETRY_SECONDS = 30.0  # until mDNS is tried again where it could not be had
RESOLVE_MS = 2000  # for the addresses of a device whose name was heard
MOST_DEVICES = 64  # remembered; a stranger can announce any number
MOST_RESOLVING = 8  # strangers, at once


@dataclass(frozen=True, slots=True)
class Announced:
    """What a device, or somebody in its name, says about it. `addresses` are IP addresses, `seen` is on the
    loop's clock."""

    id: str
    protocol: int
    role: str
    port: int
    addresses: tuple[str, ...]
    seen: float


class Discovery:
    """Announces and listens while `run` runs. `heard` is told of every device that is announced anew, `moved`
    of this device's addresses when they change; devices that `is_wanted` are looked up among any number of
    strangers."""

    def __init__(
        self,
        device: str,
        port: int,
        heard: Callable[[Announced], None],
        moved: Callable[[list[str]], None],
        is_wanted: Callable[[str], bool],
    ) -> None:
        self._device, self._port = device, port
        self._heard, self._moved, self._is_wanted = heard, moved, is_wanted
        self._role = "alone"
        self._changed = asyncio.Event()
        self._zeroconf: AsyncZeroconf | None = None
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self.devices: dict[str, Announced] = {}
        self.problem = "it is being started"

    def announce(self, role: str) -> None:
        """Let the network know of another role, soon."""
        if role != self._role:
            self._role = role
            self._changed.set()

    async def run(self) -> None:
        """Until cancelled. Where mDNS cannot be had, the reason is logged once, and it is tried again."""
        while True:
            try:
                await self._open_and_stay()
            except OSError as error:
                self._say(_explain(error))
            finally:
                await self._close()
            await asyncio.sleep(RETRY_SECONDS)

    def _say(self, problem: str) -> None:
        if problem != self.problem:
            log.warning("Devices cannot be found by mDNS: %s; seat.peers in the settings works.", problem)
        self.problem = problem

    async def _open_and_stay(self) -> None:
        addresses = await self._addresses()
        while not addresses:
            self._say("there is no network yet")
            await asyncio.sleep(LOOK_SECONDS)
            addresses = await self._addresses()
        zeroconf = self._zeroconf = AsyncZeroconf(interfaces=list(addresses))
        await zeroconf.zeroconf.async_wait_for_start()
        info = self._info(addresses)
        await self._register(zeroconf, info)
        browser = AsyncServiceBrowser(zeroconf.zeroconf, TYPE, handlers=[self._on_change])
        if self.problem:
            log.info("Announced by mDNS at %s, port %d.", ", ".join(addresses), self._port)
        self.problem = ""
        try:
            await self._stay(zeroconf, info, addresses)
        finally:
            with contextlib.suppress(OSError):
                await browser.async_cancel()

    async def _stay(self, zeroconf: AsyncZeroconf, info: AsyncServiceInfo, addresses: list[str]) -> None:
        """Announce again now and then, and at once after a change."""
        loop = asyncio.get_running_loop()
        due = loop.time() + random.uniform(*ANNOUNCE_SECONDS)  # noqa: S311 (no secret)
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_SECONDS):
                    await self._changed.wait()
            now = await self._addresses()
            changed = self._changed.is_set() or (now and now != addresses)
            if changed:
                self._changed.clear()
                if now and now != addresses:
                    log.info("Announced by mDNS at %s, port %d.", ", ".join(now), self._port)
                    self._moved(now)
                    await zeroconf.async_update_interfaces(interfaces=list(now))
                    addresses = now
                info = self._info(addresses)
                zeroconf.zeroconf.registry.async_update(info)
            if changed or loop.time() >= due:
                due = loop.time() + random.uniform(*ANNOUNCE_SECONDS)  # noqa: S311 (no secret)
                core = zeroconf.zeroconf
                core.async_send(core.generate_service_broadcast(info, None))
            if changed:
                await asyncio.sleep(CALM_SECONDS)

    async def _addresses(self) -> list[str]:
        return await asyncio.to_thread(reachable_addresses)

    def _info(self, addresses: list[str]) -> AsyncServiceInfo:
        text = {"id": self._device, "proto": str(PROTOCOL), "port": str(self._port), "role": self._role}
        return AsyncServiceInfo(
            TYPE,
            f"{self._device}.{TYPE}",
            port=self._port,
            properties=text,
            server=f"{self._device}.local.",
            parsed_addresses=addresses,
        )

    async def _register(self, zeroconf: AsyncZeroconf, info: AsyncServiceInfo) -> None:
        """Announce a name that is nobody else's. Another one with our id is a copied card, or a liar: our own
        record is still right."""
        try:
            await zeroconf.async_register_service(info)
        except NonUniqueNameException:
            log.warning("Another device announces this one's id; was its card copied, with the state folder?")
            await zeroconf.async_register_service(info, cooperating_responders=True)

    def _on_change(
        self, zeroconf: Zeroconf, service_type: str, name: str, state_change: ServiceStateChange
    ) -> None:
        device = name.removesuffix(f".{TYPE}")
        if not ID.fullmatch(device) or device == self._device:
            return
        if state_change is ServiceStateChange.Removed:
            self.devices.pop(device, None)
        elif device in self._resolving:
            return
        elif self._is_wanted(device) or len(self._resolving) < MOST_RESOLVING:
            task = asyncio.create_task(self._resolve(zeroconf, name, device), name="mDNS resolving")
            self._resolving[device] = task
            task.add_done_callback(lambda _: self._resolving.pop(device, None))

    async def _resolve(self, zeroconf: Zeroconf, name: str, device: str) -> None:
        info = AsyncServiceInfo(TYPE, name)
        if not await info.async_request(zeroconf, RESOLVE_MS) or not info.port:
            return
        text = info.decoded_properties
        protocol, role = text.get("proto") or "", text.get("role") or ""
        if text.get("id") != device or not protocol.isdecimal() or len(protocol) > 4:
            return
        told = Announced(
            device,
            int(protocol),
            role if ROLE.fullmatch(role) else "unknown",
            info.port,
            tuple(info.parsed_addresses()[:8]),
            asyncio.get_running_loop().time(),
        )
        if device in self.devices or len(self.devices) < MOST_DEVICES:
            self.devices[device] = told
        self._heard(told)

    async def _close(self) -> None:
        """Say goodbye, if the network lets us."""
        for task in self._resolving.values():
            task.cancel()
        zeroconf, self._zeroconf = self._zeroconf, None
        if zeroconf:
            core = zeroconf.zeroconf
            if goodbye := core.generate_unregister_all_services():
                core.async_send(goodbye)  # once: the library would take a third of a second to say it thrice
            with contextlib.suppress(OSError):
                await zeroconf.async_close()


def _explain(error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return "another program has port 5353 for itself"
    return error.strerror or str(error)
