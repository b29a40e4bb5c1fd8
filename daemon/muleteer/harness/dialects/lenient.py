"""JSON as models write it, read without guessing what it says. Pure.

Only form is forgiven: escapes that JSON does not know, line ends in strings, single quotes, Python's
literals, a comma before a closing bracket, and closing brackets that are missing where the text ends. What
would change what the text says is a fault: a missing comma, colon or quotation mark within the text, a name
given twice, a member that was begun and has no value. `json-repair` and its kind fill such gaps, which makes
a call that nobody wrote; hence this reader.
"""

from __future__ import annotations

import re

DEEPEST = 32  # brackets within brackets; arguments have three or four, and recursion has an end
LONGEST_NUMBER = 300  # characters; Python refuses to read integers of some thousands

_SPACE = re.compile(r"[ \t\r\n]*")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.+-])")
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = {"true": True, "false": False, "null": None, "True": True, "False": False, "None": None}
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_UNICODE = re.compile(r"u([0-9a-fA-F]{4})")
_DRIVE = re.compile(r"[A-Za-z]:\\[A-Za-mo-z]")  # as in C:\temp; after a colon a line may end: "Q:\n"
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_LONE = re.compile("[\ud800-\udfff]")


class Fault(ValueError):  # noqa: N818 (a fault of the text, as elsewhere here)
    """The text is not what it should be `at` this index; `str(fault)` says what is wrong there."""

    def __init__(self, at: int, what: str) -> None:
        super().__init__(what)
        self.at = at


class Scanner:
    """Reads values from `text`, beginning at `at`. The text ends before `end`, or where `stop` stands between
    values. `closed`: it ended within a string or number, which was taken as it stood; `completed`: brackets
    were closed that it does not close."""

    def __init__(self, text: str, at: int = 0, stop: str = "") -> None:
        self.text, self.at, self._stop = text, at, stop
        self.closed = self.completed = False
        self._depth = 0

    @property
    def over(self) -> bool:
        """Whether nothing follows; skips white space."""
        match = _SPACE.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at >= len(self.text) or bool(self._stop and self.text.startswith(self._stop, self.at))

    def next(self) -> str:
        """The next character that is no white space, which stays; empty at the end."""
        return "" if self.over else self.text[self.at]

    def take(self, character: str) -> bool:
        """Whether it came next, and is behind us now."""
        if self.next() != character:
            return False
        self.at += 1
        return True

    def word(self) -> str:
        """A name that comes next, which is behind us then; empty if there is none."""
        match = None if self.over else _WORD.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match[0] if match else ""

    def value(self) -> object:
        """The value that comes next. Raises `Fault`."""
        first = self.next()
        if first == "{":
            return self._members()
        if first == "[":
            return self._items()
        if first and first in "\"'":
            return self.string(first)
        if number := _NUMBER.match(self.text, self.at):
            return self._number(number)
        at, word = self.at, self.word()
        if word not in _WORDS:
            raise Fault(at, "a value is missing")
        return _WORDS[word]

    def _number(self, number: re.Match[str]) -> int | float:
        if len(number[0]) > LONGEST_NUMBER:
            raise Fault(self.at, "a number is too long")
        self.at = number.end()
        self.closed = self.closed or self.at == len(self.text)
        value = float(number[0])
        if value in (float("inf"), float("-inf")):
            raise Fault(number.start(), "a number is too large")
        return int(number[0]) if re.fullmatch(r"-?\d+", number[0]) else value

    def _members(self) -> dict[str, object]:
        found: dict[str, object] = {}
        self.open()
        while not self.ends("}", bool(found)):
            at, quote = self.at, self.next()
            if quote not in ("'", '"'):
                raise Fault(at, "a name in quotation marks is missing")
            name = self.string(quote)
            if not self.take(":"):
                raise Fault(self.at, f"a colon after {name[:40]!r} is missing")
            if name in found:
                raise Fault(at, f"{name[:40]!r} is given twice")
            found[name] = self.value()
            self.separate("}")
        return found

    def _items(self) -> list[object]:
        found: list[object] = []
        self.open()
        while not self.ends("]", bool(found)):
            found.append(self.value())
            self.separate("]")
        return found

    def open(self) -> None:
        """The bracket that comes next is behind us."""
        self.at += 1
        self._depth += 1
        if self._depth > DEEPEST:
            raise Fault(self.at, f"brackets are nested more than {DEEPEST} deep")

    def ends(self, bracket: str, filled: bool) -> bool:
        """Whether this bracket closes here; at the end of the text it does if it is `filled` and no comma
        was last. Raises `Fault`."""
        if self.over:
            if not filled or self._comma_before():
                raise Fault(self.at, "the text ends where more was to follow")
            self.completed = True
        elif not self.take(bracket):
            return False
        self._depth -= 1
        return True

    def _comma_before(self) -> bool:
        return self.text[: self.at].rstrip(" \t\r\n").endswith(",")

    def separate(self, bracket: str) -> None:
        """A comma, unless this bracket or the end of the text comes next. Raises `Fault`."""
        if not self.over and self.next() != bracket and not self.take(","):
            raise Fault(self.at, f"a comma or {bracket} is missing")

    def string(self, quote: str) -> str:
        """The string that comes next, in these quotation marks; at the end of the text it ends, too."""
        self.at += 1
        begin, plain = self.at, _PLAIN[quote]
        while True:
            found = plain.match(self.text, self.at)
            self.at = found.end() if found else self.at
            if self.at >= len(self.text):
                if self._stop and self._stop in self.text[begin:]:
                    raise Fault(begin - 1, "a quotation mark is missing")
                self.closed = True
                return unescaped(self.text[begin:])
            if self.text[self.at] == quote:
                self.at += 1
                return unescaped(self.text[begin : self.at - 1])
            if self.at + 1 >= len(self.text):
                raise Fault(len(self.text), "the text ends within an escape")
            self.at += 2


def unescaped(text: str) -> str:
    """What is within quotation marks, as the text it stands for. Where a backslash stands before something
    that JSON knows no escape for, as in a pattern or a Windows path, no backslash was meant as an escape,
    except before a backslash or a quotation mark."""
    if "\\" not in text:
        return text
    literal = bool(_DRIVE.match(text))
    parts: list[tuple[str, str]] = []  # as an escape, and as it is written
    at = 0
    while at < len(text):
        if text[at] != "\\":
            end = len(text) if (next_one := text.find("\\", at)) < 0 else next_one
            parts.append((text[at:end], text[at:end]))
            at = end
            continue
        escape = text[at + 1 : at + 2]
        code = _UNICODE.match(text, at + 1)
        if code:
            parts.append((chr(int(code[1], 16)), text[at : code.end()]))
        elif escape in "\"'\\":
            parts.append((escape, escape))
        else:
            literal = literal or escape not in _ESCAPES
            parts.append((_ESCAPES.get(escape, ""), text[at : at + 2]))
        at = code.end() if code else at + 2
    plain = "".join(written if literal else meant for meant, written in parts)
    return _LONE.sub("\N{REPLACEMENT CHARACTER}", _PAIR.sub(_joined, plain))


def _joined(pair: re.Match[str]) -> str:
    return (pair[1] + pair[2]).encode("utf-16", "surrogatepass").decode("utf-16")
