"""The battery of spoken commands: said by each talker, understood by the recogniser, carried out by a turn.

Sides are the same commands typed, and each talker: with the house's names told to the recogniser, without
them, and in noise. Tools are simulated. The answer is spoken by the board's own voice and recognised again.
Knows the parts as protocols and a whole turn; nothing of microphones, wake words and conversations.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from muleteer.engine.client import Engine
from muleteer.evaluate.batteries.battery import HARNESS, Answered, Case
from muleteer.evaluate.batteries.home import Home
from muleteer.evaluate.batteries.journal import digest_of
from muleteer.evaluate.batteries.turns import Whole, judged
from muleteer.harness.events import LevelUse
from muleteer.voice.bench.commands import commands, data_text, house, tools
from muleteer.voice.bench.sounds import Samples, joined, noise, over, pcm, samples, silence
from muleteer.voice.bench.talkers import Talker
from muleteer.voice.parts import RATE, Recognizer, Speech

TYPED = "typed"
NAMELESS, NOISY = ", no names", ", noise"
NOISE_DECIBELS = 10.0  # of speech over noise: a fan in the same room
LEVELS = ("planner",)  # that are decoded before the first command; what the others need is, when they do
AROUND_SECONDS = 0.3  # of silence before and after, as the end of speech is cut

Aloud = Callable[[str, str], str]
"""How a text is spoken in a language: numbers and units as words."""


class Spoken:
    """The battery of one `language`. `profile` names the recogniser, so that runs of two do not mix."""

    together = False
    context = 8192

    def __init__(
        self,
        language: str,
        profile: str,
        talkers: Sequence[Talker],
        aloud: Aloud,
        most: int | None = None,
    ) -> None:
        self.name = f"voice-{language}"
        self._language, self._aloud = language, aloud
        wholes = commands(language)[:most]
        self._wholes = {whole.id: whole for whole in wholes}
        self._talkers = {talker.name: talker for talker in talkers}
        self._names = house().names[language]
        self._home = Home(*tools(language), self.context // 2, LEVELS)
        self._said: dict[str, dict[str, Samples]] = {}  # by talker and command
        self._turns: dict[str, tuple[str, Any, Sequence[LevelUse]]] = {}  # by message: decoding is greedy
        self.sides: Sequence[str] = (
            TYPED,
            *(f"{name}{how}" for name in self._talkers for how in ("", NAMELESS, NOISY)),
        )
        self.cases: Sequence[Case] = [Case(whole.id, whole.group) for whole in wholes]
        self.digest = digest_of(
            [data_text("commands.jsonl"), data_text("house.json"), profile, *self._wholes]
        )

    def hear(self, recognizer: Recognizer, speech: Speech) -> None:
        """By these parts. Before the first attempt."""
        self._recognizer, self._speech = recognizer, speech

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        await self._home.warm(engine, HARNESS)

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        whole = self._wholes[case.id]
        heard = whole.message if side == TYPED else await self._heard(whole, side)
        if heard not in self._turns:
            said, levels = await self._home.turn(HARNESS, heard, whole.results)
            self._turns[heard] = said, self._home.called, levels
        said, called, levels = self._turns[heard]
        found = judged(whole, called, said)
        extra: dict[str, Any] = {}
        if side != TYPED:
            extra["said"], extra["heard"] = whole.message, heard
        if side in self._talkers:
            extra["answer"], extra["answer_heard"] = await self._answered(said)
        return Answered(found.right, f"{heard} {found.got}", found.why, extra), levels

    async def _heard(self, whole: Whole, side: str) -> str:
        """What the recogniser makes of a command."""
        name = side.partition(",")[0]
        if name not in self._said:
            messages = [each.message for each in self._wholes.values()]
            spoken = await asyncio.to_thread(self._talkers[name].say, messages)
            self._said[name] = dict(zip(self._wholes, spoken, strict=True))
        quiet = silence(AROUND_SECONDS)
        wave = joined(quiet, self._said[name][whole.id], quiet)
        if side.endswith(NOISY):
            wave = over(wave, noise(len(wave) / RATE, seed=len(wave)), NOISE_DECIBELS)
        return await self._recognized(wave, () if side.endswith(NAMELESS) else self._names)

    async def _recognized(self, wave: Samples, names: Sequence[str]) -> str:
        return (await self._recognizer.recognize(pcm(wave), self._language, names)).text.strip()

    async def _answered(self, answer: str) -> tuple[str, str]:
        """The answer as it is spoken, and what is understood of it."""
        text = self._aloud(answer, self._language)
        sounds = [samples(sound) async for sound in self._speech.say(text, self._language)]
        quiet = silence(AROUND_SECONDS)
        heard = await self._recognized(joined(quiet, *sounds, quiet), self._names) if sounds else ""
        return text, heard
