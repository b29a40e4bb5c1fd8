"""The sections of the settings: which keys each has, what they mean, which values are possible.

Knows limits and why they are where they are. Does not know where values come from: that is `config.py`.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, Strict

from muleteer import paths

LONGEST_SOCKET_PATH = 107  # bytes; unix(7): sun_path holds 108 with its closing zero
HOST = re.compile(r"[0-9A-Za-z._-]+|[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*")  # a name or IPv4, or IPv6
SHORTEST_IDLE = 10.0  # seconds; less would load the model again after every pause in a talk


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


def _all_absolute(values: tuple[Path, ...]) -> tuple[Path, ...]:
    return tuple(_absolute(value) for value in values)


def _short_enough(value: Path) -> Path:
    if len(os.fsencode(value)) > LONGEST_SOCKET_PATH:
        raise ValueError(f"must be a path of at most {LONGEST_SOCKET_PATH} bytes, a limit of Unix sockets")
    return value


def _host(value: str) -> str:
    if not HOST.fullmatch(value):
        raise ValueError(f"{value!r} is no name or address; write it like mule.example.net, without a port")
    return value.lower()


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
Places = Annotated[tuple[Path, ...], AfterValidator(_all_absolute)]
SocketPlace = Annotated[Place, AfterValidator(_short_enough)]
Hosts = tuple[Annotated[Words, Field(min_length=1, max_length=253), AfterValidator(_host)], ...]
SocketMode = Annotated[Literal[0o600, 0o660], BeforeValidator(_octal)]


class Section(BaseModel):
    """What all sections have in common."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, allow_inf_nan=False)


class EngineSettings(Section):
    """The engine process."""

    model: Words = Field(
        "standard",
        min_length=1,
        max_length=4096,
        description="catalogue name, or path of a GGUF file; none: no model",
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
    parked_talks: bool = Field(
        False, description="true: conversations are parked on disk, too; it wears out a card"
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


class Budgets(Section):
    """Tokens and seconds that one turn may use; what cannot hold together is found by `load`."""

    turn: Tokens = Field(4000, description="tokens decoded plus generated in one turn")
    message: Tokens = Field(400, description="tokens of the user's message")
    planner_prompt: Tokens = Field(2000, description="tokens the planner reads: menu, examples, message")
    follower_prompt: Tokens = Field(1200, description="tokens a skill's follower reads")
    follower_output: Tokens = Field(80, description="tokens of one step of a skill")
    agent_prompt: Tokens = Field(900, description="tokens a tool's agent reads: one schema, one request")
    agent_output: Tokens = Field(160, description="tokens of one call's arguments")
    flat_prompt: Tokens = Field(
        2600, description="tokens the loop without a plan reads: every tool, the talk"
    )
    answer_prompt: Tokens = Field(1600, description="tokens the answer is written from")
    answer_output: Tokens = Field(256, description="tokens of the answer")
    seconds: Seconds = Field(
        120.0,
        ge=0.1,
        le=3600.0,
        description="seconds of one turn; a cold prompt alone takes several on a board",
    )


class GatewaySettings(Section):
    """Where clients connect: the Unix socket, and the network if that is wished."""

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
    listen: Literal["off", "loopback", "lan"] = Field(
        "off",
        description="who may connect over TCP, with a token: nobody, this machine, or the local network",
    )
    port: Count = Field(
        8765,
        ge=0,
        le=65_535,
        description="TCP port for clients; the next free one if it is taken, and that from then on; 0: any",
    )
    tls: bool = Field(
        False, description="true: TCP is encrypted, with a certificate that is made on this device"
    )
    hosts: Hosts = Field(
        (),
        max_length=32,
        description="more names and addresses by which clients reach this device: mule.example.net",
    )


class LogSettings(Section):
    """What is logged."""

    level: Literal["debug", "info", "warning", "error"] = Field(
        "info", description="debug also logs what people wrote"
    )
