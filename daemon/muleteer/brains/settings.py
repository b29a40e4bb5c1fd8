"""The section of the settings that names brains elsewhere: where each is, and what it may cost.

Knows keys and limits. A key is never here: a variable or a file holds it.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from muleteer.settings.sections import Count, Seconds, Section, Tokens, Words

LOCAL = "local"


class BrainServer(Section):
    """One server that speaks OpenAI's `/v1/chat/completions`."""

    url: Words = Field(
        max_length=2048, description="address up to the version, such as http://10.0.0.5:8080/v1"
    )
    model: Words = Field(
        "", max_length=256, description="model it is asked for; empty: the server's only one"
    )
    key_variable: Words = Field("", max_length=256, description="variable that holds the API key")
    key_file: Words = Field("", max_length=4096, description="file that holds the API key")
    certificates: Words = Field(
        "", max_length=4096, description="file of certificates it is checked by; empty: the system's"
    )
    network: bool | None = Field(
        None, description="whether it is out of reach while offline; not set: any but this machine's is"
    )
    path: Literal["auto", "flat", "harness"] = Field(
        "auto", description="auto: as measured, else flat; flat: all tools at once; harness: level by level"
    )
    prompt: Tokens = Field(
        16_000, description="most tokens of one prompt, counted or estimated; less than the model's context"
    )
    output: Tokens = Field(1024, description="most tokens of one reply, thoughts included")
    turn: Tokens = Field(32_000, description="tokens sent plus generated in one turn: what it may cost")
    connect: Seconds = Field(5.0, ge=0.1, le=60.0, description="seconds to reach it")
    first: Seconds = Field(
        60.0, ge=0.1, le=600.0, description="seconds to its first word; a large prompt on one GPU takes tens"
    )
    between: Seconds = Field(20.0, ge=0.1, le=600.0, description="seconds between two of its words")
    retries: Count = Field(
        2, ge=0, le=5, description="times it is asked again when busy or out of reach; more only waits"
    )

    @model_validator(mode="after")
    def _usable(self) -> Self:
        if not self.url.startswith(("http://", "https://")):
            raise ValueError("the url must begin with http:// or https://")
        parts = urlsplit(self.url)
        if not parts.hostname or parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError("the url must be a host and a path, without a user, a question mark or a #")
        if self.key_variable and self.key_file:
            raise ValueError("the key must come from a variable or from a file, not from both")
        return self

    @property
    def uses_network(self) -> bool:
        """Whether it is out of reach while offline."""
        if self.network is not None:
            return self.network
        return urlsplit(self.url).hostname not in ("localhost", "127.0.0.1", "::1")


def _one_word(name: str) -> str:
    if not re.fullmatch("[a-z][a-z0-9-]{0,31}", name) or name == LOCAL:
        raise ValueError("must be a name of at most 32 characters, a-z, 0-9 and -, and not local")
    return name


BrainName = Annotated[str, AfterValidator(_one_word)]


class BrainsSettings(Section):
    """Which model answers."""

    default: Words = Field(
        LOCAL, max_length=32, description="brain of a turn that names none; local, or a server"
    )
    servers: dict[BrainName, BrainServer] = Field(
        default_factory=dict, max_length=8, description="brains elsewhere, each [brains.servers.NAME]"
    )

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.default != LOCAL and self.default not in self.servers:
            raise ValueError(f"default is {self.default!r}, and there is no [brains.servers.{self.default}]")
        return self
