"""Each part of a spoken conversation as the settings have it: of this board, or of another by Wyoming.

Knows which class is which part, and which package each needs. Nothing here listens yet.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

import psutil

from muleteer.config import Settings
from muleteer.errors import ConfigError, MissingPackageError
from muleteer.voice.parts import Microphone, Recognizer, Speaker, Speech, VoiceActivity, WakeWord
from muleteer.voice.recognition import weights
from muleteer.voice.recognition.recognizer import LocalRecognizer
from muleteer.voice.recognition.wire import Setup
from muleteer.voice.settings import COMMANDS, LOCAL, VoiceSettings

MOST_THREADS = 4  # more than four did not make Whisper quicker anywhere it was reported
MISSING = "Voice needs packages that are not installed ({}). Install them with: pip install 'muleteer[voice]'"


@dataclass(frozen=True)
class Parts:
    """What a conversation is made of. The microphone and the speaker may be one."""

    microphone: Microphone
    speaker: Speaker
    wake: WakeWord
    activity: VoiceActivity
    recognizer: Recognizer
    speech: Speech

    async def close(self) -> None:
        """All of them, the last first; one that fails does not keep the others open."""
        async with AsyncExitStack() as stack:
            stack.push_async_callback(self.microphone.close)
            stack.push_async_callback(self.speaker.close)
            stack.push_async_callback(self.wake.close)
            stack.push_async_callback(self.activity.close)
            stack.push_async_callback(self.recognizer.close)
            stack.push_async_callback(self.speech.close)


def language(settings: Settings) -> str:
    """What is spoken here ("de")."""
    return settings.voice.language or settings.language


def opened(settings: Settings, sentences: Sequence[str] = ()) -> Parts:
    """All parts; the recogniser begins to load. `sentences` are all that the recogniser of commands knows.
    Needs a running loop.

    Raises `MissingPackageError` that says what to install, `ModelError` that says what to fetch, and
    `ConfigError`.
    """
    voice = settings.voice
    _check(voice)
    microphone, speaker, wake = _devices(voice, _wake(voice))
    recognizer = _recognizer(settings, sentences)
    return Parts(microphone, speaker, wake, _activity(), recognizer, _speech(voice))


def _check(voice: VoiceSettings) -> None:
    needed = {
        "babel": True,
        "unicode_rbnf": True,
        "pymicro_vad": True,
        "pymicro_wakeword": voice.wake == LOCAL,
    }
    needed["miniaudio"] = not (_is_elsewhere(voice.microphone) and _is_elsewhere(voice.speaker))
    needed["faster_whisper"] = voice.recognizer == LOCAL
    needed["pocketsphinx"] = voice.recognizer == COMMANDS
    missing = [name for name, is_needed in needed.items() if is_needed and not _is_there(name)]
    if missing:
        raise MissingPackageError(MISSING.format(", ".join(missing)))


def _is_there(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _is_elsewhere(part: str) -> bool:
    return part.startswith(("wyoming://", "tcp://", "unix://"))


def _devices(voice: VoiceSettings, wake: WakeWord) -> tuple[Microphone, Speaker, WakeWord]:
    """A satellite that is the microphone is the speaker, too, unless another is named."""
    if _is_elsewhere(voice.microphone):
        from muleteer.voice.wyoming.satellite import Satellite

        satellite = Satellite(voice.microphone, wake)
        if voice.speaker in ("", voice.microphone):
            return satellite, satellite, satellite.wake
        return satellite, _speaker(voice), satellite.wake
    from muleteer.voice.audio.microphone import DeviceMicrophone

    return DeviceMicrophone(voice.microphone), _speaker(voice), wake


def _speaker(voice: VoiceSettings) -> Speaker:
    if _is_elsewhere(voice.speaker):
        raise ConfigError("A satellite that speaks is one that hears; set voice.microphone to it, too.")
    from muleteer.voice.audio.speaker import DeviceSpeaker

    return DeviceSpeaker(voice.speaker)


def _wake(voice: VoiceSettings) -> WakeWord:
    if voice.wake != LOCAL:
        from muleteer.voice.wyoming.wake import WyomingWake

        return WyomingWake(voice.wake, [voice.wake_word])
    from muleteer.voice.wake import MicroWake

    return MicroWake(voice.wake_word)


def _activity() -> VoiceActivity:
    from muleteer.voice.activity import MicroActivity

    return MicroActivity()


def _recognizer(settings: Settings, sentences: Sequence[str]) -> Recognizer:
    voice = settings.voice
    if _is_elsewhere(voice.recognizer):
        from muleteer.voice.wyoming.recognizer import WyomingRecognizer

        return WyomingRecognizer(voice.recognizer)
    if voice.recognizer == COMMANDS:
        if language(settings) != "en":
            raise ConfigError("The recogniser of commands knows English only; set voice.recognizer to local.")
        setup = Setup(COMMANDS, memory=voice.memory, sentences=tuple(sentences))
    else:
        folder = weights.located(voice.weights, language(settings), settings.models)
        cores = psutil.cpu_count(logical=False) or os.cpu_count() or 1
        setup = Setup("whisper", str(folder), voice.threads or min(cores, MOST_THREADS), voice.memory)
    recognizer = LocalRecognizer(setup)
    recognizer.start()
    return recognizer


def _speech(voice: VoiceSettings) -> Speech:
    if voice.speech != LOCAL:
        from muleteer.voice.wyoming.speech import WyomingSpeech

        return WyomingSpeech(voice.speech, voice.voice)
    from muleteer.voice.espeak import EspeakSpeech

    return EspeakSpeech(voice.voice, voice.speed)
