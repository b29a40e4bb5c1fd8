"""The sentences about settings that are wrong: where, which key, what was given, what is wanted.

Knows how a key's limits are declared (pydantic's fields). Does not know which keys exist.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, get_args, get_origin

from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from muleteer.settings import layers
from muleteer.settings.layers import Given

LONGEST_SHOWN = 80  # characters of a wrong value that its sentence repeats


def unknown(given: Given, known: Mapping[str, FieldInfo]) -> str | None:
    """The sentence about a key that does not exist, with the nearest one that does."""
    key = given.key
    if given.kind == "variable":
        right = _nearest_variable(given, known)
        wrong = f"unknown environment variable {given.origin}; the nearest known one is {right}"
        return None if given.origin == right else wrong
    if key in known:
        return None
    if key in sections(known):
        wrong = f"{given.origin}: {key} is a section; write its keys under [{key}]"
        return None if given.value == {} else wrong
    return f"{given.origin}: unknown key {key}; the nearest known one is {_nearest(key, known)}"


def _nearest(key: str, known: Mapping[str, FieldInfo]) -> str:
    """The same name in another section, else the most similar key."""
    return _namesake(key, known) or get_close_matches(key, known, n=1, cutoff=0.0)[0]


def _nearest_variable(given: Given, known: Mapping[str, FieldInfo]) -> str:
    namesake = given.key if given.key in known else _namesake(given.key, known)
    if namesake:
        return layers.variable_of(namesake)
    variables = [*(layers.variable_of(key) for key in known), layers.CONFIG_VARIABLE]
    return get_close_matches(given.origin, variables, n=1, cutoff=0.0)[0]


def _namesake(key: str, known: Mapping[str, FieldInfo]) -> str | None:
    name = key.rpartition(".")[2]
    return next((each for each in known if each.rpartition(".")[2] == name), None)


def sections(known: Mapping[str, FieldInfo]) -> dict[str, None]:
    """The names of the tables that the keys are in."""
    return dict.fromkeys(key.partition(".")[0] for key in known if "." in key)


def wrong_value(error: ErrorDetails, in_force: Mapping[str, Given], known: Mapping[str, FieldInfo]) -> str:
    """One validation error: where, which key, what is wanted, what was given."""
    place = [str(part) for part in error["loc"]]
    key = next(k for n in range(len(place), 0, -1) if (k := ".".join(place[:n])) in known)
    inner = place[key.count(".") + 1 :]  # within a list, or a table of entries that have names
    given = in_force.get(key)
    value = error["input"] if inner or not given else given.value
    complaint = error.get("ctx", {}).get("error") or (
        _within(error) if inner else f"must be {_wanted(key, known[key])}"
    )
    where = ".".join((key, *inner))
    said = "" if error["type"] in ("missing", "extra_forbidden") else f", not {_shown(value)}"
    return f"{given.origin if given else 'default'}: {where} {complaint}{said}"


def _within(error: ErrorDetails) -> str:
    """What pydantic says about a value that is not a setting of its own."""
    match error["type"]:
        case "missing":
            return "is missing"
        case "extra_forbidden":
            return "is no key of that table"
        case "path_type":
            return "must be the path of a file or folder"
        case _:
            return error["msg"].replace("Input should be", "must be").removesuffix(".")


def _wanted(key: str, field: FieldInfo) -> str:
    if key == "gateway.socket_mode":
        return "0o600 or 0o660"
    if field.annotation is bool:
        return "true or false"
    if get_origin(field.annotation) is Literal:
        return "one of " + ", ".join(get_args(field.annotation))
    bounds = {
        name: getattr(each, name) for each in field.metadata for name in ("ge", "le") if hasattr(each, name)
    }
    if get_origin(field.annotation) in (dict, list, tuple):
        return "a table" if get_origin(field.annotation) is dict else "a list"
    if bounds:
        kind = "whole number" if field.annotation is int else "number"
        return f"a {kind} from {bounds['ge']} to {bounds['le']}"
    return "the path of a file or folder" if field.annotation is Path else "text of at least one character"


def _shown(value: object) -> str:
    """A value as a user would have written it, cut to a length that a sentence can carry."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "..."


def joined(problems: Sequence[str]) -> str:
    """One problem is one sentence; several are a list."""
    if len(problems) == 1:
        return problems[0] + "."
    return "\n- ".join([f"The settings have {len(problems)} mistakes:", *problems])
