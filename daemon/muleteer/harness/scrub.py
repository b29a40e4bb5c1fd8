"""Keeps the machinery out of what the user reads: plan syntax, handles, tags, thoughts, tool calls, and what
was said to the model only.

Pure and streaming: text goes in by chunks, what is certainly clean comes out, the same whatever the chunks
were. Only model-written text needs the syntax rules; `plain` serves all other text.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Protocol

from muleteer.harness.dialects.marks import forming
from muleteer.harness.hiding import Calls, Told

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2066-\u2069\ufeff]")
_BLOCKS = "tool_calls?|tool_response|tool_result|tools|think|thinking|correction"
_OPENING = re.compile(f"<({_BLOCKS})>")
_CLOSED = re.compile(rf"<({_BLOCKS})>.*?</\1>", re.DOTALL)
_UNCLOSED = re.compile(rf"<(?:{_BLOCKS})>.*", re.DOTALL)
_TAG = re.compile(
    rf"</(?:{_BLOCKS}|s|functioncall)>|<s>|<functioncall[>\s]|\[/?TOOL_CALLS\]|<\|[^<>\n]{{0,40}}?\|>"
)
_CUT = re.compile(r"(?:<\|[^<>\n]{1,40}|</\w+)\Z")
_MARK = "[TOOL_CALLS"  # that opens with another bracket
_PREAMBLES = ("plan:", "your plan:", "my plan:", "the plan:", "ok:", "refused:")
_MARKUP = " \t\n*_#>"  # Markdown that may stand around a preamble
_PREAMBLE = re.compile(rf"\A[{_MARKUP}]*(?:{'|'.join(_PREAMBLES)})[{_MARKUP}]*", re.IGNORECASE)

# A tag is at most this long; a held-back tail longer than this cannot become one and is let go.
_TAG_LIMIT = 48


def plain(text: str) -> str:
    """`text` without control characters, invisible characters and direction overrides; newlines stay."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


class Stage(Protocol):
    """What a stream goes through: `feed` gives what may be shown of it now, `finish` the rest."""

    def feed(self, chunk: str) -> str: ...

    def finish(self) -> str: ...


class Scrubber:
    """Cleans one streamed answer. `handles` are the names (without "@") that must not show as handles, nor in
    calls."""

    def __init__(self, handles: Collection[str] = ()) -> None:
        self._stages: tuple[Stage, ...] = (_Tags(handles), Calls(handles), Told(), _Ends())

    def feed(self, chunk: str) -> str:
        """The clean text that may be shown now."""
        for stage in self._stages:
            chunk = stage.feed(chunk)
        return chunk

    def finish(self) -> str:
        """The rest, when the stream has ended; white space at the end is dropped."""
        rest = ""
        for stage in self._stages:
            rest = (stage.feed(rest) if rest else "") + stage.finish()
        return rest


class _Ends:
    """Drops white space at both ends."""

    def __init__(self) -> None:
        self._held, self._begun = "", False

    def feed(self, chunk: str) -> str:
        text = self._held + chunk if self._begun else chunk.lstrip()
        shown = text.rstrip()
        self._held, self._begun = text[len(shown) :], self._begun or bool(shown)
        return shown

    def finish(self) -> str:
        return ""


class _Tags:
    """Drops tags, what stands between some of them, plan syntax, and the @ of handles."""

    def __init__(self, handles: Collection[str]) -> None:
        names = sorted(map(re.escape, handles), key=len, reverse=True)
        self._handle = (
            re.compile(rf"(?<![\w@.])@({'|'.join(names)})(?![\w-])", re.IGNORECASE) if names else None
        )
        self._limit = max([_TAG_LIMIT, *(len(name) + 2 for name in names)])
        self._held = ""
        self._before = ""  # the last character shown: a handle needs a border before it
        self._begun = False

    def feed(self, chunk: str) -> str:
        """The clean text that may be shown now."""
        self._held += plain(chunk)  # first, so that nothing invisible can hide a tag
        self._held = _removed(self._held, _CLOSED, _TAG)
        if not self._begun and self._may_be_preamble():
            return ""
        return self._release(self._border())

    def finish(self) -> str:
        """The rest, when the stream has ended; white space at the end is dropped."""
        self._held = _removed(self._held, _UNCLOSED, _CUT).rstrip()
        if forming(self._held[self._border() :]):
            self._held = self._held[: self._border()]
        return self._release(len(self._held))

    def _may_be_preamble(self) -> bool:
        start = self._held.lstrip(_MARKUP).lower()
        begins = any(preamble.startswith(start) for preamble in _PREAMBLES)
        return begins or bool(_PREAMBLE.fullmatch(self._held))

    def _border(self) -> int:
        """Everything before this index can no longer become part of something hidden."""
        held, end = self._held, len(self._held.rstrip())
        if opened := _OPENING.search(held):
            return opened.start()
        tag = held.find("<", max(held.rfind(">") + 1, end - self._limit))
        handle = held.rfind("@", end - self._limit if end > self._limit else 0)
        if handle >= 0 and re.search(r"[^\w@-]", held[handle:]):
            handle = -1
        mark = next((end - n for n in range(len(_MARK), 0, -1) if held[:end].endswith(_MARK[:n])), -1)
        return min([at for at in (tag, handle, mark) if at >= 0], default=end)

    def _release(self, border: int) -> str:
        text, self._held = self._held[:border], self._held[border:]
        if not self._begun:
            text = _PREAMBLE.sub("", text)
        if self._handle:
            text = self._handle.sub(lambda found: found[1].replace("-", " "), self._before + text)
            text = text.removeprefix(self._before)
        if not self._begun:
            text = text.lstrip()
        self._begun = self._begun or bool(text)
        self._before = text[-1:] or self._before
        return text


def _removed(text: str, *patterns: re.Pattern[str]) -> str:
    """`text` without what the patterns match, also where a match only forms when others are gone."""
    before = None
    while text != before:
        before = text
        for pattern in patterns:
            text = pattern.sub("", text)
    return text
