"""A conversation as tokens, by the model's own chat template.

Template text is tokenized with special tokens on; foreign text on its own, with special tokens off, and
broken inside whatever spells a tag token (those match even then). Knows nothing of caches or decoding.
"""

from __future__ import annotations

import functools
import logging
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import jinja2

from muleteer.engine.llama import Llama
from muleteer.engine.prefixes import common_prefix
from muleteer.engine.protocol import Conversation
from muleteer.engine.template import Segment, Slots, Template
from muleteer.engine.turns import Turns

CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' + m.content + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
PLAIN = (
    "{% for m in messages %}{{ m.role | capitalize }}: {{ m.content }}"
    "{% if m.role == 'assistant' %}{{ eos_token }}{% endif %}{{ '\n\n' }}{% endfor %}"
    "{% if add_generation_prompt %}Assistant:{% endif %}"
)
SEGMENTS = 2048  # tokenized segments kept; a turn has about thirty, a segment takes up to a few kB
OUTPUTS = 64  # own outputs kept as tokens; more than a conversation that fits the context has messages

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Prompt:
    """`tokens`, of which the first `constant` are those of the constant part. `lead` is white space before
    the reply: it belongs to the reply's first token, as the model was trained to write it."""

    tokens: list[int]
    constant: int
    lead: str


class Chat:
    """Renders conversations for one model."""

    def __init__(self, llama: Llama) -> None:
        self._llama = llama
        self._turns = Turns(_template(llama))
        tags = [f"(?<={re.escape(text[0])})(?={re.escape(text[1:])})" for text in llama.markup()]
        self._inside_tags = re.compile("|".join(tags)) if tags else None
        self._segment = functools.lru_cache(maxsize=SEGMENTS)(self._tokenize)
        self._outputs: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self.knows_tools = self._turns.able.tools
        self.end = self._end_of_turn()

    def render(self, conversation: Conversation) -> Prompt:
        """The prompt of a conversation. Raises `EngineError` when the template refuses it."""
        slots = Slots()
        text = self._turns.text(slots, conversation)
        lead = ""
        if conversation.begin_call:
            lead = text[len(text.rstrip()) :]
            text = text.rstrip()
        tokens = self._tokens(slots.split(text))
        return Prompt(tokens, common_prefix(self.constant(conversation), tokens), lead)

    def constant(self, conversation: Conversation) -> list[int]:
        """Tokens of the constant part alone. That a prompt begins with them is not assumed but compared: it
        holds wherever a template puts tools and messages, which watching the order of messages would not."""
        if not conversation.constant:
            return []
        slots = Slots()
        return self._tokens(slots.split(self._turns.constant_text(slots, conversation)))

    def foreign(self, text: str) -> list[int]:
        """Tokens of text that is not the template's: never a control or tag token."""
        return list(self._segment(text, False))

    def remember(self, text: str, tokens: Sequence[int]) -> None:
        """The model wrote `text` as these tokens. In a later prompt it becomes them again, so that the
        sequence it was written in still matches."""
        self._outputs[text] = tuple(tokens)
        self._outputs.move_to_end(text)
        while len(self._outputs) > OUTPUTS:
            self._outputs.popitem(last=False)

    def _tokens(self, segments: Sequence[Segment]) -> list[int]:
        tokens: list[int] = []
        white = ""
        for i, segment in enumerate(segments):
            text = white + segment.text
            white = ""
            if not segment.foreign and i + 1 < len(segments) and segments[i + 1].arguments:
                text, white = text.rstrip(), text[len(text.rstrip()) :]
            known = self._outputs.get(text) if segment.own else None
            tokens += known or self._segment(text, not segment.foreign)
        beginning = self._llama.beginning
        if self._llama.adds_beginning and beginning is not None and tokens[:1] != [beginning]:
            tokens.insert(0, beginning)
        return tokens

    def _tokenize(self, text: str, special: bool) -> tuple[int, ...]:
        parts = [text] if special or self._inside_tags is None else self._inside_tags.split(text)
        return tuple(token for part in parts if part for token in self._llama.tokenize(part, special))

    def _end_of_turn(self) -> int:
        """The token that ends the assistant's turn by the template, else by the vocabulary."""
        after = self._llama.tokenize(self._turns.after_reply(Slots()).lstrip(), special=True)
        if after and (self._llama.is_end(after[0]) or self._llama.is_control(after[0])):
            return after[0]
        return self._llama.end


def _template(llama: Llama) -> Template:
    """The model's own template; for a model without one, ChatML if it has those tokens, else plain words."""
    beginning, end = llama.text_of(llama.beginning), llama.text_of(llama.end)
    chatml = all(len(llama.tokenize(text, special=True)) == 1 for text in ("<|im_start|>", "<|im_end|>"))
    known = CHATML if chatml else PLAIN
    try:
        return Template(llama.template or known, beginning, end)
    except jinja2.TemplateError as error:
        _log.warning("the model's chat template cannot be read (%s); using a plain one", error)
        return Template(known, beginning, end)
