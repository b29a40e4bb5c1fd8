"""Speech to text elsewhere."""

from __future__ import annotations

import pytest
from wyoming.asr import Transcribe, Transcript, TranscriptChunk, TranscriptStart
from wyoming.event import Event

from muleteer.voice.parts import RATE, Heard, PartGone
from muleteer.voice.wyoming.recognizer import LONGEST_TEXT, MOST_NAMES, WyomingRecognizer
from tests.voice.wyoming.conftest import Client, serving

PCM = bytes(range(256)) * 100


async def test_what_was_said_goes_there_and_its_text_comes_back() -> None:
    asked: list[Transcribe] = []
    heard: list[bytes] = []

    async def serve(client: Client) -> None:
        asked.append(Transcribe.from_event(await client.read()))
        heard.append(await client.sound())
        await client.send(
            TranscriptStart().event(),
            TranscriptChunk("turn").event(),
            Event("what-is-this"),
            Transcript(" turn on\nthe lamp ", language="de").event(),
        )

    async with serving(serve) as port:
        recognizer = WyomingRecognizer(f"wyoming://127.0.0.1:{port}", "base")
        found = await recognizer.recognize(PCM, "en", ["lamp"] * 500)
        await recognizer.close()
    assert found == Heard("turn on the lamp", "de", 1.0)
    assert heard == [PCM]
    assert (asked[0].name, asked[0].language, asked[0].transcript_names) == (
        "base",
        "en",
        ["lamp"] * MOST_NAMES,
    )


@pytest.mark.parametrize("text", ["", "a" * 10**5])
async def test_nothing_and_far_too_much(text: str) -> None:
    async def serve(client: Client) -> None:
        await client.sound()
        await client.send(Transcript(text).event())

    async with serving(serve) as port:
        found = await WyomingRecognizer(f"wyoming://127.0.0.1:{port}").recognize(PCM, "en", ())
    assert found == Heard(text[:LONGEST_TEXT], "en", float(bool(text)))


async def test_a_server_that_dies_is_gone_and_one_that_is_started_again_is_there() -> None:
    async def die(client: Client) -> None:
        await client.until("audio-chunk")

    async def live(client: Client) -> None:
        await client.sound()
        await client.send(Transcript("hello").event())

    async with serving(die) as port:
        recognizer = WyomingRecognizer(f"wyoming://127.0.0.1:{port}")
        with pytest.raises(PartGone, match="has hung up"):
            await recognizer.recognize(bytes(RATE * 2), "en", ())
    with pytest.raises(PartGone, match="cannot be reached"):
        await recognizer.recognize(PCM, "en", ())
    async with serving(live, port):
        assert (await recognizer.recognize(PCM, "en", ())).text == "hello"


async def test_a_server_that_talks_for_ever_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muleteer.voice.wyoming.recognizer.ANSWER_SECONDS", 0.2)

    async def serve(client: Client) -> None:
        while True:
            await client.send(Event("pong"))

    async with serving(serve) as port:
        with pytest.raises(PartGone, match="has not answered"):
            await WyomingRecognizer(f"wyoming://127.0.0.1:{port}").recognize(PCM, "en", ())


async def test_a_transcript_needs_a_text() -> None:
    async def serve(client: Client) -> None:
        await client.sound()
        await client.send(Event("transcript", {"text": ["a"]}))

    async with serving(serve) as port:
        with pytest.raises(PartGone, match="without a text"):
            await WyomingRecognizer(f"wyoming://127.0.0.1:{port}").recognize(PCM, "en", ())
