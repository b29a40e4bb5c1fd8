"""The settings: which sections there are (`sections` has their keys), and what is in force.

Defaults, then the settings files, then the environment, then command-line options. `layers` reads them,
`precedence` hands them to pydantic-settings, which merges and validates, and `mistakes` words what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import Field, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from muleteer import paths
from muleteer.brains.settings import BrainsSettings
from muleteer.errors import ConfigError
from muleteer.mcp_servers.settings import McpSettings
from muleteer.ports.settings import SerialSettings
from muleteer.settings import layers, mistakes
from muleteer.settings.background import BackgroundSettings, ResultSettings
from muleteer.settings.home import (
    CalendarSettings,
    FilesSettings,
    MemorySettings,
    TimerSettings,
    ToolsSettings,
    WebSettings,
)
from muleteer.settings.layers import Given
from muleteer.settings.precedence import EnvironmentSource, FileSource, OptionSource, fields_of
from muleteer.settings.seat import SeatSettings
from muleteer.settings.sections import Budgets, EngineSettings, GatewaySettings, LogSettings, Place
from muleteer.settings.service import ServiceSettings
from muleteer.settings.wyoming import WyomingSettings
from muleteer.voice.settings import VoiceSettings

# What must be resident at once: a level's prompt and output, and the planner's constant part while answering.
FIT_TOGETHER = (
    ("planner_prompt", "answer_output"),
    ("follower_prompt", "follower_output"),
    ("agent_prompt", "agent_output"),
    ("flat_prompt", "answer_output"),
    ("answer_prompt", "answer_output"),
)
OPTIONS = {
    "state": "--state",
    "gateway.socket": "--socket",
    "engine.model": "--model",
    "log.level": "--log-level",
}


# The library asks the class for its sources, so nothing can be handed to them as an argument.
_being_merged: ContextVar[Sequence[Given]] = ContextVar("being merged", default=())


class Settings(BaseSettings):
    """Everything that is in force. Made by `load`; made by hand, it reads neither files nor variables."""

    model_config = SettingsConfigDict(frozen=True)

    state: Place = Field(default_factory=paths.state_dir, description="folder of what outlives a restart")
    language: Literal["en", "de", "es", "fr", "it", "nl", "pt", "tr"] = Field(
        "en", description="language of fixed sentences, where a message does not show its own"
    )
    models: Place = Field(default_factory=paths.models_dir, description="folder of fetched models")
    engine: EngineSettings = Field(default_factory=EngineSettings, description="the engine process")
    budgets: Budgets = Field(default_factory=Budgets, description="tokens and seconds of one turn")
    gateway: GatewaySettings = Field(default_factory=GatewaySettings, description="where clients connect")
    wyoming: WyomingSettings = Field(
        default_factory=WyomingSettings, description="where voice pipelines connect"
    )
    voice: VoiceSettings = Field(default_factory=VoiceSettings, description="parts of `muleteer voice`")
    files: FilesSettings = Field(default_factory=FilesSettings, description="folders of documents")
    memory: MemorySettings = Field(default_factory=MemorySettings, description="what is kept of past turns")
    tools: ToolsSettings = Field(default_factory=ToolsSettings, description="what tools may do")
    mcp: McpSettings = Field(default_factory=McpSettings, description="MCP servers")
    web: WebSettings = Field(default_factory=WebSettings, description="reading web pages")
    serial: SerialSettings = Field(default_factory=SerialSettings, description="devices at serial ports")
    calendar: CalendarSettings = Field(default_factory=CalendarSettings, description="calendars to look into")
    timers: TimerSettings = Field(default_factory=TimerSettings, description="what happens when one rings")
    seat: SeatSettings = Field(default_factory=SeatSettings, description="who does the background work")
    background: BackgroundSettings = Field(
        default_factory=BackgroundSettings, description="turns that a schedule starts"
    )
    results: ResultSettings = Field(default_factory=ResultSettings, description="where their results go")
    brains: BrainsSettings = Field(default_factory=BrainsSettings, description="which model answers")
    service: ServiceSettings = Field(
        default_factory=ServiceSettings, description="limits of the service of systemd"
    )
    log: LogSettings = Field(default_factory=LogSettings, description="what is logged")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Strongest first. What `merged` works on replaces the library's own readers."""
        given = _being_merged.get()
        return (
            init_settings,
            OptionSource(settings_cls, given),
            EnvironmentSource(settings_cls, given),
            FileSource(settings_cls, given),
        )


