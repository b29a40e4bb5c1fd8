"""A guest's messages as one conversation."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.guests.ask import Called, Said
from muleteer.harness.guests.talk import MOST_MESSAGES, Made, is_fault, read
from tests.gateway.visiting import user

CALL = Called("weather", '{"place": "Oslo"}')


def test_earlier_calls_stay_with_their_results_and_the_last_ones_are_made() -> None:
    calls = Said("assistant", "", (CALL, Called("clock", "", "b")))
    talk = read(
        (
            Said("system", "be short"),
            *user("Rain?"),
            Said("assistant", "", (CALL,)),
            Said("tool", "dry"),
            Said("assistant", "No."),
            *user("And the time?"),
            calls,
            Said("tool", "noon", answers="b"),
            Said("tool", "wet"),
        )
    )
    assert talk.system == "be short"
    assert talk.history == (
        Message("user", "Rain?"),
        Message("assistant", "", (("weather", '{"place": "Oslo"}'),)),
        Message("tool", "dry"),
        Message("assistant", "No."),
    )
    assert talk.message == "And the time?"
    assert talk.made == (Made("weather", {"place": "Oslo"}, "wet"), Made("clock", {}, "noon"))
    assert talk.rounds == 1


def test_of_many_messages_the_newest_are_kept_and_the_others_counted() -> None:
    talk = read(user(*["hello"] * (2 * MOST_MESSAGES + 1)))
    assert (len(talk.history), talk.dropped) == (MOST_MESSAGES, MOST_MESSAGES)


@pytest.mark.parametrize(
    ("result", "fault"),
    [
        ("Error: not reachable", True),
        ('{"error": "no such lamp"}', True),
        ('{"success": false}', True),
        ('{"error": null, "value": 3}', False),
        ('{"success": true}', False),
        ("The error log is empty.", False),
        ("done", False),
        ("[1, 2]", False),
    ],
)
def test_a_result_says_of_itself_that_it_is_an_error(result: str, fault: bool) -> None:
    assert is_fault(result) is fault
