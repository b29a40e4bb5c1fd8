"""A process that ends when the one that started it does, however that ended.

    python -m muleteer.tied PID COMMAND...

is `muleteer COMMAND...` for as long as the process PID, which must be the one that starts it. Linux alone can
do that; elsewhere it is the command line as always.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Sequence

PR_SET_PDEATHSIG = 1  # from linux/prctl.h: the signal a process gets when the thread that started it ends


def command(*arguments: str) -> list[str]:
    """The program and arguments for `muleteer ARGUMENTS`, tied to this process. To be started from a thread
    that lasts: the kernel counts its end, and not the process's."""
    return [sys.executable, "-m", "muleteer.tied", str(os.getpid()), *arguments]


def tie(number: signal.Signals) -> None:
    """Get this signal when the thread that started this process ends."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, number)


def main(arguments: Sequence[str]) -> None:
    tie(signal.SIGTERM)
    if os.getppid() != int(arguments[0]):  # it ended before that
        return
    from muleteer.cli import main as run

    run(list(arguments[1:]), prog_name="muleteer")


if __name__ == "__main__":
    main(sys.argv[1:])
