"""A run of `muleteer voice bench`: which commands, in which ways, on what, and the report of it.

Knows the parts as the settings have them and a daemon that runs. The commands only read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from muleteer.cli.remote import Remote
from muleteer.config import Settings
from muleteer.evaluate import machine
from muleteer.evaluate.batteries.turns import Whole
from muleteer.voice import opening
from muleteer.voice.bench import latency
from muleteer.voice.bench.commands import commands
from muleteer.voice.bench.latency import TARGETS, WAYS, Lap
from muleteer.voice.bench.rehearsal import Between, rehearsal
from muleteer.voice.bench.sounds import Samples, silence
from muleteer.voice.bench.talkers import Talker
from muleteer.voice.conversation.cutter import AnswerCutter
from muleteer.voice.conversation.ear import Limits
from muleteer.voice.conversation.house import DaemonHouse
from muleteer.voice.conversation.manners import Manners
from muleteer.voice.spoken.reading import aloud

READS = ("current_time", "calculator", "device_info")  # tools that change nothing and need no hardware
CALLS = {
    "okay_nabu": "Okay Nabu!",
    "hey_jarvis": "Hey Jarvis!",
    "hey_mycroft": "Hey Mycroft!",
    "alexa": "Alexa!",
}
BREATH = 0.4  # seconds between the wake word and the command

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Timed:
    """What was found. `busy` is the load average per core at the start."""

    command: str
    model: str
    talker: str
    recognizer: str
    machine: dict[str, object]
    versions: dict[str, str]
    busy: float
    laps: Sequence[Lap]

    def as_dict(self) -> dict[str, Any]:
        """For a file, with the medians."""
        ways = {way: latency.medians(self.laps, way) for way in WAYS}
        return {
            "command": self.command,
            "model": self.model,
            "talker": self.talker,
            "recognizer": self.recognizer,
            "machine": self.machine,
            "versions": self.versions,
            "busy": self.busy,
            "target": TARGETS.get(self.model),
            "median": {way: round(found[0], 3) for way, found in ways.items()},
            "medians": {way: {k: round(v, 3) for k, v in found[1].items()} for way, found in ways.items()},
            "ratio": round(latency.ratio(self.laps), 3),
            "laps": [lap.as_dict() for lap in self.laps],
        }


def chosen(language: str, most: int) -> list[Whole]:
    """Commands of one tool that only reads."""
    return [whole for whole in commands(language) if set(whole.must) & set(READS)][:most]


async def timed(
    settings: Settings, place: Path | Remote, talker: Talker, wholes: Sequence[Whole], say: Say
) -> list[Lap]:
    """Every command in both ways, which take turns; the first command is said once before, for what is cold.

    Raises `MuleteerError` where a command is not answered, or voice lacks a part.
    """
    language = opening.language(settings)
    said = await asyncio.to_thread(
        talker.say, [CALLS[settings.voice.wake_word], *(w.message for w in wholes)]
    )
    call, *sentences = said
    parts = opening.opened(settings)
    between = Between(parts.wake, parts.activity, parts.recognizer, parts.speech)
    manners = Manners(language, follow_up=0.0, tones=False, limits=Limits())
    laps: list[Lap] = []
    try:
        turns = [(wholes[0], sentences[0], WAYS[0])]
        for number, (whole, sentence) in enumerate(zip(wholes, sentences, strict=True)):
            ways = WAYS if number % 2 == 0 else tuple(reversed(WAYS))
            turns += [(whole, sentence, way) for way in ways]
        for number, (whole, sentence, way) in enumerate(turns):
            house = DaemonHouse(place)
            in_a_row = way == WAYS[1]
            async with rehearsal(
                between, house, manners, AnswerCutter, aloud, real_time=True, whole=in_a_row
            ) as on:
                waves: tuple[Samples, ...] = (silence(BREATH), call, silence(BREATH), sentence)
                found = await latency.lap(on, whole.id, way, *waves)
            say(f"{number + 1} of {len(turns)}: {whole.id}, {way}: {found.seconds:.2f} s, {found.heard!r}")
            if number:
                laps.append(found)
    finally:
        await parts.close()
    return laps


def report(command: str, model: str, talker: Talker, settings: Settings, laps: Sequence[Lap]) -> Timed:
    """With the machine as it is now."""
    found = machine.describe()
    load, cores = found["load"], found["cores"]
    busy = load[0] / cores if isinstance(load, list) and isinstance(cores, int) else 0.0
    recognizer = f"{settings.voice.recognizer} {settings.voice.weights}"
    return Timed(
        command, model, talker.name, recognizer, found, machine.versions(), round(busy, 2), list(laps)
    )


def spoken_in(settings: Settings, language: str) -> Settings:
    """The settings with this language of voice, unless it is empty."""
    voice = settings.voice.model_copy(update={"language": language} if language else {})
    return settings.model_copy(update={"voice": voice})
