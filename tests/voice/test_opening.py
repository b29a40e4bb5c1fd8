"""Which part is which, by the settings."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from importlib.machinery import ModuleSpec
from pathlib import Path

import pytest
from pydantic import ValidationError

from muleteer.config import Settings
from muleteer.errors import ConfigError, MissingPackageError, ModelError
from muleteer.voice import opening
from muleteer.voice.activity import MicroActivity
from muleteer.voice.audio.microphone import DeviceMicrophone
from muleteer.voice.audio.speaker import DeviceSpeaker
from muleteer.voice.espeak import EspeakSpeech
from muleteer.voice.recognition.recognizer import LocalRecognizer
from muleteer.voice.settings import VoiceSettings
from muleteer.voice.wake import MicroWake
from muleteer.voice.wyoming.recognizer import WyomingRecognizer
from muleteer.voice.wyoming.satellite import Satellite
from muleteer.voice.wyoming.speech import WyomingSpeech
from muleteer.voice.wyoming.wake import WyomingWake

SERVER = "wyoming://127.0.0.1:10300"


def settings(models: Path, **voice: object) -> Settings:
    return Settings(models=models, voice=VoiceSettings.model_validate(voice))


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """With a model that is named by its folder, and cannot be loaded."""
    (tmp_path / "model.bin").touch()
    return tmp_path


async def test_all_of_this_board_by_default(models: Path) -> None:
    parts = opening.opened(settings(models, weights=str(models)))
    assert isinstance(parts.microphone, DeviceMicrophone)
    assert isinstance(parts.speaker, DeviceSpeaker)
    assert isinstance(parts.wake, MicroWake)
    assert isinstance(parts.activity, MicroActivity)
    assert isinstance(parts.recognizer, LocalRecognizer)
    assert isinstance(parts.speech, EspeakSpeech)
    await parts.close()
    await parts.close()


async def test_each_may_be_elsewhere(models: Path) -> None:
    parts = opening.opened(settings(models, recognizer=SERVER, speech=SERVER, wake=SERVER))
    assert isinstance(parts.recognizer, WyomingRecognizer)
    assert isinstance(parts.speech, WyomingSpeech)
    assert isinstance(parts.wake, WyomingWake)
    await parts.close()


@pytest.mark.parametrize("address", ["tcp://kitchen:10300", "unix:///run/ears", "wyoming://[::1]:10300"])
async def test_elsewhere_has_several_ways_to_be_written(models: Path, address: str) -> None:
    parts = opening.opened(settings(models, recognizer=address))
    assert isinstance(parts.recognizer, WyomingRecognizer)
    await parts.close()


async def test_a_satellite_is_microphone_speaker_and_wake_word_in_one(models: Path) -> None:
    parts = opening.opened(settings(models, microphone=SERVER, recognizer=SERVER))
    assert isinstance(parts.microphone, Satellite)
    assert parts.speaker is parts.microphone
    assert parts.wake is parts.microphone.wake
    await parts.close()
    with pytest.raises(ConfigError, match=r"set voice\.microphone to it, too"):
        opening.opened(settings(models, speaker=SERVER, recognizer=SERVER))


async def test_commands_are_heard_in_english_only(models: Path) -> None:
    parts = opening.opened(settings(models, recognizer="commands"), ["turn on the light"])
    assert isinstance(parts.recognizer, LocalRecognizer)
    await parts.close()
    with pytest.raises(ConfigError, match="English only"):
        opening.opened(settings(models, recognizer="commands", language="de"))


async def test_what_is_missing_is_named(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ModelError, match="muleteer voice pull base"):
        opening.opened(settings(models))
    find = importlib.util.find_spec

    def without(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "faster_whisper" else find(name, package)

    monkeypatch.setattr(importlib.util, "find_spec", without)
    with pytest.raises(MissingPackageError, match=r"\(faster_whisper\).*pip install 'muleteer\[voice\]'"):
        opening.opened(settings(models))


def test_the_language_is_the_devices_unless_voice_has_one() -> None:
    assert opening.language(Settings(language="tr")) == "tr"
    assert opening.language(Settings(language="tr", voice=VoiceSettings(language="de"))) == "de"


@pytest.mark.parametrize("address", ["remote", "http://host:1", "wyoming://host", "wyoming://:1", ""])
def test_an_address_that_is_none_is_refused(address: str) -> None:
    with pytest.raises(ValidationError, match=r"wyoming://192\.168\.1\.20:10300"):
        VoiceSettings.model_validate({"recognizer": address})


def test_the_daemon_and_its_settings_need_nothing_of_voice() -> None:
    needed = ("miniaudio", "faster_whisper", "pocketsphinx", "pymicro_vad", "pymicro_wakeword", "babel")
    code = f"import sys, muleteer.daemon, muleteer.cli; print([n for n in {needed} if n in sys.modules])"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
