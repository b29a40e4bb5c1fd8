"""Which open question a guest's yes or no is the answer to.

A guest has no field for an answer: it sends the conversation again, with our question and the user's word at
its end. The question is found only by who sends exactly the conversation that it ended, so that nobody can
answer another's. Knows digests of conversations and ids of turns.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence

from muleteer.harness.confirmation import OPEN_LIMIT
from muleteer.harness.guests.ask import Ask, Said


class Questions:
    """The turns that ended with a question to a guest."""

    def __init__(self) -> None:
        self._turns: OrderedDict[bytes, str] = OrderedDict()

    def add(self, ask: Ask, answer: str, turn: str) -> None:
        """The turn of `ask` ended with `answer`, which closes with a question."""
        self._turns[_digest(ask, [*ask.messages, Said("assistant", answer)])] = turn
        while len(self._turns) > OPEN_LIMIT:
            self._turns.popitem(last=False)

    def find(self, ask: Ask) -> str:
        """The turn whose question the last message answers; empty where there is none."""
        return self._turns.get(_digest(ask, ask.messages[:-1]), "")


def _digest(ask: Ask, messages: Sequence[Said]) -> bytes:
    said = [(each.role, each.content.strip()) for each in messages]
    return hashlib.sha256(json.dumps([ask.guest, ask.session, said]).encode()).digest()
