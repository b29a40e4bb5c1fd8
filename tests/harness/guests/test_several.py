"""Which parts of a message no call has taken up."""

from __future__ import annotations

import pytest

from muleteer.harness.guests.ask import Wanted
from muleteer.harness.guests.several import left


@pytest.mark.parametrize(
    ("message", "arguments", "parts"),
    [
        ("What is the weather in Oslo and in Rome?", {"city": "Oslo"}, ["What is the weather in Rome"]),
        (
            "Turn off the kitchen light and lock the garage door",
            {"room": "kitchen"},
            ["lock the garage door"],
        ),
        ("Set a timer for 10 minutes and play some jazz", {"minutes": 10}, ["play some jazz"]),
        ("Pause the music and lock the front door", {}, ["lock the front door"]),
        ("Search for cats and dogs", {"query": "cats and dogs"}, []),
        ("Send bread and butter to Ann", {"what": "bread and butter", "to": "Ann"}, []),
        ("Turn on the light in the hall", {"room": "hall"}, []),
    ],
)
def test_what_a_call_has_not_taken_up(message: str, arguments: dict[str, object], parts: list[str]) -> None:
    assert left(message, "en", [Wanted("some", arguments)]) == parts
