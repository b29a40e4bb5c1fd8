"""From signature and docstring to schema: what is made, and what is refused with which sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, Literal, NamedTuple, NewType

import pytest
from pydantic import BaseModel, Field, create_model
from typing_extensions import TypedDict

from muleteer.catalogue.schema import read_docstring, read_form, vet
from muleteer.errors import SkillError
from muleteer.tool import Result, Services


class Corner(BaseModel):
    x: int
    title: str = ""


class Tree(BaseModel):
    children: list[Tree]


def full(
    place: str,
    level: Annotated[int, Field(ge=0, le=10)],
    kind: Literal["a", "b"] = "a",
    note: str | None = None,
    corner: Corner | None = None,
    tags: list[str] = [],  # noqa: B006  # tools are written by people who do not know better
    *,
    home: Services,
) -> Result:
    """Do a thing
    in two lines. Use it for things.

    place: where
    level: how far,
      from nothing to ten
    kind: which
    note: what to add
    corner: which corner
    tags: words

    Anything else is for people.
    """
    return Result.ok("")


def test_the_schema_is_compact_and_closed() -> None:
    form = read_form(full)
    assert form.summary == "Do a thing in two lines. Use it for things."
    assert form.services == ("home",)
    assert form.parameters == {
        "type": "object",
        "properties": {
            "place": {"type": "string", "description": "where"},
            "level": {
                "type": "integer",
                "minimum": 0,
                "maximum": 10,
                "description": "how far, from nothing to ten",
            },
            "kind": {"type": "string", "enum": ["a", "b"], "default": "a", "description": "which"},
            "note": {"type": "string", "description": "what to add"},
            "corner": {
                "type": "object",
                "properties": {"x": {"type": "integer"}, "title": {"type": "string"}},
                "required": ["x"],
                "additionalProperties": False,
                "description": "which corner",
            },
            "tags": {"type": "array", "items": {"type": "string"}, "description": "words"},
        },
        "required": ["place", "level"],
        "additionalProperties": False,
    }


def test_a_tool_without_parameters_has_an_empty_closed_object() -> None:
    def ping() -> Result:
        """Answer."""
        return Result.ok("")

    assert read_form(ping).parameters == {"type": "object", "properties": {}, "additionalProperties": False}


def test_parameters_may_be_called_like_methods_of_the_model() -> None:
    def odd(json: str, copy: int = 1) -> Result:
        """Odd.

        json: text
        copy: how many
        """
        return Result.ok("")

    form = read_form(odd)
    assert list(form.parameters["properties"]) == ["json", "copy"]
    assert form.arguments({"json": "x"}) == {"json": "x"}


def test_arguments_are_converted_and_nulls_left_out() -> None:
    arguments = read_form(full).arguments({"place": 7, "level": "3", "note": None, "corner": {"x": "1"}})
    assert arguments == {"place": "7", "level": 3, "corner": Corner(x=1)}


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"level": 1}, "'place' is missing"),
        ({"place": None, "level": 1}, "'place': input should be a valid string"),
        ({"place": "x", "level": 11}, "'level': input should be less than or equal to 10"),
        ({"place": "x", "level": 1, "kind": "c"}, "'kind': input should be 'a' or 'b'"),
        ({"place": "x", "level": 1, "corner": {}}, "'corner.x' is missing"),
        (
            {"place": "x", "level": 1, "zone": 1},
            "there is no parameter 'zone'; the parameters are: place, level, kind, note, corner, tags",
        ),
    ],
)
def test_a_wrong_argument_is_named(given: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011  # the whole sentence is compared
        read_form(full).arguments(given)
    assert str(caught.value) == sentence


def nothing_said(x: int) -> Result:
    return Result.ok("")


def not_described(x: int) -> Result:
    """Do it."""
    return Result.ok("")


def described_only() -> Result:
    """Do it.

    x: not there
    """
    return Result.ok("")


def not_annotated(x) -> Result:  # type: ignore[no-untyped-def]  # that is the fault
    """Do it.

    x: something
    """
    return Result.ok("")


def wrong_return() -> str:
    """Do it."""
    return ""


def unknown_type(x: Missing) -> Result:  # type: ignore[name-defined]  # noqa: F821  # that is the fault
    """Do it.

    x: something
    """
    return Result.ok("")


def any_number(*x: int) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")


def open_object(x: dict[str, int]) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")


def endless(x: Tree) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")


def no_schema(x: Callable[[], int]) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")


def look_ahead(x: Annotated[str, Field(json_schema_extra={"pattern": "^(?!a)b$"})]) -> Result:
    """Do it.

    x: something
    """
    return Result.ok("")


@pytest.mark.parametrize(
    ("function", "sentence"),
    [
        (nothing_said, "no docstring"),
        (not_described, "'x' is not described; add a line 'x: ...'"),
        (described_only, "describes 'x', which is not a parameter"),
        (not_annotated, "'x' has no annotation"),
        (wrong_return, "return annotation must be Result"),
        (unknown_type, "'Missing' is not defined"),
        (any_number, "'x' cannot be given by name"),
        (open_object, "open object at /properties/x"),
        (endless, "Tree contains itself"),
        (no_schema, "make no JSON schema"),
        (look_ahead, r"at /properties/x cannot be enforced \(pattern\): .*look-around"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_reason(
    function: Callable[..., Any], sentence: str
) -> None:
    with pytest.raises(SkillError, match=sentence):
        read_form(function)


def taking(kind: Any) -> Callable[..., Result]:
    def use(x) -> Result:  # type: ignore[no-untyped-def]  # the annotation comes below
        """Do it.

        x: something
        """
        return Result.ok("")

    use.__annotations__["x"] = kind
    return use


def doubled(levels: int, **leaf: Any) -> Any:
    made: list[Any] = [create_model("L0", **leaf)]
    for number in range(1, levels):
        made.append(create_model(f"L{number}", a=(made[-1], ...), b=(made[-1], ...)))
    return made[-1]


def test_types_that_double_are_refused_before_they_are_written_out() -> None:
    leaf = (int, ...)
    assert read_form(taking(doubled(6, a=leaf))).required == ("x",)
    with pytest.raises(SkillError, match=r"\(its size\): it holds more than 450 schemas"):
        read_form(taking(doubled(60, a=leaf)))  # all of it would never end
    with pytest.raises(SkillError, match=r"\(its size\): it has more than 262144 bytes"):
        read_form(taking(doubled(6, a=(int, Field(description="long" * 20_000)))))
    shared: list[Any] = ["some text"] * 100
    for _ in range(10):
        shared = [shared, shared]
    with pytest.raises(SkillError, match=r"\(its size\): it has more than 262144 bytes"):
        read_form(taking(Annotated[int, Field(json_schema_extra={"enum": shared})]))


def twice(kind: Any, levels: int = 60) -> Any:
    for _ in range(levels):
        kind = tuple[kind, kind]
    return kind


class Pair(TypedDict):
    a: int


class Point(NamedTuple):
    a: int


def holding(kind: type, hint: object) -> type:
    kind.__annotations__ = {"a": hint}
    return kind


def forward(levels: int = 60) -> Callable[..., Result]:
    text = "T0 = int\n" + "".join(f"T{n} = tuple['T{n - 1}', 'T{n - 1}']\n" for n in range(1, levels))
    scope: dict[str, Any] = {"Result": Result}
    exec(f"{text}def use(x: 'T{levels - 1}') -> Result:\n    'Do it.\\n\\nx: something'", scope)
    made: Callable[..., Result] = scope["use"]
    return made


def named_anew(levels: int = 60) -> Any:
    kind: Any = int
    for number in range(levels):
        kind = NewType(f"N{number}", tuple[kind, kind])  # type: ignore[misc, no-redef]  # made in a loop
    return kind


@pytest.mark.parametrize(
    "function",
    [
        taking(twice(int)),
        taking(Annotated[twice(int, 14), Field(description="much")]),
        taking(twice(int, 14) | None),
        taking(named_anew()),
        taking(holding(Pair, twice(int))),
        taking(holding(Point, twice(int))),
        forward(),
    ],
    ids=["tuple", "annotated", "union", "newtype", "typed dict", "named tuple", "forward"],
)
def test_types_that_double_outside_models_are_counted_before_anybody_walks_them(
    function: Callable[..., Result],
) -> None:
    with pytest.raises(SkillError, match="its annotations hold more than 5000 types"):
        read_form(function)


def test_values_that_double_are_counted_before_they_are_copied() -> None:
    shared: list[Any] = [1]
    for _ in range(60):
        shared = [shared, shared]

    def use(x: list[int] = shared) -> Result:  # that is the fault
        """Do it.

        x: something
        """
        return Result.ok("")

    for function in (use, taking(Annotated[int, Field(examples=[shared])])):
        with pytest.raises(SkillError, match="holds more than 50000 values"):
            read_form(function)


def test_types_that_name_themselves_are_counted_once() -> None:
    class Node(BaseModel):
        next: Node | None = None

    with pytest.raises(SkillError, match="contains itself"):
        read_form(taking(Node))


def test_what_is_nested_too_deeply_is_refused() -> None:
    kind: Any = int
    for _ in range(150):
        kind = list[kind]
    with pytest.raises(SkillError, match="it is nested deeper than 64 levels"):
        read_form(taking(kind))


def test_nulls_that_are_left_out_do_not_count() -> None:
    names = [f"p{number}" for number in range(160)]
    text = f"def many({', '.join(f'{name}: int | None = None' for name in names)}) -> Result: ...\n"
    scope: dict[str, Any] = {"Result": Result}
    exec(text, scope)
    scope["many"].__doc__ = "Do it.\n\n" + "\n".join(f"{name}: something" for name in names)
    assert len(read_form(scope["many"]).optional) == 160


def test_an_unsupported_keyword_is_named_with_its_pointer() -> None:
    inner = {"type": "array", "items": {"type": "string"}, "uniqueItems": True}
    schema = {"type": "object", "properties": {"a": {"anyOf": [inner]}}, "additionalProperties": False}
    with pytest.raises(SkillError, match="'uniqueItems' at /properties/a/anyOf/0"):
        vet(schema)


@pytest.mark.parametrize("pattern", [r"^(\d+|imap:[A-Za-z0-9_-]+)$", r"^\d{4}-\d{2}$"])
def test_patterns_inside_arrays_are_taken(pattern: str) -> None:
    items = {"type": "string", "pattern": pattern}
    vet(
        {
            "type": "object",
            "properties": {"a": {"type": "array", "items": items}},
            "additionalProperties": False,
        }
    )


def test_a_docstring_is_a_paragraph_and_lines_of_parameters() -> None:
    text = "One.\nTwo.\n\na: first\n  and more\nb: second\nNote: for people\n  not a continuation\n"
    assert read_docstring(text) == ("One. Two.", {"a": "first and more", "b": "second"})
