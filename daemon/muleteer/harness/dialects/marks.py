"""What a call may begin with, and what can be told of it before it has ended. Pure; knows no calls."""

from __future__ import annotations

from dataclasses import dataclass

import regex

CLOSE = {
    "<tool_call>": "</tool_call>",
    "<|tool_call|>": "<|/tool_call|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<|python_tag|>": "<|eom_id|>",
    "[TOOL_CALLS]": "[/TOOL_CALLS]",
    "<functioncall>": "</functioncall>",
    "<functioncall ": ">",
}
FENCE = "```"
SHORTEST_MARK = 5  # characters of a mark at the end of a text that are more likely a mark than words

_KEY = r"""(?:\{\s*)+["'](?:name|arguments|parameters|function|type|id|index|tool|tool_calls)["']"""
_LIST = rf"\[\s*(?:{_KEY}|[A-Za-z_][\w.]*\s*\()"
_ANY_MARK = "|".join(regex.escape(mark) for mark in CLOSE)
_BODY = rf"(?:{_KEY}|{_LIST}|{_ANY_MARK})"
CALL = regex.compile(rf"(?:{FENCE}[\w+-]*\s*)?(?:{_KEY}|{_LIST})|{FENCE}[\w+-]*\s*{FENCE}")
"""The beginning of a call without a mark, in a fence or not; or a fence that has lost it."""

_BEGIN = regex.compile(rf"(?P<mark>{_ANY_MARK})|(?P<fence>{FENCE})|(?P<bare>[\{{\[])")
_OPENS = {
    "mark": regex.compile(_ANY_MARK),
    "fence": regex.compile(rf"{FENCE}[\w+-]*\s*{_BODY}"),
    "bare": regex.compile(rf"{_KEY}|{_LIST}"),
}
_FORMING = regex.compile(rf"""(?:{FENCE}[\w+-]*\s*)?\[?\s*(?:\{{\s*)+["']""")


@dataclass(frozen=True, slots=True)
class Beginning:
    """Where a call may begin. `kind` is mark, fence or bare; `certain` is False where the text ended before
    that could be told."""

    at: int
    kind: str
    certain: bool
    mark: str = ""


class Beginnings:
    """Finds them one after the other in a text that may still grow. What is within a code block or right
    behind a backtick is none."""

    def __init__(self) -> None:
        self.at = 0
        self._in_code = False

    def find(self, text: str) -> Beginning | None:
        """The next one from `at` on, which stays there; None if everything up to the end is none."""
        while True:
            if self._in_code:
                if (end := text.find(FENCE, self.at)) < 0:
                    self.at = max(self.at, len(text) - len(FENCE) + 1)
                    return None
                self.at, self._in_code = end + len(FENCE), False
            found = _BEGIN.search(text, self.at, partial=True)
            if not found:
                return None
            self.at = found.start()
            if found.partial:
                return Beginning(self.at, "", False) if self.at < len(text) else None
            kind, quoted = found.lastgroup or "", text[self.at - 1 : self.at] == "`"
            opened = None if quoted else _OPENS[kind].match(text, self.at, partial=True)
            if opened:
                return Beginning(self.at, kind, not opened.partial, found["mark"] or "")
            self.at, self._in_code = found.end(), kind == "fence" and not quoted


def forming(text: str) -> bool:
    """Whether a text that ends before anything is certain is more likely a call than prose."""
    return bool(_FORMING.match(text)) or (
        len(text) >= SHORTEST_MARK and any(mark.startswith(text) for mark in CLOSE)
    )
