"""A conversation as tokens, by the model's own chat template.

Template text is tokenized with special tokens on; foreign text on its own, with special tokens off, and
broken inside whatever spells a tag token (those match even then) or becomes a control token all the same.
Otherwise the tokens are those of the whole text. Knows nothing of caches or decoding.
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
from muleteer.engine.protocol import CALL_MARKS, Conversation, Message
from muleteer.engine.stream import THINK
from muleteer.engine.template import Segment, Slots, Template
from muleteer.engine.turns import Turns
from muleteer.errors import EngineError

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
BAR = "|\uff5c"  # DeepSeek's is twice as wide
TAG = re.compile(rf"<[{BAR}/]?\w[^<>\s]*>")  # as templates write them: <|im_end|>, </s>, <end_of_turn>
PIPED = re.compile(rf"<[{BAR}][^<>\s]+[{BAR}]>")  # a control token of the model the template was written for
LONE = "\x01"  # a character that no piece of a vocabulary contains, so that it stays a token of its own
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
        tags = llama.markup()
        self._tags = frozenset(tags)
        self._inside_tags = re.compile(_inside(tags)) if tags else None
        self._adds_space = b"".join(map(llama.piece, llama.tokenize("x", special=False))) != b"x"
        self._lone = llama.tokenize(LONE, special=False)
        self._segment = functools.lru_cache(maxsize=SEGMENTS)(self._tokenize)
        self._outputs: OrderedDict[str, tuple[int, ...]] = OrderedDict()
        self.knows_tools = self._turns.able.tools
        self.thinks = self._knows(THINK)
        self.call_marks = tuple(mark for mark in CALL_MARKS if self._knows(mark))
        self.end = self._end_of_turn()
        if tags := self._spelled_out():
            _log.warning("The chat template's %s are words to this model, not tokens.", ", ".join(tags))
        self._reply_is_apart = self._is_apart(self.render(Conversation((Message("user", "?"),))).tokens)

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
        return self._tokens(slots.split(self._turns.constant_text(slots, conversation).rstrip(" ")))

    def foreign(self, text: str) -> list[int]:
        """Tokens of a reply's text: never a control or tag token."""
        return list(self._segment(text, False, self._reply_is_apart))

    def forget(self) -> None:
        """Forget every text that was tokenized or written."""
        self._outputs.clear()
        self._segment.cache_clear()

    def remember(self, text: str, tokens: Sequence[int]) -> None:
        """The model wrote `text` as these tokens. In a later prompt it becomes them again, so that the
        sequence it was written in still matches."""
        self._outputs[text] = tuple(tokens)
        self._outputs.move_to_end(text)
        while len(self._outputs) > OUTPUTS:
            self._outputs.popitem(last=False)

    def _tokens(self, segments: Sequence[Segment]) -> list[int]:
        """Spaces that the template writes before foreign text, and all white space before arguments, belong
        to its first token, as they do in the tokens of the whole text."""
        tokens: list[int] = []
        white = ""
        for i, segment in enumerate(segments):
            text, white, before = segment.text, "", white
            after = segments[i + 1] if i + 1 < len(segments) else None
            if not segment.foreign and after and after.foreign:
                text = text.rstrip() if after.arguments else text.rstrip(" ")
                white = segment.text[len(text) :]
            if segment.own and before + text not in self._outputs and text in self._outputs:
                tokens += self._segment(before, True, self._is_apart(tokens))
                before = ""
            known = self._outputs.get(before + text) if segment.own else None
            tokens += known or self._segment(before + text, not segment.foreign, self._is_apart(tokens))
        beginning = self._llama.beginning
        if self._llama.adds_beginning and beginning is not None and tokens[:1] != [beginning]:
            tokens.insert(0, beginning)
        return tokens

    def _is_apart(self, before: Sequence[int]) -> bool:
        """Whether a text after these tokens gets the space that the vocabulary puts before a text."""
        if not self._adds_space or not before:
            return self._adds_space
        return self._llama.is_control(before[-1]) or self._llama.text_of(before[-1]) in self._tags

    def _tokenize(self, text: str, special: bool, apart: bool) -> tuple[int, ...]:
        if special:
            return tuple(self._raw(text, True, apart))
        return tuple(self._plain(text, self._inside_tags, apart))

    def _plain(self, text: str, cuts: re.Pattern[str] | None, apart: bool) -> list[int]:
        """Tokens of a foreign text that is cut before it is tokenized."""
        tokens: list[int] = []
        for part in cuts.split(text) if cuts else [text]:
            new = self._raw(part, False, apart and not tokens) if part else []
            control = next(filter(self._llama.is_control, new), None)
            if control is not None:  # SentencePiece pieces can add up to the text of one
                mark = self._llama.text_of(control)
                if mark not in part:
                    raise EngineError(f"A text would become the control token {mark}; leave it out.")
                new = self._plain(part, re.compile(_inside([mark])), apart and not tokens)
            tokens += new
        return tokens

    def _raw(self, text: str, special: bool, apart: bool) -> list[int]:
        """Tokens of a text; unless it is `apart`, without a space that is not in it."""
        if apart or not self._adds_space:
            return self._llama.tokenize(text, special)
        return self._llama.tokenize(LONE + text, special)[len(self._lone) :]

    def _knows(self, mark: str) -> bool:
        return mark in (self._llama.template or "") or len(self._llama.tokenize(mark, special=True)) == 1

    def _spelled_out(self) -> list[str]:
        """Tags like `<|user|>` that the template writes and the vocabulary has no token for."""
        slots = Slots()
        text = self._turns.text(slots, Conversation((Message("system", "S"), Message("user", "?"))))
        own = "".join(segment.text for segment in slots.split(text) if not segment.foreign)
        tags = dict.fromkeys(PIPED.findall(own))
        return [tag for tag in tags if len(self._llama.tokenize(tag, special=True)) > 1]

    def _end_of_turn(self) -> int:
        """The token that ends the assistant's turn by the template, else by the vocabulary. Raises
        `EngineError` when the template ends it with a tag that is no token."""
        text = self._turns.after_reply(Slots()).lstrip()
        first = next(iter(self._llama.tokenize(text, special=True)), self._llama.end)
        tag = TAG.match(text)
        known = self._llama.is_end(first) or self._llama.is_control(first)
        if known or (tag and self._llama.text_of(first) == tag[0]):
            return first
        if tag:
            raise EngineError(
                f"its chat template ends a turn with {tag[0]}, which is not a token of its vocabulary; "
                "the file was converted wrongly or the template is another model's."
            )
        return self._llama.end


def _inside(tags: Sequence[str]) -> str:
    """A pattern of the places after the first character of a tag; grouped by it, since some vocabularies
    have thousands."""
    groups: dict[str, list[str]] = {}
    for tag in tags:
        groups.setdefault(tag[0], []).append(re.escape(tag[1:]))
    return "|".join(f"(?<={re.escape(first)})(?={'|'.join(rest)})" for first, rest in groups.items())


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
