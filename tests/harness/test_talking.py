"""The engine as a free brain: what it writes becomes prose and calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from muleteer.engine import models
from muleteer.engine.client import Engine
from muleteer.engine.protocol import Conversation, LoadSettings, Message, ToolSpec
from muleteer.harness.brains import Said
from muleteer.harness.talking import Talking
from tests.harness.dialects.material import TOOLS
from tests.harness.scripted import ScriptedBrain, Write

ASK = Message("user", "What time is it in Rome?")
PLACE = {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]}
CLOCK = ToolSpec("clock", "Tells the present time at a place.", PLACE)
READY_S = 120.0


async def heard(talking: Talking, prompt: Conversation, limit: int = 64) -> tuple[list[str], Said]:
    *pieces, said = [piece async for piece in talking.talk(prompt, limit=limit)]
    assert isinstance(said, Said)
    assert all(isinstance(piece, str) for piece in pieces)
    return [str(piece) for piece in pieces], said


async def test_calls_leave_the_text_and_prose_streams() -> None:
    brain = ScriptedBrain(
        Write(("One ", "moment.\n<tool", '_call>{"name": "clock", ', '"arguments": {}}', "</tool_call>"))
    )
    pieces, said = await heard(Talking(brain, ("<tool_call>",)), Conversation((ASK,), TOOLS))
    assert pieces[0] == "One"
    assert "".join(pieces) == said.text == "One moment."
    assert [(call.name, call.arguments) for call in said.calls] == [("clock", {})]
    assert said.use.generated


async def test_without_tools_nothing_is_a_call() -> None:
    text = '{"name": "clock", "arguments": {}}'
    pieces, said = await heard(Talking(ScriptedBrain(Write((text,))), ()), Conversation((ASK,)))
    assert (pieces, said.text, said.calls) == ([text], text, ())


async def test_a_talk_that_is_left_frees_the_engine() -> None:
    brain = ScriptedBrain(Write(("a b ", "c d ", "e")))
    talk = Talking(brain, ()).talk(Conversation((ASK,), TOOLS), limit=9)
    await anext(talk)
    await talk.aclose()
    assert brain.closed == 1


@pytest_asyncio.fixture
async def small() -> AsyncIterator[Engine]:
    path = models.locate("small")
    assert path, "The small model is missing; run `make setup`."
    engine = Engine(path, LoadSettings(context=1024), load_timeout=READY_S)
    await engine.start()
    yield engine
    await engine.stop()


@pytest.mark.model("small")
async def test_a_real_models_call_is_read_and_comes_back_as_it_wrote_it(
    small: Engine,
) -> None:
    marks = (await small.ready(READY_S)).call_marks
    assert marks == ("<tool_call>",)
    talking = Talking(small, marks)
    first = Conversation((Message("system", "Call the tool that helps."), ASK), (CLOCK,), constant=1)
    pieces, said = await heard(talking, first)
    assert [(call.name, call.fault) for call in said.calls] == [("clock", "")], said
    assert "{" not in "".join(pieces)
    made = tuple((call.name, json.dumps(call.arguments)) for call in said.calls)
    messages = (*first.messages, Message("assistant", said.text, made), Message("tool", "It is noon."))
    _, then = await heard(talking, Conversation(messages, first.tools, first.constant))
    assert then.use.reused >= said.use.prompt, "the conversation only grows"
