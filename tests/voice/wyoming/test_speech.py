"""Text to speech elsewhere."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wyoming.audio import AudioChunk, AudioStart
from wyoming.tts import Synthesize

from muleteer.voice.parts import PartGone, Sound
from muleteer.voice.wyoming.speech import LONGEST_TEXT, WyomingSpeech, _Pieces
from tests.voice.wyoming.conftest import DEADLINE, Client, serving

SECOND = bytes(range(250)) * 176 + bytes(100)  # of 22050 samples


async def test_a_sentence_goes_there_and_comes_back_as_sound_in_few_pieces() -> None:
    asked: list[Synthesize] = []

    async def serve(client: Client) -> None:
        asked.append(Synthesize.from_event(await client.read()))
        await client.say(SECOND * 3)

    async with serving(serve) as port:
        speech = WyomingSpeech(f"wyoming://127.0.0.1:{port}")
        said = [sound async for sound in speech.say("Hello. " * 1000, "de")]
        await speech.close()
    assert b"".join(sound.pcm for sound in said) == SECOND * 3
    assert {sound.rate for sound in said} == {22_050}
    assert [round(sound.seconds) for sound in said] == [1, 1, 1] or len(said) <= 4
    assert asked[0].text == ("Hello. " * 1000)[:LONGEST_TEXT]
    assert asked[0].voice is not None
    assert asked[0].voice.language == "de"


async def test_the_first_piece_is_heard_while_the_rest_is_being_made() -> None:
    more = asyncio.Event()

    async def serve(client: Client) -> None:
        await client.read()
        await client.send(AudioStart(22_050, 2, 1).event(), AudioChunk(22_050, 2, 1, SECOND).event())
        await more.wait()
        await client.say(SECOND)

    async with (
        serving(serve) as port,
        aclosing(WyomingSpeech(f"wyoming://127.0.0.1:{port}").say("a", "en")) as said,
    ):
        async with asyncio.timeout(DEADLINE):
            assert (await anext(said)).pcm == SECOND
        more.set()
        assert b"".join([sound.pcm async for sound in said]) == SECOND


async def test_a_voice_by_name_and_sound_of_another_form() -> None:
    names: list[str | None] = []

    async def serve(client: Client) -> None:
        voice = Synthesize.from_event(await client.read()).voice
        names.append(voice.name if voice else None)
        await client.say(bytes(16_000 * 4), 16_000, 4, 1)

    async with serving(serve) as port:
        said = [
            sound async for sound in WyomingSpeech(f"wyoming://127.0.0.1:{port}", "thorsten").say("a", "de")
        ]
    assert names == ["thorsten"]
    assert sum(sound.seconds for sound in said) == pytest.approx(1, abs=0.01)


async def test_a_voice_that_never_ends_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muleteer.voice.wyoming.speech.LONGEST_SOUND", 5.0)

    async def serve(client: Client) -> None:
        await client.read()
        while True:
            await client.send(AudioChunk(22_050, 2, 1, SECOND).event())

    async with serving(serve) as port:
        with pytest.raises(PartGone, match="does not end"):
            assert [sound async for sound in WyomingSpeech(f"wyoming://127.0.0.1:{port}").say("a", "en")]


async def test_a_voice_that_dies_in_a_word_is_gone() -> None:
    async def serve(client: Client) -> None:
        await client.read()
        await client.send(AudioStart(22_050, 2, 1).event(), AudioChunk(22_050, 2, 1, SECOND).event())

    async with serving(serve) as port:
        said = WyomingSpeech(f"wyoming://127.0.0.1:{port}").say("a", "en")
        assert await anext(said) == Sound(SECOND, 22_050)
        with pytest.raises(PartGone, match=r"The voice .* has hung up"):
            await anext(said)


@given(st.lists(st.tuples(st.integers(1, 9000), st.sampled_from([8000, 22_050]))))
def test_pieces_lose_nothing_and_mix_no_rates(chunks: list[tuple[int, int]]) -> None:
    pieces = _Pieces()
    sounds = [Sound(bytes([place % 256]) * size * 2, rate) for place, (size, rate) in enumerate(chunks)]
    found = [piece for sound in sounds if (piece := pieces.add(sound))]
    found += [piece] if (piece := pieces.rest()) else []
    for rate in (8000, 22_050):
        told, given_ = (b"".join(each.pcm for each in some if each.rate == rate) for some in (found, sounds))
        assert told == given_
