"""One token that listens without end leaves others an ear, and this device its own."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from muleteer.errors import TooManyError
from muleteer.gateway.ears import Ears
from muleteer.gateway.peer import EVERYTHING, LOCAL, Peer

OWNER = Peer("local", EVERYTHING, "unix", "uid 1000", LOCAL)


def token(id: str) -> Peer:
    return Peer("agent", frozenset({"tools"}), "tls", "192.0.2.1", id)


def test_each_has_its_own_and_the_device_has_some_that_nobody_else_takes() -> None:
    ears = Ears(2, 3, 1)
    with ExitStack() as streams:
        for peer in (token("a"), token("a"), token("b")):
            streams.enter_context(ears.taken(peer))
        for peer, count in ((token("a"), 2), (token("b"), 3), (token("c"), 3)):
            with pytest.raises(TooManyError, match=f"^{count} streams listen .*; end one of them first"):
                streams.enter_context(ears.taken(peer))
        streams.enter_context(ears.taken(OWNER))
        with pytest.raises(TooManyError, match=r"^1 streams"):
            streams.enter_context(ears.taken(OWNER))
    assert not ears._taken, "who has left is forgotten"
    with ears.taken(token("c")), ears.taken(OWNER):
        pass
