"""A room with a loudspeaker and a microphone that hears it, in a real sound server without any hardware."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

SERVER = (
    *("pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disable-shm=yes"),
    *("--realtime=no", "--high-priority=no"),
)

LISTENER = "parec --latency-msec=20 --rate=48000 -d room.monitor | { head -c 1; cat > /dev/null; }"


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[subprocess.Popen[bytes]]:
    """The server's process. Somebody else listens, too, without whom an idle room hears only every 2 s."""
    socket = tmp_path / "native"
    monkeypatch.setenv("PULSE_SERVER", f"unix:{socket}")
    monkeypatch.setenv("PULSE_RUNTIME_PATH", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    modules = (
        f"module-native-protocol-unix auth-anonymous=1 socket={socket}",
        "module-null-sink sink_name=room rate=48000 sink_properties=device.description=Room",
    )
    loads = [word for module in modules for word in ("-L", module)]
    server = subprocess.Popen((*SERVER, *loads), stderr=subprocess.DEVNULL)
    try:
        while subprocess.run(("pactl", "info"), capture_output=True).returncode:  # until it is there
            assert server.poll() is None, "PulseAudio has ended"
        with subprocess.Popen(
            LISTENER, shell=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True
        ) as listener:
            assert listener.stdout
            listener.stdout.read(1)
            yield server
            os.killpg(listener.pid, signal.SIGKILL)
    finally:
        server.kill()
        server.wait()
