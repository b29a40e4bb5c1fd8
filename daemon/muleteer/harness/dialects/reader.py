"""Prose and calls out of one reply, which may arrive in any chunks.

What counts as a call:
- after one of the model's own marks (`<tool_call>` and its like), wherever that stands, unless in quotation
  marks, backticks or a code block, or behind a colon, as when a text is repeated that somebody else wrote;
- in any other form (bare JSON, a fenced block, a Python list, another model's marks) only where nothing but
  calls follows to the end of the reply, where it names a tool that is on offer, and where no sentence leads
  up to it as to an example. A reply that is nothing but a call is one whatever it names.
A call that a sentence leads up to is given back with a fault, so that the model can say which it meant.
Everything else is prose, JSON as well. Pure; runs nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from muleteer.engine.protocol import ToolSpec
from muleteer.harness.dialects import shapes
from muleteer.harness.dialects.calls import ToolCall
from muleteer.harness.dialects.lenient import Fault
from muleteer.harness.dialects.marks import CLOSE, FENCE, Beginning, Beginnings, forming
from muleteer.harness.sameness import form

QUOTED = (
    "a sentence leads up to the call of {name}, as to an example, so it was not made; to make it, reply with"
    " the call and nothing else."
)
CUT = "the call of {name} was cut at the token limit; ask for less at once."

_NAME = re.compile(r"""["'](?:name|function|tool)["']\s*:\s*["']([^"'\n]{1,64})["']""")
_PYTHON = re.compile(r"\[\s*([A-Za-z_][\w.]{0,63})\s*\(")
_LANGUAGE = re.compile(rf"{FENCE}[\w+-]*\s*")
_SPACE = re.compile(r"\s*")
_SURPLUS = re.compile(r"[\s}\]]*>?")
_BETWEEN = re.compile(r"[\s;,]*")


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of the text that says calls; `own` has the model's own mark."""

    begin: int
    end: int
    calls: tuple[ToolCall, ...]
    own: bool


class Reader:
    """Reads one reply, whose tools and whose model's `marks` are known. The prose of a reply is the same in
    whatever chunks it comes."""

    def __init__(self, tools: Sequence[ToolSpec], marks: Sequence[str] = ()) -> None:
        self._tools, self._marks = tools, marks
        self._names = {form(tool.name) for tool in tools}
        self._text = ""
        self._shown = 0
        self._beginnings = Beginnings()

    def feed(self, chunk: str) -> str:
        """The prose that is certain to be prose now. White space waits for what follows it."""
        self._text += chunk
        found = self._beginnings.find(self._text)
        border = max(self._shown, len(self._text[: found.at if found else None].rstrip()))
        begun, shown = bool(self._text[: self._shown].strip()), self._text[self._shown : border]
        self._shown = border
        return shown if begun else shown.lstrip()

    def read(self, text: str, cut: bool = False) -> tuple[str, tuple[ToolCall, ...]]:
        """All of it at once."""
        shown = self.feed(text)
        rest, calls = self.finish(cut)
        return shown + rest, calls

    def finish(self, cut: bool = False) -> tuple[str, tuple[ToolCall, ...]]:
        """The rest of the prose, and the calls; `cut` where a limit ended the reply."""
        blocks = self._judged(self._blocks(cut))
        rest, at = "", self._shown
        for block in blocks:
            rest += self._text[at : block.begin].rstrip()
            at = block.end
        rest = (rest + self._text[at:]).rstrip()
        begun = bool(self._text[: self._shown].strip())
        return (rest if begun else rest.lstrip()), tuple(call for block in blocks for call in block.calls)

    def _blocks(self, cut: bool) -> list[_Block]:
        blocks: list[_Block] = []
        while found := self._beginnings.find(self._text):
            if not found.certain:
                if forming(self._text[found.at :]) or not self._text[: found.at].strip():
                    blocks.append(_Block(found.at, len(self._text), (), True))
                break
            block, self._beginnings.at = self._block(found, cut)
            blocks += [block] if block else []
        return blocks

    def _block(self, found: Beginning, cut: bool) -> tuple[_Block | None, int]:
        """What begins there, if it says calls, and where to look on."""
        text, begin, stop = self._text, found.at, ""
        at = begin + len(found.mark)
        if found.kind == "fence" and (language := _LANGUAGE.match(text, begin)):
            at, stop = language.end(), FENCE
            if mark := next((mark for mark in CLOSE if text.startswith(mark, at)), ""):
                at, stop = at + len(mark), CLOSE[mark]
        elif found.mark:
            stop = CLOSE[found.mark]
        own = found.mark in self._marks
        calls: list[ToolCall] = []
        exact = complete = True
        try:
            while True:
                at = _after(_BETWEEN, text, at)
                read = shapes.read(text, at, self._tools, stop)
                calls += [replace(call, written=text[at : read.end]) for call in read.calls]
                exact, complete, at = exact and read.exact, read.complete, read.end
                following = _after(_BETWEEN, text, at)
                if found.kind == "bare" or text[following : following + 1] not in ("{", "["):
                    break
        except Fault as fault:
            return self._unreadable(found, at, stop, own, calls, fault)
        end = self._closed(at, stop)
        if not exact and not found.mark:
            return None, end
        if cut and not complete:
            calls[-1] = _faulty(calls[-1], CUT)
        return _Block(begin, end, tuple(calls), own), end

    def _closed(self, at: int, stop: str) -> int:
        """Where a block ends whose calls end `at`; surplus brackets and its closing mark belong to it."""
        end = _after(_SURPLUS, self._text, at)
        for closing in (stop, FENCE) if stop else ():
            following = _after(_SPACE, self._text, end)
            if self._text.startswith(closing, following):
                end = following + len(closing)
            elif closing.startswith(self._text[following:]):
                end = len(self._text)
        return end if stop or end >= len(self._text) else at

    def _unreadable(
        self, found: Beginning, at: int, stop: str, own: bool, calls: list[ToolCall], fault: Fault
    ) -> tuple[_Block | None, int]:
        """A block that cannot be read is a call all the same where a mark or its keys say so."""
        text = self._text
        closing = text.find(stop, at) if stop else -1
        region = text[at : closing if closing >= 0 else len(text)]
        name = _NAME.search(region) or _PYTHON.match(region)
        likely = any(f"{quote}{key}{quote}" in region for quote in "\"'" for key in shapes.ARGUMENTS)
        if name:
            likely = likely or form(name[1]) in self._names or bool(_PYTHON.match(region))
        if not found.mark and not (likely if name else fault.at >= len(text)):
            end = text.find(FENCE if found.kind == "fence" else "\n", at)
            return None, end + len(stop) if end >= 0 else len(text)
        end = closing + len(stop) if closing >= 0 else len(text)
        call = shapes.unreadable(name[1] if name else "", text[:end], at, fault)
        return _Block(found.at, end, (*calls, call), own), end

    def _judged(self, blocks: list[_Block]) -> list[_Block]:
        """Those that are calls, and the ones that a sentence leads up to with a fault instead."""
        kept: list[_Block] = []
        end = len(self._text)  # where the calls begin that follow to the end
        for i, block in reversed(list(enumerate(blocks))):
            first = i
            while first and not self._text[blocks[first - 1].end : blocks[first].begin].strip():
                first -= 1
            last = not self._text[block.end : end].strip()
            if judged := self._judge(block, self._text[: blocks[first].begin], last):
                kept.append(judged)
                end = block.begin
        return kept[::-1]

    def _judge(self, block: _Block, before: str, last: bool) -> _Block | None:
        """`before` is the text that leads up to it; `last`: nothing but calls follows."""
        line = before.rpartition("\n")[2].strip()
        if block.own and line.endswith(('"', "'")):
            return None
        if block.own and not line.endswith(":"):
            return block
        known = all(form(call.name) in self._names for call in block.calls)
        if not block.own and (not last or (before.strip() and not known)):
            return None
        if before.rstrip().endswith(":") or (line and not line.endswith((".", "!", "?", "…"))):
            return replace(block, calls=tuple(_faulty(call, QUOTED) for call in block.calls))
        return block


def _faulty(call: ToolCall, why: str) -> ToolCall:
    return replace(call, arguments=None, fault=why.format(name=call.name or "a tool"))


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
