"""The answer: from what the tools returned first, from the model's own words last.

Order: documents and several notes (the model writes, from the facts, value by value checked), else the
tools' own sentences as they are, else L2's prose. `empty` and `unavailable` stay different facts because
the sentences that say them are never rewritten.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing

from muleteer.engine.protocol import Conversation, Message, Text
from muleteer.harness import wishes
from muleteer.harness.brains import Lane
from muleteer.harness.claims import Guard, claims
from muleteer.harness.clip import clipped
from muleteer.harness.ledger import Ledger
from muleteer.harness.passages import passages
from muleteer.harness.phrases import ENGLISH
from muleteer.harness.prompts import render
from muleteer.harness.scrub import Scrubber, plain
from muleteer.settings.sections import Budgets
from muleteer.tool import Document, Notes, Result

# Characters of facts one answer is written from: about 1,000 tokens of English text.
FACT_CHARACTERS = 4000

# Characters of the passages of a longer document that the question is about: half a minute less of decoding
# on a slow board, and less to get lost in.
PASSAGE_CHARACTERS = 2000

# Something with a digit in it, an address or a link: what must be copied and never paraphrased.
_VALUE = re.compile(r"https?://\S+|[\w.+-]+@[\w-]+\.[\w.-]+|\w*\d[\w.,:/%°-]*")

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|\n+")


def spoken(results: Sequence[Result]) -> str:
    """The tools' own sentences, each once: what was found beside what could not be done."""
    return " ".join(_sentences(results))


def listed(results: Sequence[Result]) -> str:
    """`spoken`, each result on a line of its own."""
    return "\n".join(_sentences(results))


def needs_writing(results: Sequence[Result]) -> bool:
    """Whether the facts must be put into words: a document, or more than one note."""
    notes = sum(len(r.payload.items) for r in results if isinstance(r.payload, Notes))
    return notes > 1 or any(isinstance(r.payload, Document) for r in results)


def attributed(piece: str, results: Sequence[Result]) -> str:
    """The beginning of an answer that a model wrote, with the documents that it is from: what a text says is
    not said in Muleteer's own name."""
    names = dict.fromkeys(plain(each.payload.name) for each in results if isinstance(each.payload, Document))
    return piece if not names or piece == spoken(results) else f"{', '.join(names)}: {piece}"


def _sentences(results: Sequence[Result]) -> list[str]:
    return list(dict.fromkeys(filter(None, (plain(result.text).strip() for result in results))))


def facts(results: Sequence[Result], limit: int = FACT_CHARACTERS, question: str = "") -> str:
    """The facts as text; of a longer document only what the question is about, if anything is; cut at `limit`
    characters with a visible mark."""
    lines: list[str] = []
    for result in results:
        match result.payload:
            case Notes(items):
                lines += [f"- {item}" for item in items]
            case Document(name, text):
                about = passages(text, question, PASSAGE_CHARACTERS) if len(text) > limit else ""
                lines.append(f"[{name}]\n{about or text}")
            case _:
                lines.append(f"- {result.text}")
    return clipped(plain("\n".join(lines)), limit)


