"""A command that is told to end unwinds first, so that its temporary folders and its children end with it.

Knows signals; not commands. One that has a say of its own, such as `serve`, takes them over.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from muleteer import exits

ENDING = (signal.SIGTERM, signal.SIGHUP)  # Ctrl-C unwinds by itself


class Told(SystemExit):
    """Somebody has sent this signal."""

    def __init__(self, number: int) -> None:
        super().__init__(exits.INTERRUPTED)
        self.number = number


@contextmanager
def unwinding() -> Iterator[None]:
    """Within it such a signal raises `Told` in the main thread; out of it the process ends by that signal, so
    that whoever started it sees the true cause. A second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    taken = [number for number in ENDING if signal.getsignal(number) is signal.SIG_DFL]
    for number in taken:
        signal.signal(number, _raise)
    try:
        yield
    except Told as told:
        signal.raise_signal(told.number)
        raise
    finally:
        for number in taken:
            if signal.getsignal(number) is _raise:
                signal.signal(number, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)
    raise Told(number)
