"""What is only for the eye: Markdown, links, tags, code and a model's thinking. Pure.

`Blocks` takes out of a stream what must not be heard at all, `lines` takes the marks from what is left.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

LONGEST_END = 300  # characters that the end of a block can begin in
CODE = "\ufffc"  # in place of a block of code: Unicode's sign for an object that is no text
_HIDDEN = "think|thinking|thought|reasoning|tool_call|tool_calls|tool_response|tool_result|script|style"
_OPEN = re.compile(rf"<({_HIDDEN})\b[^<>]{{0,100}}>|^[ \t]*(`{{3,}}|~{{3,}})", re.IGNORECASE | re.MULTILINE)
_PART = re.compile(
    r"(?:<(?:[A-Za-z][^<>\n]{0,110})?|^[ \t]*[`~]{0,9})\Z", re.MULTILINE
)  # may become one of these

_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)|!?\[([^\[\]]+)\]\[[^\[\]]*\]")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,200}>|<!--.{0,1000}?-->")
_RULE = re.compile(r"\s*(?:[-*_=]\s*){3,}|[\s|:+-]*\|[\s|:+-]*-[\s|:+-]*")
_LEAD = re.compile(r"\s*(?:>\s?)*(?:#{1,6}\s+|[-*+•]\s+(?:\[[ xX]\]\s*)?)?")
_MARKS = re.compile(r"\*\*|__|~~|`+|(?<![\w*])[*_](?=\S)|(?<=\S)[*_](?![\w*])")


class Blocks:
    """Takes thinking and code out of a stream; what `feed` and `rest` give does not depend on the pieces."""

    def __init__(self) -> None:
        self._held, self._before = "", "\n"  # and the character before it
        self._until: re.Pattern[str] | None = None  # inside one of them: its end
        self._is_code = False

    def feed(self, piece: str) -> str:
        """What can be heard of it, as far as that is certain; CODE where there was some."""
        self._held += piece
        out = ""
        while True:
            text = self._before + self._held
            if self._until:
                if not (end := self._until.search(text)):
                    self._held = self._held[-LONGEST_END:]
                    return out
                self._cut(text, end.end())
                self._until = None
                out += f"\n{CODE}\n" if self._is_code else ""
            elif start := _OPEN.search(text, 1):
                out += text[1 : start.start()]
                self._cut(text, start.end())
                self._is_code = bool(start[2])
                end_mark = rf"\n[ \t]*{start[2]}[ \t]*(?=\n)" if start[2] else rf"</{start[1]}\s*>"
                self._until = re.compile(end_mark, re.IGNORECASE)
            else:
                part = _PART.search(text, 1)
                cut = part.start() if part else len(text)
                out += text[1:cut]
                self._cut(text, cut)
                return out

    def _cut(self, text: str, place: int) -> None:
        self._before, self._held = text[place - 1], text[place:]

    def rest(self) -> str:
        """What is left when nothing more comes; a block without an end is hidden to the end."""
        rest = "" if self._until and not self._is_code else f"\n{CODE}\n" if self._until else self._held
        self._held, self._until = "", None
        return rest


def lines(text: str) -> Iterator[str]:
    """Lines of text without marks, with a period where a line has no end of its own but the last."""
    text = _TAG.sub(" ", _LINK.sub(lambda found: found[1] or found[2] or "", text))
    found = [line for each in text.splitlines() if (line := _unmarked(each))]
    for place, line in enumerate(found):
        yield f"{line}." if place < len(found) - 1 and line[-1].isalnum() else line


def _unmarked(line: str) -> str:
    if _RULE.fullmatch(line):
        return ""
    line = line[_LEAD.match(line).end() :]  # type: ignore[union-attr]  # it matches nothing, too
    if line.count("|") > 1:
        line = ", ".join(filter(None, (cell.strip() for cell in line.split("|"))))
    return html.unescape(_MARKS.sub("", line)).strip()
