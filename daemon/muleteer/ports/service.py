"""The service that tools are lent: every declared device, its readings and its switches, by name.

Knows names and which device has them. What a device does with a request is `device.py`'s business.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from difflib import get_close_matches
from functools import partial

from serial.tools.list_ports import comports

from muleteer.calling.threads import in_thread
from muleteer.ports.device import Device
from muleteer.ports.finding import Listing, connect, described
from muleteer.ports.settings import DeviceSettings, SerialSettings, folded
from muleteer.services import Port, Reading, Told

NEAR = 0.8  # of difflib's ratio: one wrong letter in five; less makes a cellar of a seller
SMALL = frozenset(("a", "at", "for", "in", "is", "now", "of", "on", "sensor", "state", "status", "the"))
ARTICLES = re.compile(r"^(the|my|our|a|an|der|die|das|den|dem|ein|eine|el|la|los|las|le|les|il|lo) ")


class SerialPorts:
    """Implements `services.Serial`. `listing` gives the ports that are plugged in."""

    def __init__(self, settings: SerialSettings, listing: Listing = comports) -> None:
        self._settings = settings.devices
        self._listing = listing
        self._devices = {name: self._device(name, each) for name, each in self._settings.items()}
        self._name_all()

    async def take_up(self, settings: SerialSettings) -> None:
        """Use these devices from now on. One that stays as it was keeps its port: opening resets many."""
        before, self._settings = self._settings, settings.devices
        stay = {name for name, each in self._settings.items() if before.get(name) == each}
        gone = [device for name, device in self._devices.items() if name not in stay]
        self._devices = {
            name: self._devices[name] if name in stay else self._device(name, each)
            for name, each in self._settings.items()
        }
        self._name_all()
        await asyncio.gather(*(each.close() for each in gone))

    def _device(self, name: str, settings: DeviceSettings) -> Device:
        return Device(name, settings, partial(connect, settings, self._listing))

    def _name_all(self) -> None:
        self._home: dict[str, str] = {}  # device by reading or switch
        kinds: dict[str, list[str]] = {"readings": [], "switches": [], "devices": [], "receivers": []}
        for device, each in self._settings.items():
            self._home |= dict.fromkeys((*each.sensors, *each.switches), device)
            kinds["readings"] += [*each.sensors, *(n for n, one in each.switches.items() if one.state)]
            kinds["switches"] += each.switches
            kinds["devices"].append(device)
            kinds["receivers"] += [device] * each.send
        self._names = {kind: tuple(names) for kind, names in kinds.items()}

    def names(self, kind: str) -> tuple[str, ...]:
        """All names of a kind, in the order of the settings."""
        return self._names.get(kind, ())

    async def find(self, kind: str, said: str) -> list[str]:
        """The names that `said` may mean. To act on a thing takes its name; to look, a near one will do."""
        return resolve(said, self.names(kind), near=kind == "readings")

    async def read(self, names: Sequence[str]) -> list[Reading]:
        """One reading for each name, in their order; devices are asked at the same time."""
        by_device: dict[str, list[str]] = {}
        for name in names:
            by_device.setdefault(self._home[name], []).append(name)
        found = await asyncio.gather(*(self._devices[device].read(own) for device, own in by_device.items()))
        readings = {reading.name: reading for each in found for reading in each}
        return [readings[name] for name in names]

    async def switch(self, name: str, on: bool) -> Told:
        return await self._devices[self._home[name]].switch(name, "on" if on else "off")

    async def send(self, device: str, text: str) -> Told:
        """Raises `OSError` also for a device whose settings do not say `send = true`."""
        if device not in self.names("receivers"):
            raise OSError(f"the device {device} takes no free text; the settings must say send = true for it")
        return await self._devices[device].send(text)

    async def ports(self) -> list[Port]:
        """The ports there are, at most 32. Raises `OSError`."""
        return await in_thread(lambda: described(self._settings, self._listing), "serial ports", lambda: None)

    async def close(self) -> None:
        """Close every port; a request that is being served is waited for."""
        await asyncio.gather(*(each.close() for each in self._devices.values()))


def resolve(said: str, names: Sequence[str], *, near: bool) -> list[str]:
    """The names that are meant: all for nothing said; the one of that name; when `near`, else those that have
    all the words, or the only one that is spelled nearly so."""
    wanted = ARTICLES.sub("", folded(said))
    by_form = {folded(name): name for name in names}
    if not wanted or wanted in by_form:
        return [by_form[wanted]] if wanted else list(names)
    if not near:
        return []
    words = set(wanted.split()) - SMALL
    held = [name for form, name in by_form.items() if words and words <= set(form.split())]
    held = held or [name for form, name in by_form.items() if set(form.split()) <= words]
    if held:
        return held
    close = get_close_matches(wanted, by_form, n=2, cutoff=NEAR)
    return [by_form[close[0]]] if len(close) == 1 else []
