"""The section `voice` of the settings: which parts a spoken conversation is made of, and their limits."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from muleteer.settings.sections import Count, Seconds, Section, SocketPlace, Words

LOCAL = "local"
COMMANDS = "commands"
ELSEWHERE = re.compile(r"(?:wyoming|tcp)://(?:[0-9A-Za-z._-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5}|unix:///\S+")


def _here_or_elsewhere(value: str) -> str:
    if value != LOCAL and not ELSEWHERE.fullmatch(value):
        raise ValueError("must be local, or the address of a server like wyoming://192.168.1.20:10300")
    return value


def _recognizer(value: str) -> str:
    return value if value == COMMANDS else _here_or_elsewhere(value)


Part = Annotated[Words, Field(max_length=300), AfterValidator(_here_or_elsewhere)]


class VoiceSettings(Section):
    """A microphone and a speaker as a way to talk to this device; for `muleteer voice`."""

    microphone: Words = Field(
        "",
        max_length=200,
        description="part of the microphone's name, or a satellite's wyoming://HOST:PORT; "
        "empty: the system's default",
    )
    speaker: Words = Field(
        "", max_length=200, description="part of the speaker's name; empty: the system's default"
    )
    wake: Part = Field(LOCAL, description="what hears the wake word: local, or wyoming://HOST:PORT")
    wake_word: Words = Field(
        "okay_nabu",
        min_length=1,
        max_length=4096,
        description="okay_nabu, hey_jarvis, hey_mycroft, alexa, or the JSON file of another microWakeWord",
    )
    recognizer: Annotated[Words, Field(max_length=300), AfterValidator(_recognizer)] = Field(
        LOCAL,
        description="speech to text: local, commands (a smaller one that knows the skills' examples only, in "
        "English), or wyoming://HOST:PORT",
    )
    weights: Words = Field(
        "auto",
        min_length=1,
        max_length=4096,
        description="of local: auto, base, tiny.en, or a folder with a Whisper model as CTranslate2 has it",
    )
    threads: Count = Field(
        0, ge=0, le=64, description="threads of local; 0: one per physical core, at most four"
    )
    memory: Count = Field(
        768,
        ge=256,
        le=16_384,
        description="MiB that the recogniser's process may take; base was seen to need 406 at its worst",
    )
    speech: Part = Field(LOCAL, description="text to speech: local (espeak-ng), or wyoming://HOST:PORT")
    voice: Words = Field(
        "", max_length=100, description="voice of local, as espeak-ng --voices has it; empty: the language's"
    )
    speed: Count = Field(160, ge=80, le=450, description="words a minute of local; the range of espeak-ng")
    language: Literal["", "en", "de", "es", "fr", "it", "nl", "pt", "tr"] = Field(
        "", description="what is spoken and answered; empty: the language of this device"
    )
    follow_up: Seconds = Field(
        5.0, ge=0.0, le=30.0, description="seconds after an answer that need no wake word; 0: it always does"
    )
    barge_in: Literal["wake", "speech"] = Field(
        "wake",
        description="what interrupts an answer: the wake word, or any speech (for a microphone that does not "
        "hear the speaker)",
    )
    pause: Seconds = Field(0.7, ge=0.4, le=3.0, description="seconds of silence that end an utterance")
    longest: Seconds = Field(20.0, ge=3.0, le=28.0, description="seconds of the longest utterance")
    slow: Literal["tone", "words", "nothing"] = Field(
        "tone", description="what is heard when an answer takes longer than 1.5 s"
    )
    tones: bool = Field(True, description="whether tones tell what is going on; timers ring in any case")
    keep: bool = Field(False, description="whether utterances are kept as WAV files in the state folder")
    mute_pin: Count | None = Field(
        None, ge=0, le=53, description="BCM number of a pin that mutes the microphone, connected to ground"
    )
    mute_kind: Literal["switch", "button"] = Field(
        "switch", description="what is at that pin: a switch mutes while closed, a button whenever pressed"
    )
    socket: SocketPlace | None = Field(
        None, description="path of the Unix socket by which voice is controlled; none: beside the daemon's"
    )
