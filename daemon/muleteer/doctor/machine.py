"""Checks of the machine: Python, processor, memory for the model, disk, heat, clock. None needs the daemon.

Each is given what it judges, so that any machine can be judged; `checks` looks at this one.
"""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path

import psutil

import muleteer
from muleteer.board import BITS
from muleteer.config import Settings
from muleteer.doctor.finding import Finding, bad, doubtful, good
from muleteer.engine import models
from muleteer.errors import MuleteerError
from muleteer.sensors import Reading, Sensors

MIB = 2**20
LEAST_PYTHON = (3, 11)
# Instructions without which a token takes several times as long, by how Linux names them.
FAST = {"x86_64": ("avx2", "fma", "f16c"), "aarch64": ("asimddp",)}
OVERHEAD = 1.5  # of the model file: a rough allowance for context, buffers and the daemon
LEAST_DISK, SOME_DISK = 64 * MIB, 1024 * MIB  # state files of prefixes take half a gigabyte at most
LEAST_FILES = 1000
GROUP, PORT = "224.0.0.251", 5353  # mDNS
ASK_SECONDS = 5.0


def checks(settings: Settings) -> Iterator[Finding]:
    """All of them, on this machine."""
    yield python(sys.version_info[:2], find_spec("llama_cpp") is not None)
    yield processor(platform.machine(), features(_text(Path("/proc/cpuinfo"))))
    yield memory(settings, psutil.virtual_memory().total)
    yield disk(settings.state)
    yield heat(Sensors().read(), settings.engine.hot)
    yield clock(time.time(), Path(muleteer.__file__).stat().st_mtime, _synchronised())
    yield mdns(settings.seat.enabled and settings.seat.mdns)


def python(version: tuple[int, int], llama: bool) -> Finding:
    said = f"Python {version[0]}.{version[1]}"
    if version < LEAST_PYTHON:
        return bad("python", said, "Install Python 3.11 or later, and Muleteer with it.")
    if not llama:
        return bad("python", f"{said} without llama-cpp-python", "Install it: pip install llama-cpp-python.")
    return good("python", said)


def features(cpuinfo: str) -> frozenset[str]:
    """What the first processor can do, from /proc/cpuinfo."""
    for line in cpuinfo.splitlines():
        name, _, value = line.partition(":")
        if name.strip().lower() in ("flags", "features"):
            return frozenset(value.split())
    return frozenset()


def processor(machine: str, has: Collection[str]) -> Finding:
    wanted = FAST.get(machine)
    if wanted is None or not has:
        return doubtful(
            "processor", f"{machine}, whose abilities are not known", "Use a 64-bit ARM or x86 machine."
        )
    missing = [each for each in wanted if each not in has]
    if missing:
        advice = "Choose a small model: muleteer model use tiny."
        return doubtful("processor", f"{machine} without {', '.join(missing)}: decoding is slow", advice)
    return good("processor", f"{machine} with {', '.join(wanted)}")


def memory(settings: Settings, total: int) -> Finding:
    """The model's file against the machine's memory; the load itself counts exactly."""
    name = settings.engine.model
    if name == models.NONE:
        return good("model", "this device runs without a model")
    try:
        path = models.resolve(name, settings.models)
        size = path.stat().st_size
    except MuleteerError as error:
        return bad("model", str(error), f"Fetch it: muleteer model pull {name}.")
    except OSError as error:
        return bad("model", f"{name} cannot be read: {error.strerror}", "Let the service's user read it.")
    need = int(size * OVERHEAD) + settings.engine.parked_memory * MIB
    said = f"{name} needs about {need // MIB} of {total // MIB} MiB of memory"
    if need > total:
        return bad("model", said, "Choose a smaller one: muleteer model list.")
    if need > total * 0.8:
        return doubtful("model", said, "Choose a smaller one, or lower engine.context.")
    return good("model", said)


def disk(folder: Path) -> Finding:
    while not folder.exists():
        folder = folder.parent
    try:
        free, status = shutil.disk_usage(folder).free, os.statvfs(folder)
    except OSError as error:
        return bad("disk", f"{folder}: {error.strerror}", "Choose another state folder, or mend the disk.")
    said = f"{free // MIB} MiB are free at {folder}"
    if status.f_files and status.f_favail < LEAST_FILES:
        return bad("disk", f"{said}, but room for only {status.f_favail} files", "Remove files.")
    if free < LEAST_DISK:
        return bad("disk", said, "Free some: nothing can be kept.")
    if free < SOME_DISK:
        return doubtful("disk", said, "Free some, or lower engine.parked_disk.")
    return good("disk", said)


def heat(reading: Reading, hot: float) -> Finding:
    now = [words for bit, words in BITS.items() if reading.bits and reading.bits & bit]
    if now:
        advice = "Use a stronger power supply." if reading.undervoltage else "Give the board a cooler."
        return doubtful("heat", " and ".join(now), advice)
    if reading.celsius is None:
        return good("heat", "the board does not tell its temperature")
    said = f"{reading.celsius:.0f} °C"
    if reading.celsius >= hot:
        return doubtful(
            "heat", f"{said}: background turns wait from {hot:g} on", "Give the board air or a cooler."
        )
    return good("heat", said)


def clock(now: float, built: float, synchronised: bool | None) -> Finding:
    """`built` is when this Muleteer was installed: no true clock is before that."""
    said = time.strftime("%Y-%m-%d %H:%M", time.localtime(now))
    if now < built - 86_400:
        return bad("clock", f"it says {said}, which is over", "Set it (timedatectl set-time) or connect it.")
    if synchronised is False:
        advice = "Offline this is all right; else enable it: timedatectl set-ntp true."
        return doubtful("clock", f"{said}, not synchronised", advice)
    return good("clock", said)


def mdns(wanted: bool) -> Finding:
    """Whether this process could hear mDNS."""
    if not wanted:
        return good("mdns", "it is turned off")
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            listening.bind(("", PORT))
            everywhere = socket.inet_aton(GROUP) + socket.inet_aton("0.0.0.0")  # noqa: S104 (any interface)
            listening.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, everywhere)
    except OSError as error:
        advice = "Connect a network, or name other devices under seat.peers in the settings."
        return doubtful("mdns", f"multicast cannot be heard: {error.strerror}", advice)
    return good("mdns", "multicast can be heard")


def _synchronised() -> bool | None:
    """None where nobody knows."""
    try:
        done = subprocess.run(
            ["timedatectl", "show", "--property=NTPSynchronized", "--value"],
            capture_output=True,
            text=True,
            timeout=ASK_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return {"yes": True, "no": False}.get(done.stdout.strip())


def _text(path: Path) -> str:
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""
