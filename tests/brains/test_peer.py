"""A real server: llama.cpp's own, over real HTTP. Its model is tiny, so what it says is not looked at."""

from __future__ import annotations

import importlib.util
from collections.abc import AsyncIterator
from contextlib import aclosing

import pytest

from muleteer.brains.server import Server
from muleteer.brains.settings import BrainServer
from muleteer.engine import models
from muleteer.engine.protocol import Conversation, Message
from muleteer.errors import BrainError
from muleteer.evaluate.peer import Peer, PeerSettings
from muleteer.harness.brains import Said
from tests.brains.test_server import HELLO, PLAN, listen

pytestmark = [
    pytest.mark.model("tiny"),
    pytest.mark.skipif(not importlib.util.find_spec("xllamacpp"), reason="it comes with muleteer[bench]"),
]


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    async with Peer(PeerSettings(model=str(models.resolve("tiny")), context=2048, threads=1)) as peer:
        each = Server("peer", BrainServer(url=f"{peer.address}/v1", first=300.0, between=60.0, retries=0))
        await each.open()
        try:
            yield each
        finally:
            await each.close()


async def test_it_is_understood(server: Server) -> None:
    pieces, said = await listen(server, limit=12)
    assert "".join(pieces) == said.text != ""
    assert said.finish in ("stop", "length")
    assert 0 < said.use.generated <= 12
    assert said.use.prompt == said.use.reused + said.use.decoded > 0

    # again: what it has decoded already is counted as reused
    _, again = await listen(server, limit=12)
    assert again.use.prompt == said.use.prompt
    assert again.use.reused > 0
    assert again.text == said.text, "greedy"

    # who leaves early frees it
    async with aclosing(server.talk(HELLO, limit=1000)) as talk:
        assert not isinstance(await anext(talk), Said)

    # tools, a call that was made and its result are taken
    made = (Message("assistant", "", (("plan", '{"text": "@a"}'),)), Message("tool", "ok: noon"))
    _, told = await listen(server, Conversation((*HELLO.messages, *made), (PLAN,)), limit=12)
    assert told.use.prompt > said.use.prompt
    assert server.report()["failures"] == 0

    # too much for it is a refusal that is told
    with pytest.raises(BrainError, match="The brain peer answered 400"):
        await listen(server, Conversation((Message("user", "hay " * 4000),)), limit=12)
