"""What every measure works with: our engine, the peer, the tokens of a prompt, and alternation.

Both sides get the same tokens, one after the other, so that one is idle while the other works. Knows how a
request is put to each side; what is worth asking is not known here.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from muleteer.engine.chat import Chat
from muleteer.engine.child import WORKER
from muleteer.engine.client import Engine
from muleteer.engine.llama import Llama
from muleteer.engine.protocol import Conversation, LoadSettings, Properties, Text, Use
from muleteer.errors import EngineError
from muleteer.evaluate.material import Material, Step
from muleteer.evaluate.peer import Answer, Peer, PeerSettings

LOAD_S = 300.0
PEEK = LoadSettings(context=512, sequences=4, batch=32, threads=1, extra_buffers=False)
OPTION_TOKENS = 24  # more than the longest handle has

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ran:
    """One request of ours: what came out, what it used, seconds of wall time to the first text and to the
    end, seen from this side of the process boundary."""

    text: str
    use: Use
    first_s: float
    seconds: float
    finish: str = "stop"


class Tokens:
    """The tokens of prompts, as the engine renders them."""

    def __init__(self, model: Path) -> None:
        self._llama = Llama(model, PEEK)
        self._chat = Chat(self._llama)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._llama.close()

    def of(self, prompt: Conversation) -> list[int]:
        return self._chat.render(prompt).tokens

    def constant(self, prompt: Conversation) -> list[int]:
        return self._chat.constant(prompt)


@dataclass(frozen=True, slots=True)
class Rig:
    """`n` is how many samples a measure takes of each side, `quick` whether it should be brief. `tiny` is
    where the tiny model lies, `scratch` a folder that is removed at the end."""

    model: Path
    tiny: Path | None
    settings: LoadSettings
    properties: Properties
    tokens: Tokens
    material: Material
    with_peer: bool
    quick: bool
    n: int
    scratch: Path
    say: Say

    @property
    def states(self) -> Path:
        """Where prefixes are saved by the measures that do so."""
        return self.scratch / "states"

    @property
    def undrafted(self) -> LoadSettings:
        """Plain decoding, one token at a time."""
        return replace(self.settings, drafts=False)

    @asynccontextmanager
    async def engine(self, settings: LoadSettings | None = None) -> AsyncGenerator[Engine, None]:
        """A freshly loaded engine of ours."""
        async with opened(self.model, settings or self.settings) as engine:
            yield engine

    @asynccontextmanager
    async def peer(self, settings: PeerSettings | None = None) -> AsyncGenerator[Peer | None, None]:
        """A freshly loaded peer, or None when there shall be none. Where it dies of its first decode it is
        tried once more without repacked weights, whose kernels crash on some virtual machines."""
        if not self.with_peer:
            yield None
            return
        wanted = settings or self.peer_settings()
        async with AsyncExitStack() as stack:
            try:
                peer = await proven(stack, wanted)
            except EngineError as error:
                self.say(f"the peer is started again without repacked weights: {error}")
                peer = await proven(stack, replace(wanted, extra_buffers=False))
            yield peer

    def peer_settings(self) -> PeerSettings:
        """The peer as it is by default, with our context and threads."""
        return PeerSettings(str(self.model), self.settings.context, self.properties.threads)

    async def alternate(
        self,
        what: str,
        ours: Callable[[int], Awaitable[None]],
        theirs: Callable[[int], Awaitable[None]] | None,
    ) -> None:
        """Run both `n` times in turn: ours(0), theirs(0), ours(1), ..."""
        for i in range(self.n):
            self.say(f"{what}: {i + 1} of {self.n}")
            await ours(i)
            if theirs is not None:
                await theirs(i)


async def proven(stack: AsyncExitStack, settings: PeerSettings) -> Peer:
    """A peer that has decoded something."""
    peer = await stack.enter_async_context(Peer(settings))
    await peer.complete(range(10, 74), 2)
    return peer


@asynccontextmanager
async def opened(
    model: Path, settings: LoadSettings, command: Sequence[str] = WORKER
) -> AsyncGenerator[Engine, None]:
    """An engine that is ready; stopped in the end."""
    engine = Engine(model, settings, load_timeout=LOAD_S, restarts=1, command=command)
    await engine.start()
    try:
        await engine.ready(LOAD_S)
        yield engine
    finally:
        await engine.stop()


async def write(engine: Engine, prompt: Conversation, limit: int) -> Ran:
    """Free text from our engine."""
    first = 0.0
    began = time.perf_counter()
    async for part in engine.write(prompt, limit=limit):
        now = time.perf_counter()
        first = first or now
        if isinstance(part, Text):
            return Ran(part.text, part.use, first - began, now - began, part.finish)
    raise EngineError("The engine ended a text without its counts.")


async def run(engine: Engine, step: Step) -> Ran:
    """One step of a turn by our engine."""
    began = time.perf_counter()
    if step.schema is None:
        choice = await engine.choose(step.prompt, step.options)
        best = max(zip(choice.probabilities, step.options, strict=True))[1]
        seconds = time.perf_counter() - began
        return Ran(best, choice.use, seconds, seconds)
    text = await engine.fill(step.prompt, step.schema, limit=step.limit)
    seconds = time.perf_counter() - began
    return Ran(text.text, text.use, seconds, seconds, text.finish)


async def run_peer(peer: Peer, tokens: Sequence[int], step: Step) -> Answer:
    """The same step by the peer, with what it has for it: a JSON schema, or a grammar of the options."""
    if step.schema is not None:
        return await peer.complete(tokens, step.limit, json_schema=step.schema)
    options = " | ".join(f'"{option}"' for option in step.options)
    return await peer.complete(tokens, OPTION_TOKENS, grammar=f"root ::= {options}")
