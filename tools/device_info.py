"""What this device reports about itself."""

from __future__ import annotations

import ipaddress
import socket
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any, Literal, TypeVar

import psutil

from muleteer.tool import BoardState, Data, Result, Services, figure, joined, say, say_delay, tool

T = TypeVar("T")
Part = Literal["all", "memory", "disk", "cpu", "temperature", "throttling", "battery", "uptime", "network"]
Finding = tuple[str, Mapping[str, object]]  # a sentence, and the raw values it was made from
Look = Callable[[], Finding | None]

FULL_PERCENT = 90  # of memory or disk; what is left is gone with the next update or recording
HOT_CELSIUS = 80  # where a Raspberry Pi begins to slow itself down
LOW_PERCENT = 20  # of a battery
SAMPLE = 0.3  # seconds over which CPU load is measured; shorter is noise, longer is a wait


@tool(
    effect="read",
    craft="Choose the one part that was asked for; 'all' only for a general question.",
    examples=(
        "how much free memory does this device have",
        "how full is the SD card",
        "wie lange läufst du schon",
        "is the internet connection up",
        "are you running on battery",
        "what is your temperature",
        "how much load is there on your processor",
        "are you online",
        "what is the network address of this computer",
        "wie viel Arbeitsspeicher ist frei",
        "wie heiß ist dein Chip",
        "cuánto espacio queda en el disco",
        "cuánta batería te queda",
        "quelle est la température de ton processeur",
        "es-tu connecté au réseau",
        "quanto spazio libero ha il disco",
        "sei collegato a internet",
        "pilin ne kadar dolu",
        "hast du Internet",
        "hoe warm is je processor",
        "how long since you were restarted",
        "how much RAM do you have",
        "is your disk full",
        "what's your uptime",
        "do you have a network connection",
        "is the processor slowed down",
        "is the power supply too weak",
        "wie viel Speicherplatz ist noch frei",
        "wie voll ist die Platte",
        "wie ist deine IP",
        "bist du mit dem WLAN verbunden",
        "wie ausgelastet ist die CPU",
        "qué temperatura tiene tu procesador",
        "combien de mémoire libre as-tu",
        "da quanto tempo sei acceso",
        "işlemcin ne kadar sıcak",
        "is your CPU getting hot",
    ),
)
async def device_info(home: Services, part: Part = "all") -> Result:
    """Tell this device's memory, disk, CPU, temperature, battery, uptime or network. Use it for
    questions about the device itself.

    part: which part to look at; throttling is a weak power supply, too; network is whether it is online
    """
    parts = PARTS | {
        "throttling": throttling(await _asked(home.board.look)),
        "network": connection(await _asked(home.offline.reason)),
    }
    if part != "all":
        return report({part: parts[part]})
    result = report(parts)
    found = unusual(result.payload.values) if isinstance(result.payload, Data) else []
    verdict = say("Unusual: {signs}.", signs=joined(", ", found)) if found else say("Nothing is unusual.")
    return replace(result, text=joined(" ", (verdict, result.text)))


async def _asked(service: Callable[[], Awaitable[T]]) -> T | None:
    try:
        return await service()
    except OSError:  # a part that this device lacks
        return None


def unusual(values: Mapping[str, Any]) -> list[str]:
    """What needs somebody's attention, from the raw values that are there."""
    celsius = values.get("temperature", {}).get("celsius", {}).values()
    charge = values.get("battery", {"percent": 100, "plugged": True})
    signs = {
        say("memory is nearly full"): values.get("memory", {}).get("percent", 0) > FULL_PERCENT,
        say("the disk is nearly full"): values.get("disk", {}).get("percent", 0) > FULL_PERCENT,
        say("it is hot"): max(celsius, default=0) > HOT_CELSIUS,
        say("the battery is low"): charge["percent"] < LOW_PERCENT and not charge["plugged"],
    }
    return [sign for sign, seen in signs.items() if seen] + list(values.get("throttling", {}).get("now", ()))


def report(parts: Mapping[str, Look]) -> Result:
    """One result from the parts; one that this board does not have, or does not show, is named as such."""
    sentences: list[str] = []
    values: dict[str, object] = {}
    missing: list[str] = []
    hidden: list[str] = []
    for name, look in parts.items():
        try:
            finding = look()
        except (OSError, psutil.Error):  # a file of /proc or /sys that this board or sandbox does not show
            hidden.append(name)
            continue
        if finding is None:
            missing.append(name)
        else:
            sentences.append(finding[0])
            values[name] = finding[1]
    if missing:
        names = joined(", ", map(say, missing))
        sentences.append(say("This device reports no value for: {parts}.", parts=names))
    if hidden:
        sentences.append(say("I could not look at: {parts}.", parts=joined(", ", map(say, hidden))))
    text = joined(" ", sentences)
    if values:
        return Result.ok(text, Data(values))
    return Result.unavailable(text) if hidden else Result.empty(text)


