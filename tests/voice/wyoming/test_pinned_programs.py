"""wyoming-openwakeword and wyoming-satellite, which need older versions of the protocol's package: each has a
place of its own, which `make wyoming` installs. Without that these tests are skipped.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path

import pytest

from muleteer.voice.parts import FRAME_BYTES, RATE, PartGone, Sound
from muleteer.voice.wyoming.satellite import Satellite
from muleteer.voice.wyoming.speech import WyomingSpeech
from muleteer.voice.wyoming.wake import WyomingWake
from tests.voice.wyoming.programs import Program, free_port, piper, running, said

PLACE = Path(__file__).resolve().parents[3] / ".cache" / "wyoming"
WORD = "hey_jarvis"
QUIET = bytes(RATE * 2)  # a second
MICROPHONE = """
import sys, time
with open(sys.argv[1], "rb") as file:
    sound = file.read()
while True:
    for start in range(0, len(sound), 2048):
        sys.stdout.buffer.write(sound[start : start + 2048].ljust(2048, bytes(1)))
        sys.stdout.buffer.flush()
        time.sleep(0.064)
"""

pytestmark = pytest.mark.skipif(not PLACE.exists(), reason="make wyoming installs what this needs")


def listener(port: int) -> list[str]:
    program = [
        str(PLACE / "wake/bin/python"),
        "-m",
        "wyoming_openwakeword",
        "--uri",
        f"tcp://127.0.0.1:{port}",
    ]
    return [*program, "--preload-model", WORD]


@pytest.fixture
async def spoken(tmp_path: Path) -> tuple[bytes, bytes]:
    """A call, and something else."""
    place = tmp_path / "s"
    with running(piper(f"unix://{place}"), place):
        speech = WyomingSpeech(f"unix://{place}")
        return await said(speech, "Hey Jarvis!"), await said(speech, "What time is it in Istanbul?")


async def heard(hears: Callable[[bytes], str], pcm: bytes) -> set[str]:
    """What is heard in it, twice as fast as it was said."""
    found = set()
    for start in range(0, len(pcm) - FRAME_BYTES + 1, FRAME_BYTES):
        found.add(hears(pcm[start : start + FRAME_BYTES]))
        await asyncio.sleep(0.01)
    return found - {""}


async def test_openwakeword_hears_its_word_and_no_other_and_is_found_again(
    spoken: tuple[bytes, bytes],
) -> None:
    call, other = spoken
    port = free_port()
    program = Program(listener(port), port)
    wake = WyomingWake(f"wyoming://127.0.0.1:{port}", [WORD])
    assert await heard(wake.hears, QUIET + other + QUIET) == set()
    assert len(await heard(wake.hears, call + QUIET)) == 1
    wake.reset()
    assert await heard(wake.hears, QUIET) == set()
    assert len(await heard(wake.hears, call + QUIET)) == 1
    program.kill()
    with pytest.raises(PartGone, match="The wake word at"):
        await heard(wake.hears, QUIET * 5)
    with running(listener(port), port):
        assert len(await heard(_patient(wake), QUIET * 5 + call + QUIET)) == 1
        await wake.close()


def _patient(wake: WyomingWake) -> Callable[[bytes], str]:
    def hears(frame: bytes) -> str:
        try:
            return wake.hears(frame)
        except PartGone:
            return ""

    return hears


async def test_a_satellite_calls_is_heard_and_speaks(spoken: tuple[bytes, bytes], tmp_path: Path) -> None:
    call, other = spoken
    ear, board = free_port(), free_port()
    (tmp_path / "heard").write_bytes(QUIET * 3 + call + other + QUIET * 3)
    (tmp_path / "microphone").write_text(MICROPHONE)
    command = [str(PLACE / "satellite/bin/python"), "-m", "wyoming_satellite", "--name", "board"]
    command += ["--uri", f"tcp://127.0.0.1:{board}"]
    command += ["--wake-uri", f"tcp://127.0.0.1:{ear}", "--wake-word-name", WORD]
    command += ["--mic-command", f"{sys.executable} {tmp_path}/microphone {tmp_path}/heard"]
    command += ["--snd-command", f"tee {tmp_path}/played", "--snd-command-rate", str(RATE)]
    with running(listener(ear), ear), running(command, board):
        satellite = Satellite(f"wyoming://127.0.0.1:{board}")
        async with asyncio.timeout(60), aclosing(satellite.frames()) as frames:
            frame = await anext(frames)
            assert satellite.wake.hears(frame)
            assert any(b"".join([await anext(frames) for _ in range(50)]))
            await satellite.play(Sound(call, RATE))
            satellite.wake.reset()
            await satellite.close()
    assert (tmp_path / "played").stat().st_size >= len(call)
