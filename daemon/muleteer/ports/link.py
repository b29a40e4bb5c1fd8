"""One device's port: ask with a line, get the answer to that and to nothing else.

Blocks; belongs to one thread at a time, which is `device.py`'s business. Opens on demand and again after the
device was away. Nothing is ever sent twice. What came before a question is thrown away first, and after
a question without an answer the next one waits until a late answer would have come.
"""

from __future__ import annotations

import contextlib
import termios
import time
from collections.abc import Callable
from typing import TypeVar

import serial

from muleteer.ports.lines import Lines, shown
from muleteer.ports.protocol import UnclearError
from muleteer.ports.settings import ENDINGS, DeviceSettings

FLOOD = 32_768  # bytes in one exchange; a chatty device sends a hundredth
CHUNK = 4_096  # bytes taken at once, which is what the kernel keeps
QUIET = 0.2  # seconds of silence after which a line has stopped; at 300 baud a byte takes 0.03

T = TypeVar("T")
Connect = Callable[[], serial.Serial]


class SilenceError(OSError):
    """The device is there and said nothing."""


class LostError(OSError):
    """The device went away after something was sent to it, so nobody knows what it did."""


class Link:
    """The port that `connect` opens, spoken to as `settings` say. Sentences go on after the device's name."""

    def __init__(self, connect: Connect, settings: DeviceSettings) -> None:
        self._connect = connect
        self._settings = settings
        self._port: serial.Serial | None = None
        self._lines = Lines()
        self._heard = 0.0  # monotonic seconds of the last byte
        self._late = 0.0  # monotonic seconds until when an earlier question may still be answered

    def prepare(self) -> None:
        """Have the port open and nothing unread in it. Raises `OSError`; nothing was sent then."""
        if self._port is not None:
            try:
                self._drain(self._port, self._late)
                return
            except OSError:
                self.close()  # it was away; it may be back, perhaps at another path
        try:
            self._port = self._connect()
            self._heard = time.monotonic()
            self._lines.restart(broken=True)
            self._drain(self._port, self._heard + max(QUIET, self._settings.settle))
        except OSError:
            self.close()
            raise

    def tell(self, line: str) -> None:
        """Send one line. Raises `LostError`."""
        if self._port is None:
            raise LostError("is not open")
        data = line.encode() + ENDINGS[self._settings.ending]
        try:
            self._port.write(data)
        except serial.SerialTimeoutException as error:
            self.close()
            raise LostError("does not take what is sent to it") from error
        except OSError as error:
            self.close()
            raise LostError("went away") from error

    def hear(self, meaning: Callable[[str], T | None]) -> T:
        """What the first line means that means anything. Raises `SilenceError`,
        `LostError` or `UnclearError`."""
        end = time.monotonic() + self._settings.timeout
        taken, last = 0, ""
        while time.monotonic() < end and taken < FLOOD:
            data = self._some()
            taken += len(data)
            for line in self._lines.feed(data):
                last = line
                if (found := meaning(line)) is not None:
                    return found
        self._late = time.monotonic() + self._settings.timeout
        last = last or self._lines.half()
        if taken >= FLOOD:
            raise UnclearError(f"sends without an end, lately {shown(last)}")
        if last:
            raise UnclearError(f"answered {shown(last)}, which is not what its pattern wants")
        if taken:
            raise UnclearError("answered with nothing that can be read")
        raise SilenceError(f"did not answer within {self._settings.timeout:g} s")

    def close(self) -> None:
        port, self._port = self._port, None
        self._late = 0.0
        if port is not None:
            with contextlib.suppress(OSError):  # it is gone, which is what was wanted
                port.close()

    def _drain(self, port: serial.Serial, until: float) -> None:
        """Throw away what is there and what comes until then. Raises `OSError` if the port is dead."""
        taken = 0
        while taken < FLOOD and (_waiting(port) or time.monotonic() < until):
            data = self._some()
            taken += len(data)
            self._lines.feed(data)
        goes_on = self._lines.inside and time.monotonic() - self._heard < QUIET
        self._lines.restart(broken=goes_on)

    def _some(self) -> bytes:
        """What has come, or what comes first within a tick. Raises `LostError`."""
        if self._port is None:
            raise LostError("went away")
        try:
            data = bytes(self._port.read(max(1, min(_waiting(self._port), CHUNK))))
        except OSError as error:
            self.close()
            raise LostError("went away before it answered") from error
        if data:
            self._heard = time.monotonic()
        return data


def _waiting(port: serial.Serial) -> int:
    """Bytes that can be read at once. Raises `OSError`."""
    try:
        return int(port.in_waiting)
    except termios.error as error:
        raise OSError("went away") from error
