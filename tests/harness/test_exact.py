"""Tokens sent are tokens decoded plus reused, at every request; where not, it is an error in the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from muleteer.engine.protocol import Choice, Conversation, Message, Text, Use
from muleteer.harness.exact import MISMATCH, Audit, ExactLane
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House
from tests.harness.scripted import Choose, Fill, ScriptedBrain, Write

PROMPT = Conversation((Message("system", "one two three four five"), Message("user", "six seven")))


class Cutting(ScriptedBrain):
    """Silently drops the beginning of each prompt, as a server does whose context is too small."""

    def use(self, prompt: Conversation) -> Use:
        used = super().use(prompt)
        return replace(used, prompt=used.prompt - 1, reused=used.reused - 1)


class Learning(ScriptedBrain):
    """Writes a text of the prompt anew, in other tokens than before: the count changes with the request."""

    learnt = 0

    def _tokens(self, prompt: Conversation) -> int:
        return super()._tokens(prompt) + self.learnt

    async def choose(
        self, prompt: Conversation, options: Sequence[str], *, prompt_limit: int | None = None
    ) -> Choice:
        self.learnt = 1
        return await super().choose(prompt, options, prompt_limit=prompt_limit)


class Forced(ScriptedBrain):
    """Fills schemas that leave no choice, without asking the model."""

    def use(self, prompt: Conversation) -> Use:
        return Use(generated=2)


async def everything(lane: ExactLane) -> None:
    await lane.choose(PROMPT, ["@a", "@b"])
    await lane.fill(PROMPT, {}, limit=9)
    pieces = [piece async for piece in lane.write(PROMPT, limit=9)]
    assert isinstance(pieces[-1], Text)


def script() -> tuple[Choose, Fill, Write]:
    return Choose({"a": 1.0}), Fill({}), Write(("x",))


async def test_every_kind_of_request_is_checked(caplog: pytest.LogCaptureFixture) -> None:
    audit = Audit()
    await everything(ExactLane(ScriptedBrain(*script()), "t1", audit))
    assert audit == Audit(requests=3, mismatches=0)
    assert not caplog.records


async def test_tokens_that_were_silently_dropped_are_an_error_that_counts_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    audit = Audit()
    await everything(ExactLane(Cutting(*script()), "t1", audit))
    assert audit == Audit(requests=3, mismatches=3)
    said = f"{MISMATCH}: a prompt of 7 tokens was sent, 4 were decoded and 2 reused."
    assert [(record.levelname, record.message) for record in caplog.records] == [("ERROR", said)] * 3
    caplog.clear()


async def test_a_text_whose_tokens_the_engine_learnt_meanwhile_is_no_mismatch() -> None:
    audit = Audit()
    await ExactLane(Learning(Choose({"a": 1.0})), "t1", audit).choose(PROMPT, ["@a"])
    assert audit == Audit(requests=1, mismatches=0)


async def test_a_call_that_its_schema_writes_alone_asks_nothing() -> None:
    audit = Audit()
    await ExactLane(Forced(Fill({})), "t1", audit).fill(PROMPT, {}, limit=9)
    assert audit == Audit()


async def test_every_request_of_a_turn_passes_the_check(
    house: House, caplog: pytest.LogCaptureFixture
) -> None:
    brain = Cutting(
        Choose({"look-up": 1.0}),
        Fill({"tool": "find_note", "instruction": "keys"}),
        Fill({"query": "keys"}),
        Fill({"tool": "finish", "instruction": "done"}),
    )
    harness = Harness(brain, house.catalogue, Budgets())
    events = [event async for event in harness.run("where are my keys")]
    assert events[-1].name == "turn.finished"
    assert harness.audit == Audit(requests=4, mismatches=4)
    caplog.clear()
