from __future__ import annotations

import asyncio
import os
import select
import signal
import subprocess
import sys
from contextlib import aclosing

import pytest

from muleteer.engine import wire
from muleteer.engine.child import End, describe_end, started
from muleteer.engine.protocol import LoadSettings
from tests.engine import mayfly, scripted_worker


@pytest.mark.parametrize(
    ("returncode", "out_of_memory", "last_line", "cause", "crash"),
    [
        (-9, False, "", "was killed by signal 9 (SIGKILL: sent by a person, or by the kernel", False),
        (
            -9,
            True,
            "",
            "was killed by signal 9 (SIGKILL: most likely by the kernel, as memory ran out",
            False,
        ),
        (-11, True, "", "was killed by signal 11 (SIGSEGV: a memory fault in native code)", True),
        (-4, False, "", "was killed by signal 4 (SIGILL: an instruction that this processor lacks", True),
        (-7, False, "", "was killed by signal 7 (SIGBUS: the model file was cut short", True),
        (-6, False, "", "was killed by signal 6 (SIGABRT: native code gave up)", True),
        (-1, False, "", "was killed by signal 1 (SIGHUP)", False),
        (-40, False, "", "was killed by signal 40", False),
        (0, False, "", "ended by itself with exit code 0", False),
        (1, False, "ImportError: x", "ended by itself with exit code 1 after saying: ImportError: x", False),
    ],
)
def test_each_end_is_told_in_words(
    returncode: int, out_of_memory: bool, last_line: str, cause: str, crash: bool
) -> None:
    end = describe_end(returncode, out_of_memory, last_line)
    assert end.cause.startswith(cause)
    assert end == End(end.cause, crash)


LOOPS = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
LINUX = pytest.mark.skipif(
    sys.platform != "linux", reason="reads /proc; only Linux ends a child with its parent"
)


@LINUX
@LOOPS
def test_the_process_has_its_socket_and_no_other_file_of_the_daemon(loop: str) -> None:
    async def files_of_a_ready_process() -> dict[int, str]:
        async with started((sys.executable, scripted_worker.__file__)) as child:
            child.send(wire.to_engine(wire.Load("any", LoadSettings())))
            async with aclosing(child.messages()) as messages:
                assert [type(await anext(messages)) for _ in range(2)] == [wire.Loading, wire.Ready]
            folder = f"/proc/{child.pid}/fd"
            return {int(name): os.readlink(f"{folder}/{name}") for name in os.listdir(folder)}

    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    try:
        with asyncio.Runner(loop_factory=mayfly.LOOPS[loop]) as runner:
            files = runner.run(files_of_a_ready_process())
        assert os.readlink(f"/proc/self/fd/{writing}") not in files.values()
        assert set(files) > {0, 1, 2}
        assert len(files) == 4
        assert files[max(files)].startswith("socket:")
    finally:
        os.close(reading)
        os.close(writing)


@LINUX
@LOOPS
def test_the_process_does_not_outlive_a_daemon_that_was_killed(loop: str) -> None:
    """Not even in the middle of native code that never looks at the socket."""
    command = [sys.executable, mayfly.__file__, loop, sys.executable, scripted_worker.__file__]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout
        engine = os.pidfd_open(int(daemon.stdout.readline()))
        try:
            assert select.select([engine], [], [], 0) == ([], [], [])
            daemon.send_signal(signal.SIGKILL)
            assert select.select([engine], [], [], 10) == ([engine], [], [])
        finally:
            os.close(engine)
