"""A JSON body, read value by value, each with its place, so that what is wrong can be said and found.

Knows JSON and its mistakes; no protocol.
"""

from __future__ import annotations

from collections.abc import Iterator

from pydantic_core import from_json

from muleteer.errors import RequestError


class WrongError(RequestError):
    """A value that is wrong; `at` is its place, empty for the body itself."""

    def __init__(self, at: str, message: str, code: str = "invalid_value") -> None:
        super().__init__(f"{at or 'The body'} {message}")
        self.at, self.kind = at, code


class Node:
    """One value of a body. Every method raises `WrongError`."""

    def __init__(self, value: object, at: str = "") -> None:
        self.value, self.at = value, at

    def wrong(self, message: str, code: str = "invalid_value") -> WrongError:
        return WrongError(self.at, message, code)

    def names(self) -> Iterator[str]:
        return iter(self._object())

    def has(self, key: str) -> bool:
        """Whether there is such a value, and it is not null."""
        return self._object().get(key) is not None

    def get(self, key: str) -> Node:
        """The value under a key; null where there is none."""
        return Node(self._object().get(key), f"{self.at}.{key}" if self.at else key)

    def need(self, key: str) -> Node:
        if not self.has(key):
            raise self.get(key).wrong("is missing.", "missing_required_parameter")
        return self.get(key)

    def each(self, most: int) -> list[Node]:
        """The values of a list of at most so many."""
        if not isinstance(self.value, list):
            raise self.wrong("must be a list.", "invalid_type")
        if len(self.value) > most:
            raise self.wrong(f"has {len(self.value)} entries and may have {most}.", "array_above_max_length")
        return [Node(value, f"{self.at}[{i}]") for i, value in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str):
            raise self.wrong("must be a string.", "invalid_type")
        if "\0" in self.value:
            raise self.wrong("holds a zero character (\\u0000); send plain text.")
        return self.value

    def boolean(self) -> bool:
        if not isinstance(self.value, bool):
            raise self.wrong("must be true or false.", "invalid_type")
        return self.value

    def number(self, least: int) -> int:
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.wrong("must be a whole number.", "invalid_type")
        if self.value < least:
            raise self.wrong(f"must be at least {least}.", "integer_below_min_value")
        return self.value

    def fields(self) -> dict[str, object]:
        return dict(self._object())

    def one_of(self, *known: str) -> str:
        if self.value not in known:
            raise self.wrong(f"must be one of {', '.join(map(repr, known))}.")
        return str(self.value)

    def _object(self) -> dict[str, object]:
        if not isinstance(self.value, dict):
            raise self.wrong("must be an object.", "invalid_type")
        return self.value


def read(body: bytes) -> Node:
    """The body, which must be a JSON object. Raises `WrongError`."""
    try:
        node = Node(from_json(body, allow_inf_nan=False))
    except ValueError as error:
        raise WrongError("", f"is not valid JSON: {error}.", "invalid_json") from None
    node.fields()
    return node
