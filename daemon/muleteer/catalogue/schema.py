"""From a function's docstring and annotated signature to the JSON schema of its arguments, and back from
arguments to a call.

Knows pydantic and what the decoder can constrain; knows nothing of folders, menus or calls. The schema is
written for a small model: compact, no titles, closed objects.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from muleteer.catalogue.hints import read_hints
from muleteer.engine import narrowing, vetting
from muleteer.engine.references import Refusal
from muleteer.errors import SkillError
from muleteer.tool import Named, Result, Services, ToolFunction

Json = dict[str, Any]

PARAMETER_LINE = re.compile(r"([a-z_][a-z0-9_]*): +(\S.*)")
# What both pydantic writes and llguidance constrains. Anything else would be decoded unchecked.
KEYWORDS = frozenset(
    (
        *("type", "description", "default", "enum", "const", "anyOf"),
        *("properties", "required", "additionalProperties"),
        *("items", "prefixItems", "minItems", "maxItems"),
        *("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"),
        *("minLength", "maxLength", "pattern", "format"),
    )
)


@dataclass(frozen=True, slots=True)
class Form:
    """What a tool's arguments look like. `summary` is the docstring's first paragraph on one line,
    `services` the parameters that the daemon fills in itself, `named` those that take a service's names."""

    summary: str
    parameters: Json
    required: tuple[str, ...]
    optional: tuple[str, ...]
    services: tuple[str, ...]
    model: type[BaseModel]
    named: Mapping[str, Named] = field(default_factory=dict)

    def arguments(self, given: Mapping[str, object]) -> dict[str, object]:
        """Validated and converted keyword arguments; a null for an optional parameter means that it was left
        out. Raises `ValueError` with one sentence that names the parameter."""
        kept = {
            name: value for name, value in given.items() if value is not None or name not in self.optional
        }
        try:
            values = self.model.model_validate(kept)
        except ValidationError as error:
            raise ValueError(self._explain(error)) from error
        return {field.removesuffix("_"): getattr(values, field) for field in values.model_fields_set}

    def _explain(self, error: ValidationError) -> str:
        found = error.errors(include_url=False)
        unknown = [each for each in found if each["type"] == "extra_forbidden"]  # likelier the cause
        first = (unknown or found)[0]
        place = ".".join(str(part) for part in first["loc"])
        if first["type"] == "extra_forbidden":
            known = ", ".join((*self.required, *self.optional)) or "none"
            return f"there is no parameter '{place}'; the parameters are: {known}"
        if first["type"] == "missing":
            return f"'{place}' is missing"
        return f"'{place}': {first['msg'][:1].lower()}{first['msg'][1:]}"


def read_form(function: ToolFunction) -> Form:
    """Compare docstring and signature, and make the schema. Raises `SkillError` saying what to change."""
    name = function.__name__
    summary, described = read_docstring(inspect.getdoc(function) or "")
    if not summary:
        raise SkillError("it has no docstring; the first paragraph tells the model what it does.")
    hints = read_hints(function)
    if hints.get("return") is not Result:
        raise SkillError("its return annotation must be Result.")
    fields: dict[str, Any] = {}
    services: list[str] = []
    required: list[str] = []
    optional: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        key = parameter.name
        if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise SkillError(
                f"parameter '{key}' cannot be given by name; *args, **kwargs and '/' do not work."
            )
        if key not in hints:
            raise SkillError(f"parameter '{key}' has no annotation.")
        if hints[key] is Services:
            services.append(key)
            continue
        if key not in described:
            raise SkillError(f"parameter '{key}' is not described; add a line '{key}: ...' to the docstring.")
        default = ... if parameter.default is parameter.empty else parameter.default
        (required if default is ... else optional).append(key)
        # The underscore keeps a parameter called `json` or `copy` from hiding a method of the model.
        fields[f"{key}_"] = (hints[key], Field(default, alias=key, description=described[key]))
    if extra := sorted(described.keys() - {*required, *optional}):
        raise SkillError(f"the docstring describes '{extra[0]}', which is not a parameter.")
    model, parameters = _schema(name, fields, frozenset(optional))
    vet(parameters)
    named = {key: mark for key in (*required, *optional) for mark in _marks(hints[key])}
    return Form(summary, parameters, tuple(required), tuple(optional), tuple(services), model, named)


