"""Whether arguments are valid under a tool's JSON schema, and what is wrong with them in a few words.

`jsonschema` compares; schemas that refer elsewhere are never fetched.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

FAULTS = 3  # that are told at once; a small model mends one or two
LONGEST = 160  # characters of one


def wrong_with(arguments: Mapping[str, object], schema: Mapping[str, object]) -> str:
    """Empty where they are valid."""
    from jsonschema.exceptions import best_match  # a tenth of a second, which only free brains cost

    errors = sorted(
        _validator()(schema).iter_errors(dict(arguments)), key=lambda error: list(map(str, error.path))
    )
    told = [_told(best_match([error]) or error) for error in errors[:FAULTS]]
    return "; ".join(dict.fromkeys(told))


@cache
def _validator() -> Any:
    """Patterns are left out: Python's expressions can take for ever on some texts, and hold up all else. The
    tool's own types, or its server, look at them when it is called."""
    from jsonschema import Draft202012Validator
    from jsonschema.validators import extend
    from referencing import Registry

    limited = extend(Draft202012Validator, {"pattern": None, "patternProperties": None})
    return lambda schema: limited(schema, registry=Registry())


def _told(error: Any) -> str:
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    what = " ".join(str(error.message).split())[:LONGEST]
    return f"{where.lstrip('.')}: {what}" if where else what
