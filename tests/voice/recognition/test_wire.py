"""The recogniser's messages."""

from __future__ import annotations

import pytest

from muleteer.voice.recognition import wire


def test_a_message_says_how_long_it_is() -> None:
    whole = wire.encode(wire.Ask(1, "de", ("Küche",), 640))
    assert wire.length(whole[: wire.HEAD]) == len(whole) - wire.HEAD


def test_what_nobody_sends_is_refused() -> None:
    with pytest.raises(ValueError, match="the most"):
        wire.encode(wire.Answer(1, "x" * wire.LONGEST_JSON))
    with pytest.raises(ValueError, match="4294967295 bytes"):
        wire.length(b"\xff" * wire.HEAD)
