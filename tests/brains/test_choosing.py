from __future__ import annotations

import pytest
from pydantic import ValidationError

from muleteer.brains.choosing import PRIVATE, Choice, choose
from muleteer.brains.settings import BrainServer, BrainsSettings
from muleteer.errors import RequestError

SERVERS = {
    "far": BrainServer(url="https://api.example.com/v1"),
    "desk": BrainServer(url="http://127.0.0.1:8080/v1"),
    "room": BrainServer(url="http://10.0.0.9:8080/v1", network=False),
}
OFFLINE = "Offline mode is on"


@pytest.mark.parametrize(
    ("wanted", "default", "private", "offline", "chosen"),
    [
        ("", "local", False, "", Choice("local")),
        ("", "far", False, "", Choice("far")),
        ("local", "far", False, "", Choice("local")),
        ("desk", "local", False, OFFLINE, Choice("desk")),
        ("room", "local", False, OFFLINE, Choice("room")),
        ("far", "local", False, OFFLINE, Choice("local", f"{OFFLINE}, so far cannot be asked")),
        ("desk", "local", True, "", Choice("local", PRIVATE)),
        ("", "far", True, OFFLINE, Choice("local", PRIVATE)),
        ("local", "far", True, "", Choice("local")),
    ],
)
def test_rules(wanted: str, default: str, private: bool, offline: str, chosen: Choice) -> None:
    assert choose(wanted, default, SERVERS, private=private, offline=offline) == chosen


def test_an_unknown_brain_is_answered_by_the_known_ones() -> None:
    with pytest.raises(RequestError, match="there is local, desk, far, room"):
        choose("x" * 5000, "local", SERVERS, private=False, offline="")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "10.0.0.1:8080"}, "must begin with"),
        ({"url": "http://user:secret@host/v1"}, "without a user"),
        ({"url": "http://host/v1?key=x"}, "without a user"),
        ({"url": "http://host/v1", "key_variable": "A", "key_file": "/b"}, "not from both"),
    ],
)
def test_a_server_that_cannot_be_is_refused(given: dict[str, str], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        BrainServer.model_validate(given)


@pytest.mark.parametrize("name", ["local", "Desk", "", "my desk", "x" * 40])
def test_names_are_words(name: str) -> None:
    with pytest.raises(ValidationError, match="must be a name"):
        BrainsSettings.model_validate({"servers": {name: {"url": "http://h/v1"}}})


def test_the_default_exists() -> None:
    with pytest.raises(ValidationError, match=r"no \[brains.servers.desk\]"):
        BrainsSettings(default="desk")
