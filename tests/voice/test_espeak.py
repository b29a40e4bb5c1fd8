"""The voice, by the program itself."""

from __future__ import annotations

import pytest

from muleteer.voice.espeak import EspeakSpeech
from muleteer.voice.parts import PartGone, Sound


async def said(speech: EspeakSpeech, text: str, language: str = "en") -> list[Sound]:
    return [sound async for sound in speech.say(text, language)]


async def test_a_sentence_is_as_long_as_it_takes_to_say() -> None:
    (short,) = await said(EspeakSpeech(), "Yes.")
    (long,) = await said(EspeakSpeech(), "The kitchen light is on, and the pump will stop in ten minutes.")
    assert short.rate == long.rate == 22_050
    assert 0.2 < short.seconds < 1.5
    assert 3.0 < long.seconds < 8.0
    assert any(long.pcm)


async def test_speed_and_language_are_heard() -> None:
    (slow,) = await said(EspeakSpeech(speed=100), "Five minutes are left.")
    (quick,) = await said(EspeakSpeech(speed=250), "Five minutes are left.")
    assert slow.seconds > 1.5 * quick.seconds
    (german,) = await said(EspeakSpeech(), "Das Licht ist an.", "de")
    (english,) = await said(EspeakSpeech(), "Das Licht ist an.", "en")
    assert german.pcm != english.pcm


@pytest.mark.parametrize("text", ["", "  \n", "\x00"])
async def test_nothing_to_say_makes_no_sound(text: str) -> None:
    assert await said(EspeakSpeech(), text) == []


async def test_text_is_never_an_option_nor_phonemes_nor_markup() -> None:
    (sound,) = await said(EspeakSpeech(), "--version")
    assert sound.seconds > 0.3
    (plain,) = await said(EspeakSpeech(), "h'El oU")
    (phonemes,) = await said(EspeakSpeech(), "[[h'El oU]]")
    assert abs(plain.seconds - phonemes.seconds) < 0.05


async def test_who_cannot_speak_says_what_to_do() -> None:
    with pytest.raises(PartGone, match="sudo apt install espeak-ng"):
        await said(EspeakSpeech(program="espeak-ng-that-is-not-installed"), "Hello")
    with pytest.raises(PartGone, match=r"nobody cannot be used.*espeak-ng --voices"):
        await said(EspeakSpeech("nobody"), "Hello")
