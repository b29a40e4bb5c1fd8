from __future__ import annotations

import os
import subprocess
import sys

from muleteer.footprint import footprint


def test_the_daemon_the_engine_and_what_is_left() -> None:
    told = footprint(os.getpid())
    assert told["daemon"] == told["engine"]
    assert told["daemon"] is not None
    assert told["available"] is not None
    assert told["total"] is not None
    assert 1 << 20 < told["daemon"] < told["total"]
    assert 0 < told["available"] <= told["total"]


def test_an_engine_that_has_ended_takes_nothing() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert footprint(ended.pid)["engine"] is None
    assert footprint(None)["engine"] is None