class Writer:
    """The two prompts that write free text: a reply without tools, and an answer from facts. `correction` is
    said in place of a false claim, `told` what a guest adds to our rules; `dropped` are the messages that the
    last reply did not get to see."""

    def __init__(
        self,
        lane: Lane,
        ledger: Ledger,
        budgets: Budgets,
        handles: Sequence[str],
        correction: str = ENGLISH.not_done,
        told: str = "",
    ) -> None:
        self._lane, self._ledger, self._budgets, self._handles = lane, ledger, budgets, handles
        self._correction, self._told = correction, told
        self.dropped = 0

    async def reply(self, message: str, history: Sequence[Message]) -> AsyncIterator[str]:
        """Conversation without tools; it ends at the first claim of a deed, which is corrected. The oldest
        whole messages go when the prompt exceeds its budget, and the model is told so."""
        self.dropped = 0
        while (
            await self._lane.count(prompt := reply_prompt(message, history, self.dropped, self._told))
            > self._budgets.answer_prompt
        ):
            if self.dropped == len(history):
                break  # the engine refuses with both counts
            self.dropped += 1
        guard = Guard(" ".join((*(each.content for each in history), message)))
        async with aclosing(self._scrubbed("reply", prompt)) as pieces:
            async for piece in pieces:
                if clean := guard.feed(piece):
                    yield clean
                if guard.tripped:
                    break
        if rest := guard.finish():
            yield rest
        if guard.tripped:
            yield self._correction

    async def from_facts(
        self, message: str, results: Sequence[Result], acted: bool = False
    ) -> AsyncIterator[str]:
        """An answer written from the facts, released sentence by sentence; at the first sentence with a
        value that stands neither in the facts nor in the question, or that claims a deed where no tool has
        `acted`, the tools' own sentences take over. A text that was found may speak of what others did,
        unless a deed is what was wished for."""
        source = await self._fitting(message, results)
        known, own = values(f"{source} {message}"), not wishes.kind(message)
        held, trusted = "", True
        async for piece in self._scrubbed("answer", answer_prompt(message, source, self._told)):
            held += piece
            while trusted and (border := _SENTENCE.search(held)):
                sentence, held = held[: border.end()], held[border.end() :]
                trusted = values(sentence) <= known and (acted or not claims(sentence, own=own))
                yield sentence if trusted else spoken(results)
        if trusted and held:
            trusted = values(held) <= known and (acted or not claims(held, own=own))
            yield held if trusted else spoken(results)

    async def _fitting(self, message: str, results: Sequence[Result]) -> str:
        """The facts, cut until the prompt fits its budget: a text may have as many tokens as characters."""
        budget, limit = self._budgets.answer_prompt, FACT_CHARACTERS
        while True:
            source = facts(results, limit, message)
            tokens = await self._lane.count(answer_prompt(message, source, self._told))
            if tokens <= budget or not limit:
                return source
            limit = limit * budget // tokens

    async def _scrubbed(self, level: str, prompt: Conversation) -> AsyncGenerator[str, None]:
        scrubber = Scrubber(self._handles)
        limit = self._ledger.allow_answer(self._budgets.answer_output)
        async for piece in self._lane.write(prompt, limit=limit, prompt_limit=self._budgets.answer_prompt):
            if isinstance(piece, Text):
                self._ledger.book(level, piece.use)
            elif clean := scrubber.feed(piece):
                yield clean
        if rest := scrubber.finish():
            yield rest


def reply_prompt(message: str, history: Sequence[Message], dropped: int = 0, told: str = "") -> Conversation:
    """Without the first `dropped` messages of the history; the mark in their place stands in the message
    after them, since some templates want the roles to take turns."""
    first, *rest = [*history[dropped:], Message("user", message)]
    if dropped:
        first = Message(first.role, f"{render('left_out')}\n{first.content}")
    return _ruled("reply", told, first, *rest)


def answer_prompt(message: str, source: str, told: str = "") -> Conversation:
    return _ruled("answer", told, Message("user", render("answer_facts", facts=source, message=message)))


def with_told(history: Sequence[Message], told: str) -> Sequence[Message]:
    """The history for a brain whose rules stand elsewhere: what a guest told comes before it."""
    return [Message("user", told), *history] if told else history


def _ruled(name: str, told: str, *messages: Message) -> Conversation:
    """Our rules, and below them what a guest told, which is no constant part of anything."""
    rules = render("guest_rules", rules=render(name), told=told) if told else render(name)
    return Conversation((Message("system", rules), *messages), constant=int(not told))


def values(text: str) -> set[str]:
    """The exact values in a text: numbers, dates, codes, addresses, links; without closing punctuation."""
    return {found.rstrip(".,:;/-").casefold() for found in _VALUE.findall(text)}
