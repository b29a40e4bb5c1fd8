"""A function's annotations, evaluated, and counted before anybody walks them.

`T = tuple[T, T]` written thirty times over is thirty lines and a billion types. Everything that reads types,
`typing.get_type_hints` first of all, walks every one of them, so they are counted here with an end: each
class once, everything else as often as it is used, as the readers do it.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from muleteer.errors import SkillError

MOST_TYPES = 5_000  # in all annotations of a function; ten times what the largest schema that is taken needs
MOST_VALUES = 50_000  # lists, objects and values in one default; a page of text has fewer words


def read_hints(function: Callable[..., object]) -> dict[str, Any]:
    """The annotations by parameter, and `return`, with what `Annotated` adds. Raises `SkillError` when they
    cannot be read, or hold too many types or values to be."""
    try:
        own = inspect.get_annotations(function, eval_str=True)
        scope = getattr(function, "__globals__", {})
        _Count(scope).all(own.values())
        for parameter in inspect.signature(function).parameters.values():
            _count_values(parameter.default)
        return typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError, SyntaxError, AttributeError) as error:
        raise SkillError(f"an annotation cannot be read: {error}.") from error


class _Count:
    """Walks types one after the other, none deeper than the last. `scope` is where their names are looked
    up."""

    def __init__(self, scope: Mapping[str, Any]) -> None:
        self._scope = dict(scope)
        self._classes: set[int] = set()  # by identity: hashing a type walks it, too
        self._left = MOST_TYPES

    def all(self, given: Iterable[object]) -> None:
        """Raises `SkillError` at the type too many."""
        waiting = list(given)
        while waiting:
            self._left -= 1
            if self._left < 0:
                raise SkillError(
                    f"its annotations hold more than {MOST_TYPES} types; types that double become too many."
                )
            waiting += self._inside(waiting.pop())

    def _inside(self, hint: object) -> Iterator[object]:
        if isinstance(hint, str):
            yield eval(hint, self._scope)  # noqa: S307  # code of the tool's own module, run like the rest
        elif isinstance(hint, typing.ForwardRef):
            yield hint.__forward_arg__
        elif _is_alias(hint):
            if self._is_new(hint):
                yield hint.__value__  # type: ignore[attr-defined]
        elif isinstance(hint, typing.NewType):
            yield hint.__supertype__
        elif isinstance(hint, typing.TypeVar):
            yield from (*hint.__constraints__, *([hint.__bound__] if hint.__bound__ else ()))
        elif isinstance(hint, type) and not isinstance(hint, types.GenericAlias):
            if self._is_new(hint):
                yield from _parts(hint)
        elif typing.get_origin(hint) is typing.Annotated:
            inner, *extras = typing.get_args(hint)
            _count_values(extras)
            yield inner
        elif typing.get_origin(hint) is not typing.Literal:
            yield from typing.get_args(hint)

    def _is_new(self, hint: object) -> bool:
        """Whether a thing with a name is met for the first time; readers remember those."""
        known = id(hint) in self._classes
        self._classes.add(id(hint))
        return not known


def _is_alias(hint: object) -> bool:
    """Whether it is one made by `type X = ...`, of this Python or of typing_extensions."""
    return type(hint).__name__ == "TypeAliasType"


def _parts(kind: Any) -> Iterator[object]:
    """The types of a class's fields, where it has such."""
    if fields := getattr(kind, "model_fields", None):
        for field in fields.values():
            _count_values([field.default, field.examples])
            yield field.annotation
    else:
        yield from kind.__bases__
        with suppress(NameError, AttributeError, SyntaxError, TypeError):  # said later, by name
            yield from inspect.get_annotations(kind, eval_str=True).values()


def _count_values(value: object) -> None:
    """Raises `SkillError` when lists and objects hold too many values, counted as often as they are held."""
    waiting, left = [value], MOST_VALUES
    while waiting:
        inner = waiting.pop()
        left -= 1
        if left < 0:
            raise SkillError(f"a default or example of it holds more than {MOST_VALUES} values.")
        if isinstance(inner, dict):
            waiting += [*inner, *inner.values()]
        elif isinstance(inner, list | tuple | set | frozenset):
            waiting += inner
        elif type(inner).__name__ == "FieldInfo":
            waiting += [inner.default, inner.examples]  # type: ignore[attr-defined]
