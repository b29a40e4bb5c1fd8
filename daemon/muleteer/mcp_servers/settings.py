"""The section of the settings that names MCP servers: how each is reached, and what its tools may do."""

from __future__ import annotations

import re
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, model_validator

from muleteer.settings.sections import Seconds, Section, Words


class McpServerSettings(Section):
    """One MCP server: a program (`command`) or an address (`url`)."""

    command: Words = Field("", max_length=4096, description="program that speaks MCP on its standard input")
    args: tuple[Words, ...] = Field((), max_length=64, description="its arguments")
    env: dict[str, Words] = Field(
        default_factory=dict, max_length=64, description="variables for it; secrets go by `inherit`"
    )
    inherit: tuple[Words, ...] = Field(
        (), max_length=64, description="names of the daemon's own variables that it sees, such as a key"
    )
    url: Words = Field("", max_length=2048, description="address of a server over streamable HTTP")
    token_variable: Words = Field("", max_length=256, description="variable that holds the bearer token")
    token_file: Words = Field("", max_length=4096, description="file that holds the bearer token")
    tools: tuple[Words, ...] = Field(
        (), max_length=64, description="tools that may be used, by the server's names; all if empty"
    )
    effect: Literal["", "read", "write", "physical"] = Field(
        "", description="what its tools do; empty: write, or read where the server says that it only reads"
    )
    network: bool | None = Field(
        None, description="whether its tools stop while offline; not set: those of another machine do"
    )
    seconds: Seconds = Field(20.0, ge=1.0, le=300.0, description="seconds one call may take")

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("must have either a command or a url")
        if self.url and not self.url.startswith(("http://", "https://")):
            raise ValueError("the url must begin with http:// or https://")
        return self

    @property
    def uses_network(self) -> bool:
        """Whether it is out of reach while offline."""
        if self.network is not None:
            return self.network
        return bool(self.url) and urlsplit(self.url).hostname not in ("localhost", "127.0.0.1", "::1")


def _one_word(name: str) -> str:
    """Every tool of a server begins with its name."""
    if not re.fullmatch("[a-z][a-z0-9]{0,19}", name):
        raise ValueError("must be a name of at most 20 characters, a-z and 0-9")
    return name


ServerName = Annotated[str, AfterValidator(_one_word)]


class McpSettings(Section):
    """Servers whose tools are used (Model Context Protocol)."""

    servers: dict[ServerName, McpServerSettings] = Field(
        default_factory=dict, max_length=16, description="MCP servers, each [mcp.servers.NAME]"
    )