def memory() -> Finding:
    now = psutil.virtual_memory()
    values = {"total": now.total, "available": now.available, "percent": now.percent}
    return (
        _used("Memory", now.available, now.total, now.percent),
        values,
    )


def disk() -> Finding:
    now = psutil.disk_usage("/")
    values = {"total": now.total, "free": now.free, "percent": now.percent}
    return _used("Disk", now.free, now.total, now.percent), values


def _used(what: str, free: int, total: int, percent: float) -> str:
    values = {"free": figure(_size(free)), "total": figure(_size(total)), "percent": f"{percent:.0f}"}
    return say(f"{what}: {{free}} of {{total}} are free ({{percent}} % used).", **values)


def cpu() -> Finding:
    percent, cores = psutil.cpu_percent(interval=SAMPLE), psutil.cpu_count() or 1
    load = psutil.getloadavg()[0]
    values = {"percent": percent, "cores": cores, "load": load}
    pattern = f"CPU: {{percent}} % busy on {{cores}} {'core' if cores == 1 else 'cores'}."
    return say(pattern, percent=f"{percent:.0f}", cores=cores), values


def temperature() -> Finding | None:
    sensors = psutil.sensors_temperatures() if hasattr(psutil, "sensors_temperatures") else {}
    readings = {
        f"{chip} {entry.label}".strip(): entry.current
        for chip, entries in sensors.items()
        for entry in entries
        if entry.current is not None
    }
    if not readings:
        return None
    hottest = max(readings, key=readings.__getitem__)
    said = say("Temperature: {degrees} °C ({chip}).", degrees=f"{readings[hottest]:.0f}", chip=hottest)
    return said, {"celsius": readings}


def battery() -> Finding | None:
    now = psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    if now is None:
        return None
    state = "on mains power" if now.power_plugged else "on battery power"
    said = say(f"Battery: {{percent}} %, {state}.", percent=f"{now.percent:.0f}")
    return said, {"percent": now.percent, "plugged": now.power_plugged}


def uptime() -> Finding:
    seconds = int(time.time() - psutil.boot_time())
    span = say_delay(timedelta(minutes=seconds // 60), 3)
    return say("Uptime: running for {span}.", span=span), {"seconds": seconds}


def throttling(state: BoardState | None) -> Look:
    """What the firmware says of the processor and its power; nothing on boards that have none."""

    def look() -> Finding | None:
        if state is None or state.now is None:
            return None
        now, before = " and ".join(state.now), " and ".join(state.before or ())
        text = say("Throttling: {now}.", now=now) if now else say("Throttling: none now.")
        if before:
            since = say("Some time since the start: {before}.", before=before)
            text = joined(" ", (text, since))
        return text, {"now": list(state.now), "before": list(state.before or ())}

    return look


def connection(offline: str | None) -> Look:
    """The network, and why tools may not use it (`offline`; empty if they may, None if that is not known)."""

    def look() -> Finding:
        text, values = network()
        said = joined(" ", (text, f"{offline}.")) if offline else text
        return said, {**values, "offline": bool(offline)}

    return look


def network() -> Finding:
    up = {name for name, state in psutil.net_if_stats().items() if state.isup}
    links: dict[str, list[str]] = {}
    for name, entries in sorted(psutil.net_if_addrs().items()):
        for entry in entries:
            if name in up and entry.family in (socket.AF_INET, socket.AF_INET6):
                address = ipaddress.ip_address(entry.address.partition("%")[0])
                if not address.is_loopback and not address.is_link_local:
                    links.setdefault(name, []).append(str(address))
    if not links:
        return say("Network: not connected."), {"interfaces": links}
    shown = ", ".join(f"{name} ({', '.join(found)})" for name, found in links.items())
    return say("Network: connected through {links}.", links=shown), {"interfaces": links}


PARTS: dict[str, Look] = {
    "memory": memory,
    "disk": disk,
    "cpu": cpu,
    "temperature": temperature,
    "throttling": throttling(None),
    "battery": battery,
    "uptime": uptime,
    "network": network,
}


def _size(number: int) -> str:
    """Bytes in decimal units, as disks are sold."""
    value, units = float(number), ["bytes", "kB", "MB", "GB", "TB"]
    while value >= 1000 and len(units) > 1:
        value /= 1000
        units.pop(0)
    return f"{value:.1f} {units[0]}"
