"""The row of what is to be said."""

from __future__ import annotations

from muleteer.voice.conversation.outbox import Outbox


def test_what_is_told_late_of_what_was_hushed_counts_for_nothing() -> None:
    out = Outbox(tones=True)
    out.say("One.")
    out.say("Two.")
    out.hush()
    out.say("Three.")
    assert not out.heard(1)
    assert not out.quiet
    assert out.heard(3)
    assert out.quiet
    assert not out.heard(7), "nobody was to say that"


def test_without_tones_only_those_are_heard_that_are_no_matter_of_taste() -> None:
    out = Outbox(tones=False)
    out.tone("thinking")
    out.tone("ring")
    assert len(out.take()) == 1
    assert not out.take()