def _marks(hint: object) -> Iterator[Named]:
    return (each for each in getattr(hint, "__metadata__", ()) if isinstance(each, Named))


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The first paragraph on one line, and the `name: text` lines after it. Indented lines continue one."""
    head, _, rest = text.strip().partition("\n\n")
    described: dict[str, str] = {}
    current = ""
    for line in rest.splitlines():
        if match := PARAMETER_LINE.fullmatch(line.rstrip()):
            current = match[1]
            described[current] = match[2]
        elif current and line.startswith(" ") and line.strip():
            described[current] += " " + line.strip()
        else:
            current = ""
    return " ".join(head.split()), described


def vet(schema: Json) -> None:
    """Refuse what the decoder cannot hold the model to, and what a person should write differently. Raises
    `SkillError` with JSON pointer and keyword."""
    for pointer, node in _nodes(schema, ""):
        if unknown := sorted(node.keys() - KEYWORDS):
            raise SkillError(f"its schema uses the unsupported keyword '{unknown[0]}' at {pointer or '/'}.")
        if node.get("type") == "object" and node.get("additionalProperties") is not False:
            raise SkillError(
                f"its schema has an open object at {pointer or '/'}; use a pydantic model instead."
            )
    vetting.vet(schema)


def _schema(name: str, fields: dict[str, Any], optional: frozenset[str]) -> tuple[type[BaseModel], Json]:
    config = ConfigDict(extra="forbid", coerce_numbers_to_str=True, protected_namespaces=())
    try:
        model: type[BaseModel] = create_model(name, __config__=config, **fields)
        raw = model.model_json_schema()
    except Exception as error:  # pydantic raises many kinds for annotations it cannot use
        raise SkillError(f"its annotations make no JSON schema: {' '.join(str(error).split())}") from error
    compact = _Expansion(raw.pop("$defs", {})).compact(raw, ())
    compact.setdefault("properties", {})
    for key in optional:
        _without_null(compact["properties"][key])
    return model, compact


class _Expansion:
    """Puts references in place and leaves out what a model does not need. A few definitions that use each
    other twice double with each level, so it ends with the node too many, before there is anything to vet.
    What it refuses `vetting.py` would refuse, too: only nulls go afterwards, two schemas with each."""

    def __init__(self, definitions: Json) -> None:
        self._definitions = definitions
        self._schemas = 3 * narrowing.MOST_SCHEMAS  # that may still come
        self._text = vetting.LARGEST_TEXT  # characters that may still come

    def compact(self, node: Json, within: tuple[str, ...], depth: int = 0) -> Json:
        """One schema, `within` these definitions. Raises `SkillError`."""
        if reference := node.get("$ref"):
            target = str(reference).removeprefix("#/$defs/")
            if target in within:
                raise SkillError(f"its type {target} contains itself; a schema must be finite.")
            inner = self.compact(self._definitions[target], (*within, target), depth)
            beside = {key: value for key, value in node.items() if key not in ("$ref", "title", "default")}
            return inner | {key: self._counted(value) for key, value in beside.items()}
        self._count(depth)
        result: Json = {}
        for key, value in node.items():
            if key == "title" or (key == "default" and value in (None, "", [], {})):
                continue
            if key == "properties":
                result[key] = {name: self.compact(child, within, depth + 1) for name, child in value.items()}
            elif key in ("items", "additionalProperties") and isinstance(value, dict):
                result[key] = self.compact(value, within, depth + 1)
            elif key in ("anyOf", "prefixItems"):
                result[key] = [self.compact(child, within, depth + 1) for child in value]
            else:
                result[key] = self._counted(value)
        if node.get("type") == "object":
            result.setdefault("additionalProperties", False)
        return result

    def _count(self, depth: int) -> None:
        self._schemas -= 1
        if self._schemas < 0:
            raise _too_large(f"it holds more than {narrowing.MOST_SCHEMAS} schemas and values.")
        if depth > 2 * narrowing.DEEPEST:
            raise _too_large(f"it is nested deeper than {narrowing.DEEPEST} levels.")

    def _counted(self, value: object) -> object:
        """The value, if its text has room; in pieces, since a value may hold one and the same twice, too."""
        with suppress(TypeError, ValueError):  # what is no JSON is refused later, by its place
            for piece in json.JSONEncoder(ensure_ascii=False).iterencode(value):
                self._text -= len(piece)
                if self._text < 0:
                    raise _too_large(f"it has more than {vetting.LARGEST_TEXT} bytes.")
        return value


def _too_large(reason: str) -> SkillError:
    return SkillError(str(Refusal("", "its size", reason)))


def _without_null(node: Json) -> None:
    """An optional parameter can be left out, so the model need not be offered null as well."""
    kinds = [child for child in node.get("anyOf", ()) if child != {"type": "null"}]
    if len(kinds) == 1:
        del node["anyOf"]
        node.update(kinds[0] | node)


def _nodes(node: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    """Every schema inside a schema with its JSON pointer, innermost first."""
    for name, child in node.get("properties", {}).items():
        yield from _nodes(child, f"{pointer}/properties/{name}")
    for key in ("items", "additionalProperties"):
        if isinstance(node.get(key), dict):
            yield from _nodes(node[key], f"{pointer}/{key}")
    for key in ("anyOf", "prefixItems"):
        for number, child in enumerate(node.get(key, ())):
            yield from _nodes(child, f"{pointer}/{key}/{number}")
    yield pointer, node
