"""The whole daemon with all its paths, on real sockets; only the model is none.

It runs in a thread of its own, with a loop of its own, since what asks it here does not await.
"""

from __future__ import annotations

import asyncio
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import uvloop

from muleteer import daemon
from muleteer.closing import Stop
from muleteer.config import Settings
from tests.gateway.forwarding import forwarded
from tests.gateway.openapi.babbling import BabblingEngine
from tests.home import write_home

START_SECONDS, STOP_SECONDS = 60.0, 30.0


@pytest.fixture(scope="package")
def url() -> Iterator[str]:
    """Where the Unix socket is reached, on which no token is asked for and nobody is too fast."""
    with tempfile.TemporaryDirectory(prefix="mule") as name, pytest.MonkeyPatch.context() as patch:
        home = Path(name)
        patch.setattr(daemon, "_engine", lambda settings: BabblingEngine())
        patch.setenv("HOME", name)
        for variable in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"):
            patch.delenv(variable, raising=False)
        with served(settings_of(home), home / "s") as url:
            yield url


def settings_of(home: Path) -> Settings:
    (home / "none.gguf").write_bytes(b"GGUF")
    papers, calendars = write_home(home)
    return Settings.model_validate(
        {
            "state": home / "state",
            "engine": {"model": str(home / "none.gguf")},
            "gateway": {"socket": home / "s", "listen": "loopback", "port": 0},
            "seat": {"mdns": False, "port": 0},
            "files": {"folders": [papers]},
            "calendar": {"folders": [calendars]},
        }
    )


@contextmanager
def served(settings: Settings, socket: Path) -> Iterator[str]:
    """The daemon while the block runs."""
    ready = threading.Event()
    found: dict[str, str] = {}
    ask: list[object] = []

    async def serve() -> None:
        loop, stop = asyncio.get_running_loop(), Stop()
        ask.append(lambda: loop.call_soon_threadsafe(stop.ask))
        async with forwarded(socket) as url:
            found["url"] = url
            code = await daemon.serve(settings, ready.set, stop)
        found["code"] = str(code)
        ready.set()

    def run() -> None:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(START_SECONDS)
        assert "code" not in found, "the daemon did not start; its log says why"
        yield found["url"]
    finally:
        for each in ask:
            assert callable(each)
            each()
        thread.join(STOP_SECONDS)
        assert not thread.is_alive()
    assert found["code"] == "0"
