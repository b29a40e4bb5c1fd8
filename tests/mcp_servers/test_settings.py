"""How servers are named in the settings, and what is said of those that cannot be."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from muleteer.mcp_servers.settings import McpServerSettings, McpSettings


@pytest.mark.parametrize(
    ("given", "network"),
    [
        ({"command": "x"}, False),
        ({"command": "x", "network": True}, True),
        ({"url": "http://192.168.1.5/mcp"}, True),
        ({"url": "http://localhost:8000/mcp"}, False),
        ({"url": "http://[::1]:8000/mcp"}, False),
        ({"url": "https://example.org/mcp", "network": False}, False),
    ],
)
def test_servers_of_other_machines_use_the_network(given: dict[str, object], network: bool) -> None:
    assert McpServerSettings.model_validate(given).uses_network is network


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({}, "either a command or a url"),
        ({"command": "x", "url": "http://y"}, "either a command or a url"),
        ({"url": "ftp://y"}, "must begin with http"),
        ({"command": "x", "effect": "destroy"}, "effect"),
        ({"command": "x", "seconds": 0.0}, "seconds"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        McpServerSettings.model_validate(given)


@pytest.mark.parametrize("name", ["Big", "two-words", "two_words", "1st", "", "x" * 21])
def test_a_name_is_one_word(name: str) -> None:
    with pytest.raises(ValidationError, match="a-z and 0-9"):
        McpSettings.model_validate({"servers": {name: {"command": "x"}}})
