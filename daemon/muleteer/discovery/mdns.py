"""This device on the network's mDNS: announcing itself while anything of it is open, and listening to others.

Announced are id, protocol, ports and role, nothing else, under a name made of the id, since hostnames are
given twice. A silent network is not healed until somebody speaks, so everyone does now and then, and after a
change of the own addresses. Knows zeroconf; not who is a member, nor what listens at the ports.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Protocol

from zeroconf import (  # type: ignore[attr-defined]  # two are exported without being in __all__
    DNSOutgoing,
    DNSQuestion,
    IPVersion,
)
from zeroconf.asyncio import AsyncServiceInfo, AsyncZeroconf

from muleteer.discovery.announced import TYPE, Announced, Shown
from muleteer.discovery.announcing import Announcing, records
from muleteer.discovery.hearing import Hearing
from muleteer.discovery.interfaces import Reach, reach

log = logging.getLogger(__name__)

ANNOUNCE_SECONDS = (20.0, 28.0)  # between two announcements: a link that was cut is found again in that time
LOOK_SECONDS = 3.0  # between two looks at the own addresses
CALM_SECONDS = 2.5  # between two changes: a network that comes up changes several times
RETRY_SECONDS = 30.0  # until mDNS is tried again where it could not be had
LISTEN_SECONDS = 2.0  # for answers; a device takes 0.12 s for one, and the first question may be lost
REPEATS = 2  # of an announcement after a change, and of a question, as one packet may be lost
RESOLVE_MS = 2000  # for the rest of a record of which only the name was heard
MOST_RESOLVING = 8  # strangers, at once
QUERY, POINTER, INTERNET = 0, 12, 1  # RFC 1035: flags of a question, PTR, IN


class Follower(Protocol):
    """Who is told of every device that is announced anew, and of this device's addresses when they change.
    Devices that it wants are kept among any number of strangers."""

    def announced(self, told: Announced) -> None: ...
    def moved(self, addresses: Sequence[str]) -> None: ...
    def is_wanted(self, device: str) -> bool: ...


class Discovery:
    """Between `open` and `close`, on the network while something of `device` is shown or somebody looks."""

    def __init__(self, device: str, enabled: bool = True) -> None:
        self._device, self._enabled = device, enabled and bool(device)
        self._shown = Shown()
        self._lookers = 0
        self._changed = asyncio.Event()
        self._follower: Follower | None = None
        self._task: asyncio.Task[None] | None = None
        self._listening: float | None = None  # since when, on the loop's clock
        self._resolving: dict[str, asyncio.Task[None]] = {}
        self._zeroconf: AsyncZeroconf | None = None
        now = asyncio.get_running_loop().time
        self._hearing = Hearing(device, self._told, self._ask, self._is_wanted, now)
        self.problem = "" if device else "this device has no id"
        self.problem = self.problem if enabled else "off by seat.mdns"

    def open(self) -> None:
        """Begin. What cannot be had is logged, and why is in `problem`, empty when all is well."""
        if self._enabled:
            self._task = asyncio.create_task(self._run(), name="discovery")

    async def close(self) -> None:
        """Say goodbye. Harmless when repeated."""
        if self._task:
            self._task.cancel()
            await asyncio.wait({self._task})
            self._task = None

    def follow(self, follower: Follower) -> None:
        """Tell this one what is heard."""
        self._follower = follower

    def show(
        self,
        *,
        clients: int | None = None,
        household: int | None = None,
        voice: int | None = None,
        role: str | None = None,
    ) -> None:
        """Let the network know, soon, of what is as `Shown` has it now; what is not given stays as it was."""
        given: dict[str, Any] = {"clients": clients, "household": household, "voice": voice, "role": role}
        shown = replace(self._shown, **{key: value for key, value in given.items() if value is not None})
        if shown != self._shown:
            self._shown = shown
            self._changed.set()

    def devices(self) -> list[Announced]:
        """Other devices that were announced lately, by id."""
        return self._hearing.devices()

    async def look(self) -> list[Announced]:
        """The same; a device that has not been listening does so for a moment, without announcing itself."""
        now = asyncio.get_running_loop().time()
        if self._task and (self._listening is None or now < self._listening + LISTEN_SECONDS):
            self._lookers += 1
            self._changed.set()
            try:
                await asyncio.sleep(LISTEN_SECONDS)
            finally:
                self._lookers -= 1
                self._changed.set()
        return self.devices()

    def _is_needed(self) -> bool:
        return self._shown.is_open() or self._lookers > 0

    async def _run(self) -> None:
        """Until cancelled. Where mDNS cannot be had, the reason is logged once, and it is tried again."""
        try:
            while True:
                self._changed.clear()
                if not self._is_needed():
                    await self._changed.wait()
                    continue
                try:
                    await self._open_and_stay()
                except (OSError, RuntimeError) as error:  # RuntimeError: an interface that has just gone
                    self._say(_explain(error))
                    await self._wait(RETRY_SECONDS)
        except Exception:
            log.exception("Discovery by mDNS has failed; seat.peers in the settings works without it.")
            self.problem = "it has failed; the daemon's log says why"

    def _say(self, problem: str) -> None:
        if problem != self.problem:
            log.warning("Devices cannot be found by mDNS: %s; seat.peers in the settings works.", problem)
        self.problem = problem

    async def _wait(self, seconds: float) -> None:
        """Until something changes, so long at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()

    async def _open_and_stay(self) -> None:
        here = await asyncio.to_thread(reach)
        while not here.speaking:
            self._say("there is no network yet")
            self._changed.clear()
            await self._wait(LOOK_SECONDS)
            if not self._is_needed():
                return
            here = await asyncio.to_thread(reach)
        zeroconf = self._zeroconf = AsyncZeroconf(list(here.speaking), ip_version=_version(here))
        try:
            await zeroconf.zeroconf.async_wait_for_start()
            zeroconf.zeroconf.async_add_listener(self._hearing, None)
            self._listening = asyncio.get_running_loop().time()
            self.problem = ""
            await self._stay(zeroconf, here)
        finally:
            self._zeroconf = self._listening = None
            for task in self._resolving.values():
                task.cancel()
            with contextlib.suppress(OSError):
                await zeroconf.async_close()

    async def _stay(self, zeroconf: AsyncZeroconf, here: Reach) -> None:
        """Announce now and then, and at once after a change."""
        core, loop = zeroconf.zeroconf, asyncio.get_running_loop()
        announcing = Announcing(core)
        spoken, changed, due, announcements, questions = here, True, 0.0, 0, REPEATS
        try:
            while self._is_needed():
                if changed:
                    await announcing.show(records(self._device, self._shown, here.addresses))
                    announcements = REPEATS
                if here != spoken:
                    await zeroconf.async_update_interfaces(list(here.speaking), _version(here))
                    spoken, questions = here, REPEATS
                if announcements or loop.time() >= due:
                    announcing.say()
                    announcements = max(0, announcements - 1)
                    due = loop.time() + random.uniform(*ANNOUNCE_SECONDS)  # noqa: S311 (no secret)
                if questions:
                    core.async_send(_question())
                    questions -= 1
                await (asyncio.sleep(CALM_SECONDS) if changed else self._wait(LOOK_SECONDS))
                changed, here = await self._look_around(here)
        finally:
            announcing.goodbye()

    async def _look_around(self, here: Reach) -> tuple[bool, Reach]:
        """Whether anything has changed, and where this device is now."""
        now = await asyncio.to_thread(reach)
        changed = self._changed.is_set()
        self._changed.clear()
        if not now.speaking or now == here:
            return changed, here
        log.info("This device has other addresses now: %s.", ", ".join(now.addresses))
        if self._follower:
            self._follower.moved(now.addresses)
        return True, now

    def _is_wanted(self, device: str) -> bool:
        return self._follower is not None and self._follower.is_wanted(device)

    def _told(self, told: Announced) -> None:
        if self._follower:
            self._follower.announced(told)

    def _ask(self, device: str) -> None:
        """Ask for the rest of a device's record."""
        wanted = device not in self._resolving
        if wanted and (self._is_wanted(device) or len(self._resolving) < MOST_RESOLVING):
            task = asyncio.create_task(self._resolve(device), name="mDNS resolving")
            self._resolving[device] = task
            task.add_done_callback(lambda _: self._resolving.pop(device, None))

    async def _resolve(self, device: str) -> None:
        info = AsyncServiceInfo(TYPE, f"{device}.{TYPE}")
        if self._zeroconf and await info.async_request(self._zeroconf.zeroconf, RESOLVE_MS):
            self._hearing.resolved(device, info)


def _version(here: Reach) -> IPVersion:
    six = [":" in each for each in here.speaking]
    return IPVersion.V6Only if all(six) else IPVersion.All if any(six) else IPVersion.V4Only


def _question() -> DNSOutgoing:
    """Which devices there are."""
    question = DNSOutgoing(QUERY)
    question.add_question(DNSQuestion(TYPE, POINTER, INTERNET))
    return question


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "another program has port 5353 for itself"
    return (error.strerror if isinstance(error, OSError) else "") or str(error)
