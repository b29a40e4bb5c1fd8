"""A microcontroller at a pseudo-terminal, which says to each line what its script says."""

from __future__ import annotations

import os
import select
import threading
import tty
from collections.abc import Callable, Sequence
from pathlib import Path

Answer = Sequence[bytes | float]  # bytes are sent, a number is a pause in seconds
ENOUGH = 10.0  # seconds for what should come at once, on a machine that is busy
Script = Callable[[str], Answer]


def silent(_: str) -> Answer:
    return ()


class Microcontroller:
    """Plugged in at `path`, a link as those in /dev/serial/by-id; `heard` are the lines that it got."""

    def __init__(self, path: Path, script: Script = silent) -> None:
        self.path = path
        self.script = script
        self.heard: list[str] = []
        self._more = threading.Condition()
        self._gone = threading.Event()
        self._thread: threading.Thread | None = None
        self.plug()

    def plug(self) -> None:
        """Plug it in, at another terminal than before."""
        self._gone = threading.Event()
        self._master, self._slave = os.openpty()
        self._wake_read, self._wake = os.pipe()
        tty.setraw(self._slave)
        os.set_blocking(self._master, False)
        self.path.symlink_to(os.ttyname(self._slave))
        self._thread = threading.Thread(target=self._run, name="microcontroller")
        self._thread.start()

    def unplug(self) -> None:
        """Pull the plug; again is fine."""
        if self._thread is None:
            return
        self._gone.set()
        os.write(self._wake, b"x")
        if self._thread is not threading.current_thread():
            self._thread.join()
        self._thread = None
        self.path.unlink()
        for each in (self._master, self._slave, self._wake, self._wake_read):
            os.close(each)

    def say(self, data: bytes) -> None:
        """Send something unasked; what nobody takes is lost, as on a wire."""
        while data and not self._gone.is_set():
            _, ready, _ = select.select([], [self._master], [], 0.05)
            if ready:
                data = data[os.write(self._master, data[:1024]) :]

    def hears(self, lines: int) -> None:
        """Wait until so many lines have arrived here."""
        with self._more:
            assert self._more.wait_for(lambda: len(self.heard) >= lines, ENOUGH)

    def arrived(self) -> None:
        """Wait until what was said can be read at the other end."""
        assert select.select([self._slave], [], [], ENOUGH)[0]

    def _run(self) -> None:
        rest = b""
        while not self._gone.is_set():
            ready, _, _ = select.select([self._master, self._wake_read], [], [])
            if self._master not in ready:
                return
            *lines, rest = (rest + os.read(self._master, 4096)).split(b"\n")
            for line in lines:
                with self._more:
                    self.heard.append(line.decode())
                    self._more.notify_all()
                self._answer(self.script(line.decode()))

    def _answer(self, answer: Answer) -> None:
        for part in answer:
            if isinstance(part, bytes):
                self.say(part)
            else:
                self._gone.wait(part)


def greenhouse(line: str) -> Answer:
    """A well-behaved one: two sensors, a door, and a lamp that remembers."""
    return {
        "T?": (b"T=21.5\r\n",),
        "H?": (b"H=48\r\n",),
        "D?": (b"D=1\r\n",),
        "L1": (b"L=1\r\n",),
        "L0": (b"L=0\r\n",),
    }.get(line, (b"ERR\r\n",))
