"""What this device knows and reaches for its people, opened in order: the services that tools are lent.

Knows which parts there are, what each needs and how it is closed. Does not know tools; `services.py` says
what each part can do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from starlette.routing import BaseRoute

from muleteer.board import Board
from muleteer.broadcast import Broadcast
from muleteer.calendars import FolderCalendars
from muleteer.chime import Chime
from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.discovery.mdns import Discovery
from muleteer.documents.service import FolderDocuments
from muleteer.gateway.devices import devices_route
from muleteer.gateway.events import events_route
from muleteer.gateway.memory import ForgetTalks, memory_routes
from muleteer.gateway.offline import offline_route
from muleteer.gateway.seat import no_seat_routes, seat_routes
from muleteer.gateway.sessions import Conversations
from muleteer.gateway.timers import timer_routes
from muleteer.identity import device_id
from muleteer.offline import Switch
from muleteer.ports.service import SerialPorts
from muleteer.privacy import HomeMemory, Privacy
from muleteer.reloading import Apply
from muleteer.ringing import DeviceTimers
from muleteer.seat.etcd_service import EtcdSeatService
from muleteer.seat.service import SeatService
from muleteer.sensors import Sensors
from muleteer.services import Absent, Services
from muleteer.store.memory import TurnMemory
from muleteer.store.notebook import SqliteNotebook
from muleteer.store.timers import TimerStore
from muleteer.web.fetching import WebReader

log = logging.getLogger(__name__)

NO_SEAT = "This device takes no part in a household: {}."


@dataclass(frozen=True, slots=True)
class Household:
    """What tools are lent, what the parts add to the status, by name, what they answer over HTTP, and which
    sections of changed settings they take up at once."""

    services: Services
    memory: TurnMemory
    conversations: Conversations
    broadcast: Broadcast
    privacy: Privacy
    offline: Switch
    device: str
    discovery: Discovery
    seat: SeatService | EtcdSeatService | None
    sections: dict[str, Callable[[], Mapping[str, object]]] = field(default_factory=dict)
    routes: list[BaseRoute] = field(default_factory=list)
    live: dict[str, Apply] = field(default_factory=dict)


async def open_household(settings: Settings, closing: Closing, forget_talks: ForgetTalks) -> Household:
    """Open every part; each adds how it is closed. A part that cannot be opened says so in the log, and again
    to every tool that uses it: the daemon goes on. `forget_talks` is the engine's share of forgetting."""
    device = _device(settings.state)
    notebook = SqliteNotebook(settings.state / "notebook.db", device)
    closing.add("notebook", notebook.close)
    await notebook.open()
    memory = TurnMemory(
        settings.state / "memory.db", settings.memory.keep_days, settings.memory.keep_turns, device
    )
    closing.add("memory", memory.close)
    await memory.open()
    conversations = Conversations(memory, settings.memory.session_days, forget_talks)
    privacy = Privacy(settings.state / "private")
    closing.add("what is private", privacy.close)
    await privacy.open()
    offline = Switch(settings.state / "offline.json", settings.tools.offline)
    await offline.open()
    reader = WebReader(*_web(settings))
    serial = SerialPorts(settings.serial)
    closing.add("serial ports", serial.close)
    calendars = FolderCalendars(settings.calendar.folders)
    documents = FolderDocuments(settings.files, settings.state)
    closing.add("files", documents.close)
    documents.open()
    broadcast = Broadcast()
    chime = Chime(settings.timers.command, settings.timers.command_seconds)
    timers = DeviceTimers(TimerStore(settings.state / "timers.db"), broadcast, chime)
    closing.add("timers", timers.close)
    await timers.open()
    discovery = Discovery(device, settings.seat.mdns)
    closing.add("discovery", discovery.close)
    discovery.open()
    seat, why = await _seat(settings, closing, broadcast, discovery)
    return Household(
        Services(
            documents=documents,
            calendars=calendars,
            timers=timers,
            seat=seat.slots if seat else Absent(why),
            inbox=seat.results if seat else Absent(why),
            notebook=notebook,
            memory=HomeMemory(memory, privacy),
            offline=offline,
            web=reader,
            serial=serial,
            board=Board(Sensors()),
        ),
        memory,
        conversations,
        broadcast,
        privacy,
        offline,
        device,
        discovery,
        seat,
        {"offline": offline.report, "files": documents.report},
        [
            offline_route(offline),
            *memory_routes(notebook, memory, forget_talks),
            *conversations.routes(),
            *timer_routes(timers, timers.silence),
            events_route(broadcast),
            devices_route(discovery, seat.view if seat else None),
            *(seat_routes(seat, seat.view) if seat else no_seat_routes(why)),
        ],
        {
            "web": lambda new: reader.limit(*_web(new)),
            "files": lambda new: documents.take_up(new.files),
            "serial": lambda new: serial.take_up(new.serial),
            "calendar": lambda new: calendars.take_up(new.calendar.folders),
        },
    )


def _web(settings: Settings) -> tuple[bool, Sequence[str], float, int]:
    """The limits of a `WebReader`."""
    web = settings.web
    return web.private, web.allow, web.seconds, web.size * 1024


def _device(folder: Path) -> str:
    """This device's id; empty where it can be neither read nor kept."""
    try:
        return device_id(folder)
    except OSError as error:
        log.error("What is kept will not name this device: %s.", error.strerror or error)
        return ""


async def _seat(
    settings: Settings, closing: Closing, broadcast: Broadcast, discovery: Discovery
) -> tuple[SeatService | EtcdSeatService | None, str]:
    """This device's part in the household; None, and why, where what it must not forget is damaged."""
    try:
        in_etcd = settings.seat.enabled and settings.seat.backend == "etcd"
        seat: SeatService | EtcdSeatService
        if in_etcd:
            seat = EtcdSeatService(settings.seat, settings.state, broadcast)
        else:
            seat = SeatService(settings.seat, settings.state, broadcast, discovery)
        await seat.open()
    except OSError as error:
        why = NO_SEAT.format(str(error.strerror or error).rstrip("."))
        log.error("%s", why)
        return None, why
    closing.add("seat", seat.close)
    leave = seat.leave if isinstance(seat, SeatService) else seat.close
    closing.add("part in the household", leave, urgent=True)  # another device takes over at once
    return seat, ""
