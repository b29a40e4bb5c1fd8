"""Vetting JSON schemas: what a decoder can hold a model to, or a refusal that says where and why.

A schema is narrowed (`narrowing.py`) and then shown to llguidance, which needs no tokenizer for that: the
daemon can vet a tool when it loads. Nothing is ignored. Knows nothing of models or tokens.
"""

from __future__ import annotations

import json
import time
from typing import Any

from llguidance import LLMatcher

from muleteer.engine import narrowing, objects, references, texts
from muleteer.engine.references import Refusal, Schema
from muleteer.errors import SkillError

# The JSON that models were trained on; with compact separators the 1.5B model lost minus signs. Escapes are
# few enough that a text has one spelling: by `\u` a name could be written that the schema has taken.
STYLE: Any = {  # llguidance has a type for this and does not export it
    "whitespace_flexible": False,
    "item_separator": ", ",
    "key_separator": ": ",
    "lenient": False,
    "coerce_one_of": False,
    "json_allowed_escapes": '"\\nrtbf',
}
LARGEST_TEXT = 256 * 1024  # bytes of JSON, far more than a model could be shown
BLAME = 1.0  # seconds to look for the keyword that is at fault; then the place found so far must do
MOST_PATTERNS = 12  # of one text; llguidance's time doubles with each, and 17 take 0.3 s
STRUCTURE = ("type", "properties", "items", "additionalProperties")  # blamed only when nothing else is


def vet(schema: object) -> Schema:
    """The schema as it is enforced, never looser than it says: objects closed, numbers bounded. Raises
    `SkillError` that names the JSON pointer and the keyword of what cannot be enforced."""
    plain = json.loads(text_of(schema))
    try:
        narrowed = narrowing.narrow(plain)
        if isinstance(narrowed, bool):
            raise Refusal("", "false", "no value satisfies it.")
        prepared = objects.close(narrowed)
        if references.count(prepared) > narrowing.MOST_SCHEMAS:
            raise Refusal("", "its size", "with its references put in place it is too large.")
        if endless := references.endless(prepared):
            raise Refusal(endless, "$ref", "it contains itself without an end.")
        _Meeting(prepared).check()
        until = time.monotonic() + BLAME
        if complaint := _complaint(prepared):
            raise _fault(prepared, complaint, until)
    except Refusal as refusal:
        raise SkillError(str(refusal)) from refusal
    except RecursionError as error:
        raise SkillError(str(Refusal("", "its size", "it is nested too deeply."))) from error
    return prepared


class _Meeting:
    """How many patterns one text has to match at once."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._known: dict[str, int] = {}

    def check(self) -> None:
        """Raise `Refusal` where there are too many."""
        for name, one in self._root.get("$defs", {}).items():
            self._check(one, name)
        self._check({key: value for key, value in self._root.items() if key != "$defs"}, "")

    def _check(self, schema: Schema | bool, pointer: str) -> None:
        if isinstance(schema, bool):
            return
        for path, inner in references.below(schema):
            self._check(inner, f"{pointer}/{path}")
        if (patterns := self._count(schema)) > MOST_PATTERNS:
            keyword = next(key for key in ("allOf", "$ref", "anyOf") if key in schema)
            raise Refusal(pointer, keyword, f"{patterns} patterns meet there; {MOST_PATTERNS} may.")

    def _count(self, schema: Schema | bool) -> int:
        if isinstance(schema, bool):
            return 0
        own = int(schema.get("pattern", texts.WRITABLE) != texts.WRITABLE)
        parts = sum(self._count(part) for part in schema.get("allOf", ()))
        either = max((self._count(part) for part in schema.get("anyOf", ())), default=0)
        return own + parts + either + (self._of(references.target_of(schema)) if "$ref" in schema else 0)

    def _of(self, name: str) -> int:
        if name not in self._known:
            self._known[name] = 0  # within itself it adds nothing
            self._known[name] = self._count(self._root["$defs"][name])
        return self._known[name]


def text_of(schema: object) -> str:
    """The schema as JSON. Raises `SkillError` for what JSON cannot hold, and by size."""
    try:
        text = json.dumps(schema, allow_nan=False, ensure_ascii=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise SkillError(str(Refusal("", "its text", f"it is not JSON ({reason})."))) from error
    except RecursionError as error:
        raise SkillError(str(Refusal("", "its size", "it is nested too deeply."))) from error
    if size > LARGEST_TEXT:
        raise SkillError(str(Refusal("", "its size", f"it has {size} bytes and may have {LARGEST_TEXT}.")))
    return text


def grammar(schema: Schema, lead: str = "") -> str:
    """llguidance's grammar of a vetted schema, for a text that is `lead` (white space) and then JSON."""
    if not lead:
        return LLMatcher.grammar_from_json_schema(json.dumps(schema), overrides=STYLE)
    text = json.dumps({**schema, "x-guidance": STYLE})
    return f"start: {json.dumps(lead)} json\njson: %json {text}"


def _complaint(schema: Schema) -> str:
    """What llguidance has against a schema; empty if nothing."""
    try:
        message: str = LLMatcher.validate_grammar(grammar(schema))
    except ValueError as error:  # what its JSON reader does not take: values nested deeper than 128
        message = str(error)
    return " ".join(message.split())


def _fault(root: Schema, complaint: str, until: float) -> Refusal:
    """Where the fault is: the innermost schema that fails by itself, and the keyword without which it would
    not. Best effort, since keywords can also fail together."""
    shared, pointer, schema = {"$defs": root.get("$defs", {})}, "", root
    while found := _failing(shared, schema, until):
        path, inner, complaint = found
        name = path.removeprefix("$defs/")
        pointer = f"{pointer}/{path}" if name == path else name.replace("~1", "/").replace("~0", "~")
        if isinstance(inner, bool):
            return Refusal(pointer, "false", complaint)
        schema = inner
    for key in sorted(schema, key=lambda key: key in STRUCTURE):
        rest = {k: v for k, v in schema.items() if k != key}
        if key != "$defs" and time.monotonic() < until and not _complaint({**shared, **rest}):
            return Refusal(pointer, key, complaint)
    return Refusal(pointer, "several keywords together", complaint)


def _failing(shared: Schema, schema: Schema, until: float) -> tuple[str, Schema | bool, str] | None:
    """The first schema directly in another that fails by itself: its path, itself, and why."""
    for path, inner in references.below(schema):
        if time.monotonic() > until:
            return None
        if inner is False:
            if path.startswith("properties/"):
                return path, inner, "no value satisfies it."
        elif complaint := _complaint({**shared, **inner}):
            return path, inner, complaint
    return None