@dataclass(frozen=True, slots=True)
class Source:
    """One key, the value in force, where it came from (`default`, a file's path, a variable's or an
    option's name) and what it means."""

    key: str
    value: object
    origin: str
    description: str


def load(file: Path | None = None, options: Mapping[str, object] | None = None) -> Settings:
    """The settings in force. `options` are values by dotted key; None counts as not given.

    Raises `ConfigError` with every problem found, each with its origin.
    """
    return merged(_given(file, options or {}))


def sources(file: Path | None = None, options: Mapping[str, object] | None = None) -> list[Source]:
    """Every key with its value and origin, in the order of `Settings`. Raises `ConfigError` like `load`."""
    given = _given(file, options or {})
    settings = merged(given)
    origins = {each.key: each.origin for each in given}
    return [
        Source(key, _value(settings, key), origins.get(key, "default"), field.description or "")
        for key, field in known_keys().items()
    ]


def known_keys() -> dict[str, FieldInfo]:
    """Every settable key, dotted, in the order of `Settings`."""
    return fields_of(Settings)


def values(settings: Settings) -> dict[str, object]:
    """Every key with its value, in the order of `Settings`."""
    return {key: _value(settings, key) for key in known_keys()}


def _given(file: Path | None, options: Mapping[str, object]) -> list[Given]:
    """All that was set, weakest first."""
    from_options = [
        Given(key, value, OPTIONS[key], "option") for key, value in options.items() if value is not None
    ]
    return [*layers.read_files(file), *layers.read_environment(os.environ), *from_options]


def merged(given: Sequence[Given]) -> Settings:
    """Settings from what was set, weakest first. Raises `ConfigError` like `load`."""
    known = known_keys()
    problems: list[str] = []
    usable: list[Given] = []
    for each in given:
        if problem := mistakes.unknown(each, known):
            problems.append(problem)
        elif each.key in known:  # an empty section is none
            usable.append(each)
    merging = _being_merged.set(usable)
    try:
        settings = Settings()
    except ValidationError as error:
        strongest = {each.key: each for each in usable}
        problems += [mistakes.wrong_value(each, strongest, known) for each in error.errors(include_url=False)]
    else:
        problems += _conflicts(settings)
        if not problems:
            return settings
    finally:
        _being_merged.reset(merging)
    raise ConfigError(mistakes.joined(problems))


def _conflicts(settings: Settings) -> Iterator[str]:
    """Settings that can never be kept together."""
    if settings.engine.parked_talks and not settings.memory.keep_days:
        yield (
            "memory.keep_days = 0 keeps nothing of what is said, and engine.parked_talks = true keeps "
            "conversations on disk; change one of them"
        )
    budgets, context = settings.budgets, settings.engine.context
    for prompt, output in FIT_TOGETHER:
        total = getattr(budgets, prompt) + getattr(budgets, output)
        if total > context:
            yield (
                f"budgets.{prompt} + budgets.{output} is {total}, more than engine.context ({context}); "
                "lower the one or raise the other"
            )
    for prompt in ("planner_prompt", "follower_prompt", "agent_prompt", "flat_prompt", "answer_prompt"):
        if budgets.message >= getattr(budgets, prompt):
            yield (
                f"budgets.message ({budgets.message}) must be less than budgets.{prompt} "
                f"({getattr(budgets, prompt)}), which carries the message and more"
            )
    least = budgets.message + budgets.answer_output
    if least > budgets.turn:
        yield (
            f"budgets.message + budgets.answer_output is {least}, more than "
            f"budgets.turn ({budgets.turn}); no turn could end"
        )


def _value(settings: Settings, key: str) -> object:
    section, _, name = key.rpartition(".")
    return getattr(getattr(settings, section) if section else settings, name)
