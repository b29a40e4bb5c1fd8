"""The whole boundary with a real model: daemon side, socket, process, llama.cpp."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager

import pytest

from muleteer.engine import models, wire
from muleteer.engine.client import Engine
from muleteer.engine.protocol import Conversation, LoadSettings, Message, Text
from muleteer.errors import EngineDiedError, EngineError, ModelError, TooLongError

pytestmark = pytest.mark.model("tiny")

READY_S = 60.0
PLAIN = LoadSettings()
SYSTEM = Message("system", "You are a helpful assistant. " * 20)
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 20}, "days": {"type": "integer", "maximum": 9}},
    "required": ["city", "days"],
    "additionalProperties": False,
}


def ask(text: str) -> Conversation:
    return Conversation((SYSTEM, Message("user", text)), constant=1)


class WatchedEngine(Engine):
    """Notices signs of life."""

    beat: asyncio.Event

    def received(self, message: wire.FromEngine) -> None:
        super().received(message)
        if isinstance(message, wire.Beat):
            self.beat.set()


@asynccontextmanager
async def tiny(settings: LoadSettings = PLAIN) -> AsyncIterator[WatchedEngine]:
    path = models.locate("tiny")
    assert path, "run `muleteer model pull tiny`"
    engine = WatchedEngine(path, settings, queue=20, load_timeout=READY_S, first_pause=0.01)
    engine.beat = asyncio.Event()
    await engine.start()
    try:
        yield engine
    finally:
        await engine.stop()


async def test_every_kind_of_call_is_answered_and_the_ledger_is_exact() -> None:
    async with tiny() as engine:
        properties = await engine.ready(READY_S)
        assert properties.context == 4096
        assert await engine.count("Hello there") > 1
        warmed = await engine.warm(ask(""))
        assert warmed.decoded == warmed.prompt > 50
        choice = await engine.choose(ask("Is water wet?"), ["yes", "no"])
        assert sum(choice.probabilities) == pytest.approx(1)
        assert choice.use.reused == warmed.prompt
        filled = await engine.fill(ask("The weather in Rome for 3 days"), SCHEMA, limit=60)
        assert set(json.loads(filled.text)) == {"city", "days"}
        parts = [part async for part in engine.write(ask("Say hello."), limit=12)]
        text = parts.pop()
        assert isinstance(text, Text)
        assert "".join(str(part) for part in parts) == text.text
        total = warmed + choice.use + filled.use + text.use
        status = engine.status()
        assert (status.totals.decoded, status.totals.reused) == (total.decoded, total.reused)
        assert status.totals.generated == total.generated
        assert status.held.resident_tokens >= warmed.prompt


async def test_refusals_cross_the_boundary_and_harm_nothing() -> None:
    async with tiny() as engine:
        with pytest.raises(TooLongError):
            await engine.choose(ask("Is water wet?"), ["yes", "no"], prompt_limit=10)
        with pytest.raises(TooLongError):
            await engine.choose(ask("word " * 6000), ["yes", "no"])
        assert len((await engine.choose(ask("Is water wet?"), ["yes", "no"])).probabilities) == 2
        assert engine.status().restarts == 0


async def test_a_cancel_in_prefill_and_one_in_decode_free_the_engine_within_a_second() -> None:
    async with tiny(LoadSettings(context=8192, batch=32)) as engine:
        await engine.warm(ask(""))
        before = engine.status()
        engine.beat.clear()
        prefill = asyncio.create_task(engine.choose(ask("word " * 7000), ["yes", "no"]))
        async with asyncio.timeout(READY_S):
            await engine.beat.wait()  # one second into a prompt that takes several
        prefill.cancel()
        began = time.monotonic()
        assert await engine.count("xyz") > 0
        assert time.monotonic() - began < 1
        assert 0 < engine.status().totals.decoded - before.totals.decoded < 7000
        async with aclosing(engine.write(ask("Tell me a very long story."), limit=2000)) as parts:
            assert isinstance(await anext(parts), str)
        began = time.monotonic()
        assert await engine.count("xyz") > 0
        assert time.monotonic() - began < 1
        assert len((await engine.choose(ask("Is water wet?"), ["yes", "no"])).probabilities) == 2
        assert engine.status().pid == before.pid


async def test_ten_clients_at_once_are_answered_in_order_and_each_as_if_alone() -> None:
    async with tiny() as engine:
        alone = await engine.choose(ask("Is water wet?"), ["yes", "no"])
        ended: list[int] = []

        async def client(number: int) -> None:
            choice = await engine.choose(ask("Is water wet?"), ["yes", "no"])
            assert choice.probabilities == pytest.approx(alone.probabilities, abs=0.02)
            ended.append(number)

        async with asyncio.TaskGroup() as group:
            for number in range(10):
                group.create_task(client(number))
        assert ended == list(range(10))


async def test_background_warming_gives_way_and_nothing_is_decoded_twice() -> None:
    long = Conversation((Message("system", "word " * 2000),), constant=1)
    async with tiny(LoadSettings(batch=32)) as engine:
        await engine.ready(READY_S)
        before = engine.status().totals.decoded
        engine.beat.clear()
        warming = asyncio.create_task(engine.lane(background=True).warm(long))
        async with asyncio.timeout(READY_S):
            await engine.beat.wait()  # one second into a prompt that takes several
        began = time.monotonic()
        assert await engine.lane().count("xyz") > 0
        assert time.monotonic() - began < 1
        assert not warming.done()
        use = await warming
        assert use.reused > 0
        assert use.prompt == use.reused + use.decoded
        assert engine.status().totals.decoded - before == use.prompt
        assert engine.status().restarts == 0


async def test_threads_change_while_it_runs_and_the_answers_stay() -> None:
    async with tiny(LoadSettings(threads=2)) as engine:
        first = await engine.choose(ask("Is water wet?"), ["yes", "no"])
        engine.set_threads(1)
        second = await engine.choose(ask("Is water wet?"), ["yes", "no"])
        assert second.probabilities == pytest.approx(first.probabilities, abs=0.02)
        assert (engine.status().threads, engine.status().restarts) == (1, 0)


async def test_kill_9_in_the_middle_of_writing_is_told_and_the_next_call_works() -> None:
    async with tiny() as engine:
        async with aclosing(engine.write(ask("Tell me a very long story."), limit=2000)) as parts:
            assert isinstance(await anext(parts), str)
            os.kill(engine.status().pid or 0, signal.SIGKILL)
            with pytest.raises(EngineDiedError, match=r"killed by signal 9 .* Try again in a moment"):
                async for _ in parts:
                    pass
        assert len((await engine.choose(ask("Is water wet?"), ["yes", "no"])).probabilities) == 2
        assert engine.status().restarts == 1


async def test_a_file_that_is_no_model_fails_with_one_sentence(tmp_path: os.PathLike[str]) -> None:
    path = models.locate("tiny")
    assert path
    damaged = path.__class__(tmp_path) / "damaged.gguf"
    damaged.write_bytes(path.read_bytes()[:1_000_000])
    engine = Engine(damaged, LoadSettings(), load_timeout=READY_S)
    await engine.start()
    try:
        with pytest.raises((ModelError, EngineError), match=r"damaged\.gguf") as caught:
            await engine.ready(READY_S)
        assert "\n" not in str(caught.value)
        assert engine.status().state == "failed"
    finally:
        await engine.stop()
