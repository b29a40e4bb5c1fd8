"""Where a device is plugged in, and why a port cannot be opened, in sentences.

Knows pyserial's list of ports, /dev and the errors of the kernel. Everything here blocks for some
milliseconds. The sentences go on after a device's name.
"""

from __future__ import annotations

import errno
import grp
import os
import termios
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import serial
from serial.tools.list_ports_common import ListPortInfo

from muleteer.ports.settings import DeviceSettings
from muleteer.services import Port

BY_ID = Path("/dev/serial/by-id")  # names that stay the same in whichever socket a device is plugged
MOST_PORTS = 32  # listed; a board has a handful
WRITE_SECONDS = 2.0  # for one line; a device that takes none for so long does not read
TICK = 0.05  # seconds between two looks at what else there is to do, while nothing comes

Listing = Callable[[], Iterable[ListPortInfo]]


def listed(listing: Listing) -> list[ListPortInfo]:
    """The serial ports there are now. Raises `OSError`."""
    try:
        return list(islice(listing(), MOST_PORTS))
    except (TypeError, ValueError) as error:  # pyserial reads a number from a file that has just gone
        raise OSError("the ports changed while they were looked at; try again") from error


def described(settings: dict[str, DeviceSettings], listing: Listing) -> list[Port]:
    """The ports as people and settings name them. Raises `OSError`."""
    found = {each.device: each for each in listed(listing)}
    stable = dict(_stable())
    for path in [path for each in settings.values() if (path := each.path)]:
        if path.exists() and os.path.realpath(path) not in found:
            found[os.path.realpath(path)] = ListPortInfo(str(path))
    return [
        Port(
            stable.get(path, path),
            each.product or "",
            usb_id(each),
            tuple(name for name, one in settings.items() if _is(one, path, each)),
        )
        for path, each in sorted(found.items())
    ]


def usb_id(port: ListPortInfo) -> str:
    """vendor:product:serial, or nothing for a port that is not USB."""
    if port.vid is None or port.pid is None:
        return ""
    return f"{port.vid:04x}:{port.pid:04x}" + (f":{port.serial_number}" if port.serial_number else "")


def locate(settings: DeviceSettings, listing: Listing) -> str:
    """The path of the device's port now. Raises `OSError` when it is not plugged in, or not the only one."""
    if settings.path:
        return str(settings.path)
    found = [each for each in listed(listing) if _is_usb(settings.usb, each)]
    if not found:
        raise OSError(f"is not plugged in (no USB device {settings.usb})")
    if len(found) > 1:
        which = " or ".join(sorted({usb_id(each) for each in found}))
        raise OSError(f"is one of {len(found)} with the USB id {settings.usb}; set usb = {which}, or path")
    return found[0].device


def connect(settings: DeviceSettings, listing: Listing) -> serial.Serial:
    """The open port, for this process alone. Raises `OSError` that says what to do."""
    path = locate(settings, listing)
    try:
        return serial.Serial(path, settings.baud, timeout=TICK, write_timeout=WRITE_SECONDS, exclusive=True)
    except (OSError, termios.error, ValueError) as error:
        raise OSError(_why(path, error)) from error


def _why(path: str, error: Exception) -> str:
    number = getattr(error, "errno", None) or (error.args[0] if error.args else None)
    if number in (errno.ENOENT, errno.ENODEV, errno.ENXIO):
        return f"is not plugged in (no {path})"
    if number in (errno.EACCES, errno.EPERM):
        return f"may not be used by this user; add it to the group {_group(path)} and log in again ({path})"
    if number in (errno.EBUSY, errno.EAGAIN):
        return f"is in use by another program; close that one ({path})"
    if isinstance(error, ValueError):
        return f"cannot be used at this baud rate ({path})"
    return f"cannot be opened as a serial port ({path})"


def _group(path: str) -> str:
    """The group that may use the port; the usual one where that cannot be told, or nobody is added to it."""
    try:
        name = grp.getgrgid(os.stat(path).st_gid).gr_name
    except (OSError, KeyError):
        return "dialout"
    return "dialout" if name == "root" else name


def _stable() -> Iterator[tuple[str, str]]:
    for link in BY_ID.glob("*"):
        yield os.path.realpath(link), str(link)


def _is(settings: DeviceSettings, path: str, port: ListPortInfo) -> bool:
    if settings.path:
        return os.path.realpath(settings.path) == path
    return _is_usb(settings.usb, port)


def _is_usb(wanted: str, port: ListPortInfo) -> bool:
    has = usb_id(port).lower()
    return bool(has) and (has == wanted.lower() or has.startswith(f"{wanted.lower()}:"))
