"""The recogniser: its process, which lives and dies, on scripted ears; and once the real ones, on speech."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from muleteer import paths
from muleteer.voice.bench import sounds
from muleteer.voice.bench.talkers import EspeakTalker
from muleteer.voice.parts import RATE, PartGone
from muleteer.voice.recognition import recognizer, weights, wire
from muleteer.voice.recognition.recognizer import LocalRecognizer

SCRIPT = """
import os, sys, json
from muleteer.voice.recognition import process
from muleteer.voice.parts import Heard
class Ears:
    def hear(self, pcm, language, names):
        if language == "xx":
            os._exit(1)
        if language == "yy":
            raise MemoryError
        return Heard(f"{len(pcm)} {' '.join(names)} {os.getpid()}", language, 0.5)
process._ears = lambda setup: Ears()
process.main()
"""
SLOW = """
from muleteer.voice.recognition import process
from muleteer.voice.parts import Heard
sizes = []
class Ears:
    def hear(self, pcm, language, names):
        sizes.append(len(pcm))
        if len(pcm) == 320:
            open(GATE).read()
        return Heard(" ".join(map(str, sizes)), language, 0.5)
process._ears = lambda setup: Ears()
process.main()
"""
SETUP = wire.Setup("whisper", memory=512)


@asynccontextmanager
async def scripted(script: str = SCRIPT, setup: wire.Setup = SETUP) -> AsyncIterator[LocalRecognizer]:
    ears = LocalRecognizer(setup, (sys.executable, "-P", "-c", textwrap.dedent(script)))
    try:
        yield ears
    finally:
        await ears.close()


async def test_an_utterance_its_language_and_names_get_there_and_back() -> None:
    async with scripted() as ears:
        heard = await ears.recognize(bytes(640), "de", ["Küche", "Lampe"])
        assert heard.text.startswith("640 Küche Lampe ")
        assert (heard.language, heard.confidence) == ("de", 0.5)


async def test_utterances_at_once_are_taken_one_after_the_other() -> None:
    async with scripted() as ears:
        sizes = range(320, 3200, 320)
        heard = await asyncio.gather(*(ears.recognize(bytes(size), "en", []) for size in sizes))
        assert [int(each.text.split()[0]) for each in heard] == list(sizes)


async def test_what_is_too_long_is_cut_and_what_is_too_much_is_left_out() -> None:
    async with scripted() as ears:
        heard = await ears.recognize(bytes(wire.LONGEST_SOUND + 640), "en", ["x" * 1000] * 1000)
        size, *names = heard.text.split()[:-1]
        assert int(size) == wire.LONGEST_SOUND == 60 * RATE * 2
        assert len(names) == recognizer.MOST_NAMES
        assert {len(name) for name in names} == {recognizer.LONGEST_NAME}


async def test_who_dies_says_so_and_another_hears_the_next() -> None:
    async with scripted() as ears:
        first = await ears.recognize(b"", "en", [])
        with pytest.raises(PartGone, match="recogniser broke down and is being started again"):
            await ears.recognize(b"", "xx", [])
        second = await ears.recognize(b"", "en", [])
        assert first.text.split()[-1] != second.text.split()[-1]


async def test_who_is_killed_between_two_utterances_is_not_missed() -> None:
    async with scripted() as ears:
        first = (await ears.recognize(b"", "en", [])).text.split()[-1]
        os.kill(int(first), signal.SIGKILL)
        with suppress(PartGone):  # it may be gone with this one in its hands
            await ears.recognize(b"", "en", [])
        second = (await ears.recognize(b"", "en", [])).text.split()[-1]
        assert second != first


async def test_a_fault_of_one_utterance_is_told_and_is_not_the_end() -> None:
    async with scripted() as ears:
        first = await ears.recognize(b"", "en", [])
        with pytest.raises(PartGone, match="needs more memory than it may have"):
            await ears.recognize(b"", "yy", [])
        assert await ears.recognize(b"", "en", []) == first


async def test_what_is_given_up_is_not_taken_for_the_next_and_not_begun_in_vain(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    async with scripted(SLOW.replace("GATE", repr(str(gate)))) as ears:
        first = asyncio.create_task(ears.recognize(bytes(320), "en", []))
        with await asyncio.to_thread(gate.open, "wb"):  # it is being heard
            first.cancel()
            second = asyncio.create_task(ears.recognize(bytes(640), "en", []))
            await asyncio.wait({first})
            second.cancel()
            third = asyncio.create_task(ears.recognize(bytes(960), "en", []))
            await asyncio.wait({second})
        assert (await third).text == "320 960"


@pytest.mark.parametrize(
    ("script", "sentence"),
    [
        ("import sys; sys.exit(1)", "broke down"),
        ("import sys; sys.stdout.close(); import os; os.write(0, b'\\xff' * 64)", "broke down"),
        (
            "from muleteer.voice.recognition import process\n"
            "def no(setup): raise OSError('no such model')\n"
            "process._ears = no; process.main()",
            "cannot be started: OSError: no such model",
        ),
    ],
)
async def test_who_cannot_be_started_says_why(script: str, sentence: str) -> None:
    async with scripted(script) as ears:
        with pytest.raises(PartGone, match=sentence):
            await ears.recognize(b"", "en", [])


async def test_nothing_is_left_running() -> None:
    async with scripted() as ears:
        pid = int((await ears.recognize(b"", "en", [])).text.split()[-1])
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    await ears.close()


@pytest.fixture
def real() -> Callable[[int], LocalRecognizer]:
    folder = weights.located("base", "en", paths.models_dir())
    return lambda memory: LocalRecognizer(wire.Setup("whisper", str(folder), 2, memory))


async def test_a_name_is_understood_and_noise_is_not(
    real: Callable[[int], LocalRecognizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognizer, "PATIENCE", 300.0)
    ears = real(768)
    sentence = sounds.pcm(EspeakTalker("en").say(["What is the weather in Nairobi?"])[0])
    noise = sounds.pcm(sounds.noise(2.0) * 0.05)
    try:
        heard = await ears.recognize(sentence, "en", ["Nairobi", "Is it raining in Rome?"])
        assert heard.text == "What is the weather in Nairobi?"
        assert heard.confidence > 0.5
        assert (await ears.recognize(noise, "en", ["Nairobi"])).text == ""
    finally:
        await ears.close()


async def test_memory_has_a_limit_that_ends_nothing_else(
    real: Callable[[int], LocalRecognizer],
) -> None:
    ears = real(64)
    try:
        with pytest.raises(PartGone, match=r"cannot be started|broke down"):
            await ears.recognize(b"", "en", [])
    finally:
        await ears.close()
