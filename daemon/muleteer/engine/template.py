"""The model's chat template, rendered so that foreign text stays apart from the template's own.

Every text that is not the template's (messages, tool descriptions, schemas, arguments) is shown to the
template as an opaque slot: private-use characters with a random part that no text can guess. The rendered
text is split at the slots once, so a slot's text is never looked at again. Knows jinja; nothing of tokens.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import jinja2
from jinja2.sandbox import ImmutableSandboxedEnvironment

OPEN, CLOSE, DIGITS = "\ue000", "\ue001", "".join(chr(0xE010 + i) for i in range(16))
PLAIN = re.compile(r"[A-Za-z0-9_ ,.;()/-]*")  # cannot spell a control token: those have <, [, {, | or worse
GENERATION = re.compile(r"{%-?\s*(?:end)?generation\s*-?%}")  # training marks that jinja does not know
NO_THINKING = {"enable_thinking": False, "thinking": False}  # Qwen3, GLM, SmolLM3; DeepSeek V3, Granite, Kimi
STYLE = (", ", ": ")  # JSON separators of the training data of every tool-calling model looked at


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a prompt. `foreign` text never becomes control tokens; `own` foreign text is the model's
    earlier output; `arguments` are those of a call."""

    text: str
    foreign: bool = False
    own: bool = False
    arguments: bool = False


class Arguments(str):
    """A slot that stands for JSON text: `tojson` must not quote it."""

    __slots__ = ()


class Slots:
    """The foreign texts of one prompt. The same text always gets the same slot, so that two renderings with
    the same slots can be compared."""

    def __init__(self) -> None:
        self._nonce = "".join(secrets.choice(DIGITS) for _ in range(16))
        self._pattern = re.compile(f"{OPEN}{self._nonce}([{DIGITS}]+){CLOSE}")
        self._segments: list[Segment] = []
        self._numbers: dict[Segment, int] = {}

    def put(self, text: str, *, own: bool = False) -> str:
        """The slot for a text; an empty text stays empty, so that templates can test for it."""
        return self._slot(Segment(text, foreign=True, own=own)) if text else ""

    def put_arguments(self, text: str) -> Arguments:
        """The slot for a call's arguments (JSON text)."""
        return Arguments(self._slot(Segment(text, foreign=True, own=True, arguments=True)))

    def _slot(self, segment: Segment) -> str:
        number = self._numbers.setdefault(segment, len(self._segments))
        if number == len(self._segments):
            self._segments.append(segment)
        digits = "".join(DIGITS[int(digit, 16)] for digit in f"{number:x}")
        return f"{OPEN}{self._nonce}{digits}{CLOSE}"

    def open(self, value: object) -> Any:
        """A tool as a template may walk it: its structure as it is, texts that are not plain in slots."""
        if isinstance(value, str):
            return value if PLAIN.fullmatch(value) else self.put(value)
        if isinstance(value, Mapping):
            return {self.open(key): self.open(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.open(item) for item in value]
        return value

    def json(self, value: object, indent: int | None = None) -> str:
        """What `tojson` gives the template: the slot of the JSON text, not escaped for HTML."""
        if isinstance(value, Arguments):
            return value
        text = json.dumps(self._filled(value), ensure_ascii=False, separators=STYLE, indent=indent)
        return self.put(text)

    def _filled(self, value: object) -> object:
        """A value with the texts in place of their slots; arguments as what they say."""
        if isinstance(value, Arguments):
            text = self._fill(value)
            try:
                return json.loads(text)
            except ValueError:
                return text
        if isinstance(value, str):
            return self._fill(value)
        if isinstance(value, Mapping):
            return {self._fill(str(key)): self._filled(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._filled(item) for item in value]
        return value

    def _fill(self, text: str) -> str:
        return self._pattern.sub(lambda match: self._of(match[1]).text, text)

    def _of(self, number: str) -> Segment:
        return self._segments[int("".join(f"{DIGITS.index(digit):x}" for digit in number), 16)]

    def split(self, rendered: str) -> list[Segment]:
        """The rendered text as segments, empty ones left out."""
        parts = self._pattern.split(rendered)
        segments = [self._of(part) if i % 2 else Segment(part) for i, part in enumerate(parts)]
        return [segment for segment in segments if segment.text]


class Template:
    """A compiled chat template. Raises `jinja2.TemplateError` for one that does not parse."""

    def __init__(self, source: str, beginning: str, end: str) -> None:
        self.source = source
        self._slots = Slots()
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.filters["tojson"] = self._to_json
        environment.globals["raise_exception"] = _raise
        self._template = environment.from_string(GENERATION.sub("", source))
        self._fixed: dict[str, object] = {"bos_token": beginning, "eos_token": end, **NO_THINKING}

    def render(
        self,
        slots: Slots,
        messages: list[dict[str, object]],
        tools: list[dict[str, object]],
        *,
        reply: bool,
    ) -> str:
        """The text with slots in it; with `reply` it ends where the assistant's reply begins. Raises
        `jinja2.TemplateError` where the template refuses the messages."""
        self._slots = slots
        values = self._fixed | ({"tools": tools} if tools else {})
        try:
            return self._template.render(messages=messages, add_generation_prompt=reply, **values)
        except (TypeError, ValueError, KeyError, AttributeError) as error:  # a template's own mistakes
            raise jinja2.TemplateError(str(error)) from error

    def _to_json(self, value: object, indent: int | None = None, **_style: object) -> str:
        return self._slots.json(value, indent)


def _raise(message: str) -> None:
    raise jinja2.TemplateError(message)
