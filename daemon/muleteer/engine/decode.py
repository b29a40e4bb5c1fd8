"""Requests on one model: choose among options, fill a schema, write text.

Each request renders its prompt, opens it on the longest resident prefix and decodes from there. Knows
nothing of processes or queues: `check` is how a caller stops a request, by raising from it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import time
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Literal

from muleteer.engine import llama, trie
from muleteer.engine.budget import Ledger, Meter, check_length
from muleteer.engine.cache import Cache, Check
from muleteer.engine.chat import Chat, Prompt
from muleteer.engine.draft import DRAFT, Drafter, greedy
from muleteer.engine.grammar import Grammars
from muleteer.engine.llama import Llama, Logits
from muleteer.engine.prefixes import Forest
from muleteer.engine.protocol import (
    CALL_ENDS,
    CALL_MARKS,
    Choice,
    Conversation,
    Held,
    JsonSchema,
    LoadSettings,
    Message,
    Properties,
    Text,
    ToolSpec,
    Use,
)
from muleteer.engine.scores import Scorer
from muleteer.engine.stream import THINK, THOUGHT, Visible, cycle
from muleteer.engine.tiers import Tiers, open_tiers
from muleteer.errors import EngineError, ModelError, MuleteerError, RequestError, SkillError

_log = logging.getLogger(__name__)

TEST_SCHEMA: JsonSchema = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
TEST_TOOL = ToolSpec("self_test", "Says whether it works.", TEST_SCHEMA)
Finish = Literal["stop", "length", "repetition"]

TEST_LIMIT = 16  # tokens: `{"ok": false}` takes six to nine


class Decoder:
    """One loaded model. Not thread-safe: one request at a time."""

    def __init__(self, native: Llama, tiers: Tiers | None = None, drafts: bool = True) -> None:
        """`drafts`: whether `write` proposes what a text copies and verifies it in batches."""
        self._llama, self.drafts = native, drafts
        self._chat = Chat(native)
        self._grammars = Grammars(native.grammar_tokenizer(self._ends()), native.vocabulary)
        forest = Forest(native.sequences, native.context, native.partial_reuse)
        self._cache = Cache(native, forest, tiers)
        self._ledger = Ledger()
        for tag in (THINK, THOUGHT, *CALL_MARKS, *CALL_ENDS):
            tokens = native.tokenize(tag, special=True)
            if len(tokens) == 1 and native.is_control(tokens[0]):
                native.show_as_text(tokens[0])
        self.properties: Properties

    @classmethod
    def load(cls, path: Path, settings: LoadSettings) -> Decoder:
        """Load a model and let it prove itself. Raises `ModelError`."""
        began = time.perf_counter()
        native = Llama(path, settings)
        try:
            decoder = cls(native, open_tiers(path, llama.build(), settings), settings.drafts)
            decoder._self_test()
        except MuleteerError as error:
            native.close()
            raise ModelError(f"{path.name} was loaded but failed its first test: {error}") from error
        decoder.properties = Properties(
            name=native.metadata.get("general.name", path.stem),
            path=str(path),
            size=native.need.weights,
            context=native.context,
            trained_context=native.trained_context,
            vocabulary=native.vocabulary,
            template_knows_tools=decoder._chat.knows_tools,
            partial_reuse=native.partial_reuse,
            kv_bytes=native.need.kv,
            threads=native.threads,
            build=llama.build(),
            extra_buffers=native.extra_buffers,
            load_ms=(time.perf_counter() - began) * 1000,
            end_tokens=decoder._end_texts(),
            thinks=decoder._chat.thinks,
            call_marks=decoder._chat.call_marks,
            architecture=native.metadata.get("general.architecture", ""),
            size_label=native.metadata.get("general.size_label", ""),
            file_type=int(native.metadata.get("general.file_type", "-1")),
        )
        return decoder

    def close(self) -> None:
        """Free the model; safe to call twice."""
        self._cache.close()
        self._llama.close()

    def set_threads(self, number: int) -> None:
        """Decode with so many threads, at least 1; `properties` keeps the number that was loaded with."""
        self._llama.set_threads(number)

    def forget(self) -> None:
        """Drop every sequence but those on disk, and start the ledger anew."""
        self._cache.clear()
        self._ledger = Ledger()
        self._llama.evaluated = 0

    def forget_talks(self) -> bool:
        """Forget what people said, wherever it is kept; whether no file of it is left."""
        self._chat.forget()
        return self._cache.forget_talks()

    @property
    def unevaluated(self) -> int:
        """Tokens in `totals.generated` that llama.cpp never evaluated: the last ones of texts."""
        return self._ledger.unevaluated

    @property
    def evaluated(self) -> int:
        """Tokens that llama.cpp evaluated, counted where it is called:
        `totals.decoded + totals.generated + totals.rejected - unevaluated`."""
        return self._llama.evaluated

    @property
    def held(self) -> Held:
        """What is kept decoded, and where."""
        return self._cache.held

    @property
    def totals(self) -> Use:
        """The sum over all requests, cancelled ones included."""
        return self._ledger.totals

    def count(self, prompt: Conversation | str) -> int:
        """Tokens of a rendered conversation, or of plain text."""
        if isinstance(prompt, str):
            return len(self._chat.foreign(prompt))
        return len(self._chat.render(prompt).tokens)

    def vet(self, schema: JsonSchema) -> None:
        """Raise `SkillError` unless `fill` can enforce this schema; compiled, it is kept for `fill`."""
        self._grammars.matcher(schema)

    def warm(self, prompt: Conversation, check: Check) -> Use:
        """Decode and keep the constant part of a prompt, as far as it is not kept, and compile the schema of
        its tool, if it can be enforced."""
        tokens = self._chat.constant(prompt)
        check_length(len(tokens), None, 0, self._llama.context)
        with self._ledger.request() as meter:
            try:
                if tokens:
                    self._cache.keep(tokens, check, meter)
                for tool in prompt.tools:
                    with contextlib.suppress(SkillError):  # `fill` refuses it with its reason
                        self.vet(tool.parameters)
            finally:
                self._cache.release()
            return meter.use()

    def choose(
        self, prompt: Conversation, options: Sequence[str], check: Check, prompt_limit: int | None = None
    ) -> Choice:
        """Score each option as the whole reply."""
        if not options or len(set(options)) < len(options):
            raise RequestError("There must be at least one option to choose, and no option twice.")
        if prompt.begin_call:
            raise RequestError("A prompt that begins a call is for `fill`.")
        rendered = self._chat.render(prompt)
        root = trie.build([self._option(prompt.begin, option) for option in options])
        chain, cost = ((), 0) if isinstance(root, int) else (root.chain, root.cost())
        self._check(rendered, prompt_limit, cost)
        with self._ledger.request() as meter:
            try:
                sequence, logits = self._cache.open(rendered.tokens, rendered.constant, chain, check, meter)
                if isinstance(root, int):
                    return Choice((1.0,), meter.use())
                scorer = Scorer(self._cache, check, meter)
                probabilities = scorer.distribution(root, sequence, logits[list(root.branches)])
                return Choice(probabilities, meter.use())
            finally:
                self._cache.release()

    def fill(
        self,
        prompt: Conversation,
        schema: JsonSchema,
        limit: int,
        check: Check,
        prompt_limit: int | None = None,
    ) -> Text:
        """JSON under a schema, greedily. Raises `SkillError` for a schema that cannot be enforced."""
        rendered = self._chat.render(prompt)
        self._check(rendered, prompt_limit, limit)
        with self._ledger.request() as meter:
            try:
                tokens, done = self._fill(rendered, schema, limit, check, meter)
            finally:
                self._cache.release()
            text = b"".join(map(self._llama.piece, tokens)).decode(errors="replace")
            if done:
                self._chat.remember(text, tokens)
                _check_numbers(text)
            return Text(text.removeprefix(rendered.lead), "stop" if done else "length", meter.use())

    def _fill(
        self, prompt: Prompt, schema: JsonSchema, limit: int, check: Check, meter: Meter
    ) -> tuple[list[int], bool]:
        """Tokens of the JSON text, and whether it ended by itself. Forced tokens ride in the batch of the
        sampled one before them, the first ones in that of the prompt. A text that would not fit its limit is
        ended the short way: what it says is cut, but it is still valid."""
        matcher = self._grammars.matcher(schema, prompt.lead)
        out = matcher.forced()
        if matcher.done or len(out) >= limit:
            meter.ended_with(len(out[:limit]))
            return out[:limit], matcher.done and len(out) <= limit
        sequence, logits = self._cache.open(prompt.tokens, prompt.constant, out, check, meter)
        while True:
            period = cycle(out)
            token = matcher.pick(logits, avoid=out[-period:] if period else ())
            if self._is_end(token):
                return out, True
            new = [token, *matcher.forced()]
            if (ending := matcher.ending(out, new, limit)) is not None:
                meter.ended_with(len(ending))
                return out + ending, False
            out += new
            meter.sampled()
            if matcher.done or len(out) >= limit:
                meter.ended_with(len(new) - max(0, len(out) - limit))
                return out[:limit], matcher.done and len(out) <= limit
            logits = self._cache.extend(sequence, new, check, meter)

    def write(
        self,
        prompt: Conversation,
        limit: int,
        stop: Sequence[str],
        check: Check,
        prompt_limit: int | None = None,
    ) -> Iterator[str | Text]:
        """Free text, greedily: chunks as they become certain, then the whole."""
        if prompt.begin_call:
            raise RequestError("A prompt that begins a call is for `fill`.")
        rendered = self._chat.render(prompt)
        self._check(rendered, prompt_limit, limit)
        visible, out, chunks = Visible(stop), list[int](), list[str]()
        with self._ledger.request() as meter:
            try:
                with contextlib.closing(self._sample(rendered, out, limit, visible, check, meter)) as tokens:
                    for token in tokens:
                        if chunk := visible.feed(self._llama.piece(token)):
                            chunks.append(chunk)
                            yield chunk
            finally:
                self._cache.release()
            if chunk := visible.finish(cut=self._finish(out, limit, visible) != "stop"):
                chunks.append(chunk)
                yield chunk
            text = "".join(chunks)
            if text == b"".join(map(self._llama.piece, out)).decode(errors="replace"):
                self._chat.remember(text, out)
            yield Text(text, self._finish(out, limit, visible), meter.use())

    def _sample(
        self, prompt: Prompt, out: list[int], limit: int, visible: Visible, check: Check, meter: Meter
    ) -> Generator[int]:
        """The likeliest tokens one by one, also written to `out`, until the model ends its turn, the text so
        far ends it, or the limit is reached."""
        sequence, logits = self._cache.open(prompt.tokens, prompt.constant, (), check, meter)
        begin = length = len(prompt.tokens)  # the length of the sequence

        def evaluate(tokens: Sequence[int]) -> list[int]:
            nonlocal length
            likeliest = [_likeliest(row) for row in self._cache.verify(sequence, tokens, check, meter)]
            length += len(tokens)
            return likeliest

        def reject(tokens: int) -> None:
            nonlocal length
            length -= tokens
            self._cache.cut(sequence, length)
            meter.rejected(tokens)

        drafter = Drafter(prompt.tokens, self._longest_draft, self._is_end)
        try:
            with contextlib.closing(greedy(_likeliest(logits), limit, drafter, evaluate, reject)) as tokens:
                for token in tokens:
                    if self._is_end(token):
                        return
                    if begin + len(out) == length:
                        meter.sampled()
                    out.append(token)
                    yield token
                    if visible.stopped or cycle(out):
                        return
        finally:
            meter.ended_with(begin + len(out) - length)

    @property
    def _longest_draft(self) -> int:
        """Tokens; 0 where what was rejected could not be cut off again."""
        return min(DRAFT, self._cache.rows - 1) if self.drafts and self._llama.partial_reuse else 0

    def _finish(self, out: Sequence[int], limit: int, visible: Visible) -> Finish:
        if visible.stopped:
            return "stop"
        if cycle(out):
            return "repetition"
        return "length" if len(out) >= limit else "stop"

    def _option(self, begin: str, option: str) -> tuple[int, ...]:
        """An option's tokens and the end of the turn, tokenized together with the beginning of the reply
        where that leaves the beginning's own tokens as they are."""
        opened, whole = self._chat.foreign(begin), self._chat.foreign(begin + option)
        joined = whole[: len(opened)] == opened
        tokens = whole[len(opened) :] if joined else self._chat.foreign(option)
        return (*tokens, self._chat.end)

    def _check(self, prompt: Prompt, prompt_limit: int | None, output: int) -> None:
        if output < 0:
            raise RequestError("The token limit must not be negative.")
        check_length(len(prompt.tokens), prompt_limit, output, self._llama.context)

    def _is_end(self, token: int) -> bool:
        """Whether the turn is over: an end token, or a control token that stands for no text."""
        native = self._llama
        ends = token == self._chat.end or native.is_end(token)
        return ends or (native.is_control(token) and not native.piece(token))

    def _ends(self) -> list[int]:
        """Tokens that may end a text, the one that this template uses first."""
        return list(dict.fromkeys([self._chat.end, self._llama.end]))

    def _end_texts(self) -> tuple[str, ...]:
        """The texts of all tokens that end a reply, the one that this template uses first."""
        ends = [*self._ends(), *filter(self._llama.is_end, range(self._llama.vocabulary))]
        return tuple(dict.fromkeys(map(self._llama.text_of, ends)))

    def _self_test(self) -> None:
        """Render with and without a tool, decode, fill a small schema, and choose with the same beginning;
        leaves nothing behind, in the context or saved."""
        native, kept = self._llama, self._cache
        self._cache = Cache(native, Forest(native.sequences, native.context, native.partial_reuse))
        system = Message("system", "Test.")
        first, second = (
            Conversation((system, Message("user", text)), constant=1) for text in ("Does it work?", "Again?")
        )
        self._chat.render(Conversation(first.messages, (TEST_TOOL,), begin_call=True))
        try:
            filled = self.fill(first, TEST_SCHEMA, TEST_LIMIT, lambda: None)
            if filled.finish != "stop" or not isinstance(json.loads(filled.text)["ok"], bool):
                raise EngineError(f"a constrained test reply came out as {filled.text!r}")
            self._report(self.choose(second, ("yes", "no"), lambda: None).use)
        finally:
            self.forget()
            self._cache = kept

    def _report(self, use: Use) -> None:
        """Say once how much is reused of a prompt whose beginning was decoded before."""
        whole = "" if self._llama.partial_reuse else "; no prefix can be cut, so only whole saved ones count"
        if use.reused:
            _log.info("%d of %d tokens of a second prompt are reused%s.", use.reused, use.prompt, whole)
        else:
            _log.warning("Nothing of a second prompt is reused: each one is decoded from its beginning.")


def _likeliest(logits: Logits) -> int:
    token = int(logits.argmax())
    if not math.isfinite(logits[token]):
        raise EngineError("The model gave no finite score for any token; its file may be damaged.")
    return token


def _check_numbers(text: str) -> None:
    """Raise `EngineError` for a number that no program could use (a schema without types lets 1e999 pass)."""

    def finite(number: str) -> float:
        value = float(number)
        if not math.isfinite(value):
            raise EngineError(f"The model wrote a number that is too large: {number}; give its type a bound.")
        return value

    json.loads(text, parse_float=finite)
