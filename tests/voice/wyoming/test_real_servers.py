"""wyoming-piper says a sentence, wyoming-faster-whisper understands it; both are killed and started again.

Each runs as its own process, without any network.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.engine import models
from muleteer.voice.parts import RATE, PartGone
from muleteer.voice.recognition.weights import known
from muleteer.voice.wyoming.recognizer import WyomingRecognizer
from muleteer.voice.wyoming.speech import WyomingSpeech
from tests.voice.spoken.answers import Spoken
from tests.voice.wyoming.programs import Program, piper, running, said

pytestmark = pytest.mark.model("base")


def whisper(socket: Path) -> list[str]:
    standard = models.locate("standard")
    assert standard
    folder = known()["base"].folder(standard.parent)
    program = [sys.executable, "-m", "wyoming_faster_whisper", "--uri", f"unix://{socket}"]
    library = [
        "--stt-library",
        "faster-whisper",
        "--local-files-only",
        "--compute-type",
        "int8",
        "--beam-size",
        "1",
    ]
    return [*program, "--model", str(folder), "--data-dir", str(socket.parent), *library]


@pytest.fixture(scope="module")
def sockets(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Path]]:
    folder = tmp_path_factory.mktemp("w")
    mouth, ear = folder / "mouth", folder / "ear"
    with running(piper(f"unix://{mouth}"), mouth), running(whisper(ear), ear):
        yield mouth, ear


async def test_an_answer_is_said_and_understood_again(sockets: tuple[Path, Path]) -> None:
    speech, recognizer = WyomingSpeech(f"unix://{sockets[0]}"), WyomingRecognizer(f"unix://{sockets[1]}")
    spoken = Spoken("en")
    written = "**The lamp** in the kitchen is on. It is 21 °C there. See https://example.org."
    sentences = [*spoken.feed(written), *spoken.rest()]
    sound = b"".join([await said(speech, sentence) for sentence in sentences])
    heard = await recognizer.recognize(sound, "en", ["kitchen"])
    text = heard.text.lower().replace("twenty-one", "21").replace("°", " degrees")
    assert [
        word for word in ("lamp", "kitchen", "21", "degrees", "link", "example") if word not in text
    ] == []


async def test_a_program_that_is_killed_is_gone_and_then_there_again(tmp_path: Path) -> None:
    socket = tmp_path / "s"
    program = Program(piper(f"unix://{socket}"), socket)
    speech = WyomingSpeech(f"unix://{socket}")
    saying = speech.say("This takes some time to be said. " * 30, "en")
    await anext(saying)
    program.kill()
    with pytest.raises(PartGone, match="The voice at unix://"):
        assert [sound async for sound in saying]
    with pytest.raises(PartGone, match="cannot be reached"):
        await said(speech, "Hello.")
    with running(piper(f"unix://{socket}"), socket):
        assert len(await said(speech, "Hello.")) > RATE // 2
