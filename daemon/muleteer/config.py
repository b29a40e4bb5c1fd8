"""The settings: which keys exist, what they mean, which values are possible, and what is in force.

Defaults, then the settings files, then the environment, then command-line options. `layers` reads them,
`precedence` hands them to pydantic-settings, which merges and validates, and `mistakes` words what is wrong.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict, ValidationError
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from muleteer import layers, mistakes, paths
from muleteer.errors import ConfigError
from muleteer.layers import Given
from muleteer.precedence import EnvironmentSource, FileSource, OptionSource, fields_of

LONGEST_SOCKET_PATH = 107  # bytes; unix(7): sun_path holds 108 with its closing zero
SHORTEST_IDLE = 10.0  # seconds; less would load the model again after every pause in a talk
# What must be resident at once: a level's prompt and output, and the planner's constant part while answering.
FIT_TOGETHER = (
    ("planner_prompt", "answer_output"),
    ("follower_prompt", "follower_output"),
    ("agent_prompt", "agent_output"),
    ("answer_prompt", "answer_output"),
)
OPTIONS = {
    "state": "--state",
    "gateway.socket": "--socket",
    "engine.model": "--model",
    "log.level": "--log-level",
}


def _octal(value: object) -> object:
    """File modes are written in octal; TOML has `0o660` for that, environment variables only text."""
    if isinstance(value, str) and value.removeprefix("0o").isdecimal():
        try:
            return int(value, 8)
        except ValueError:
            return value
    return value


def _one_line(value: str) -> str:
    if not value.isprintable():
        raise ValueError("must be one line of printable text")
    return value


def _absolute(value: Path) -> Path:
    if not value.is_absolute() or not str(value).isprintable():
        raise ValueError("must be the path of a file or folder")
    return value


def _short_enough(value: Path) -> Path:
    if len(os.fsencode(value)) > LONGEST_SOCKET_PATH:
        raise ValueError(f"must be a path of at most {LONGEST_SOCKET_PATH} bytes, a limit of Unix sockets")
    return value


def _never_or_a_while(value: float) -> float:
    if 0 < value < SHORTEST_IDLE:
        raise ValueError(f"must be 0 (never) or at least {SHORTEST_IDLE:.0f}")
    return value


Count = Annotated[int, Strict()]
# Under 16 tokens no question or answer is possible; above the largest context none could be kept.
Tokens = Annotated[Count, Field(ge=16, le=131_072)]
Seconds = Annotated[float, Strict()]
IdleSeconds = Annotated[Seconds, AfterValidator(_never_or_a_while)]
Degrees = Annotated[float, Strict()]
Words = Annotated[str, Strict(), AfterValidator(_one_line)]
Place = Annotated[Path, AfterValidator(_absolute)]
SocketPlace = Annotated[Place, AfterValidator(_short_enough)]
SocketMode = Annotated[Literal[0o600, 0o660], BeforeValidator(_octal)]


class _Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


class EngineSettings(_Section):
    """The engine process."""

    model: Words = Field(
        "standard", min_length=1, max_length=4096, description="catalogue name, or the path of a GGUF file"
    )
    context: Count = Field(
        4096,
        ge=512,
        le=131_072,
        description="tokens that may be resident; 512 is the smallest menu, 131072 the largest board",
    )
    sequences: Count = Field(
        16,
        ge=4,
        le=256,
        description="prefixes kept decoded; one per level and one to work in, at most llama.cpp's own limit",
    )
    batch: Count = Field(
        128,
        ge=16,
        le=2048,
        description="most tokens in one decoding step; slow machines take fewer by themselves",
    )
    threads: Count = Field(
        0,
        ge=0,
        le=256,
        description="threads that decode; 0 means one per physical core, 256 is beyond any board",
    )
    queue: Count = Field(
        16,
        ge=1,
        le=64,
        description="turns that may wait; each can take budgets.seconds, so 64 is over two hours",
    )
    parked_memory: Count = Field(
        128,
        ge=0,
        le=65_536,
        description="MiB of prefixes parked in memory; 0 parks none there, 65536 is beyond any board",
    )
    parked_disk: Count = Field(
        512,
        ge=0,
        le=1_048_576,
        description="MiB of prefixes parked on disk; 0 parks none there, 1048576 is a terabyte",
    )
    idle_unload: IdleSeconds = Field(
        0.0,
        ge=0,
        le=604_800,
        description="seconds without a turn until the model is unloaded: 0 (never), or 10 to a week",
    )
    hot: Degrees = Field(
        80.0,
        ge=40,
        le=110,
        description="degrees Celsius above which the engine uses fewer threads and background turns wait; "
        "a Raspberry Pi slows itself down from 80 on",
    )
    load_timeout: Seconds = Field(
        300.0, ge=0.1, le=3600.0, description="seconds a model may take to load; a slow card needs minutes"
    )
    restarts: Count = Field(
        5,
        ge=0,
        le=100,
        description="restarts in a row before the engine counts as failed; more only makes heat",
    )


class Budgets(_Section):
    """Tokens and seconds that one turn may use; what cannot hold together is found by `load`."""

    turn: Tokens = Field(4000, description="tokens decoded plus generated in one turn")
    message: Tokens = Field(400, description="tokens of the user's message")
    planner_prompt: Tokens = Field(2000, description="tokens the planner reads: menu, examples, message")
    follower_prompt: Tokens = Field(1200, description="tokens a skill's follower reads")
    follower_output: Tokens = Field(80, description="tokens of one step of a skill")
    agent_prompt: Tokens = Field(900, description="tokens a tool's agent reads: one schema, one request")
    agent_output: Tokens = Field(160, description="tokens of one call's arguments")
    answer_prompt: Tokens = Field(1600, description="tokens the answer is written from")
    answer_output: Tokens = Field(256, description="tokens of the answer")
    seconds: Seconds = Field(
        120.0,
        ge=0.1,
        le=3600.0,
        description="seconds of one turn; a cold prompt alone takes several on a board",
    )


class GatewaySettings(_Section):
    """The Unix socket."""

    socket: SocketPlace = Field(default_factory=paths.socket_path, description="path of the Unix socket")
    socket_mode: SocketMode = Field(
        0o660, description="0o660: this user and the group may connect; 0o600: this user alone"
    )
    socket_group: Words = Field(
        "", max_length=256, description="group that owns the socket; empty: not changed"
    )
    stop_timeout: Seconds = Field(
        10.0, ge=0.1, le=300.0, description="seconds that running turns get at stop; systemd kills after 90"
    )


class LogSettings(_Section):
    """What is logged."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug also logs what people wrote"
    )


# The library asks the class for its sources, so nothing can be handed to them as an argument.
_being_merged: ContextVar[Sequence[Given]] = ContextVar("being merged", default=())


class Settings(BaseSettings):
    """Everything that is in force. Made by `load`; made by hand, it reads neither files nor variables."""

    model_config = SettingsConfigDict(frozen=True)

    state: Place = Field(default_factory=paths.state_dir, description="folder of what outlives a restart")
    models: Place = Field(default_factory=paths.models_dir, description="folder of fetched models")
    engine: EngineSettings = Field(default_factory=EngineSettings, description="the engine process")
    budgets: Budgets = Field(default_factory=Budgets, description="tokens and seconds of one turn")
    gateway: GatewaySettings = Field(default_factory=GatewaySettings, description="the Unix socket")
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
    """Budgets that can never be kept together."""
    budgets, context = settings.budgets, settings.engine.context
    for prompt, output in FIT_TOGETHER:
        total = getattr(budgets, prompt) + getattr(budgets, output)
        if total > context:
            yield (
                f"budgets.{prompt} + budgets.{output} is {total}, more than engine.context ({context}); "
                "lower the one or raise the other"
            )
    for prompt in ("planner_prompt", "follower_prompt", "agent_prompt", "answer_prompt"):
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
