"""The Berkeley Function Calling Leaderboard's cases and its own checker, read from the package `bfcl-eval`.

That package is data and Apache-2.0 code, with dependencies that nothing here needs: it is installed without
them (`INSTALL`), and of its code only the checker is loaded. Knows the format; no engine.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

from muleteer.engine.protocol import Message, ToolSpec
from muleteer.errors import ConfigError

CATEGORIES = ("multiple", "live_multiple", "simple_python", "live_simple", "irrelevance")
UNANSWERED = "irrelevance"
"""The category whose every case is right when nothing is called."""
INSTALL = "pip install --no-deps bfcl-eval"

# The format's names of types that JSON Schema has others for (from the package's own table).
TYPES = {
    **dict.fromkeys(("dict", "HashMap", "Hashtable"), "object"),
    **dict.fromkeys(("float", "double"), "number"),
    **dict.fromkeys(("list", "tuple", "Array", "ArrayList", "Queue", "Stack"), "array"),
    **dict.fromkeys(("any", "Any", "String", "char"), "string"),
    **dict.fromkeys(("byte", "short", "long", "Bigint"), "integer"),
    "bool": "boolean",
}
LEFT_OUT = ("optional",)  # keys of a parameter that no schema has

Call = tuple[str, Mapping[str, object]]


@dataclass(frozen=True, slots=True)
class Question:
    """One case: what is said, the functions that are offered in the format's own words, and what the checker
    accepts (empty where nothing shall be called)."""

    id: str
    category: str
    messages: tuple[Message, ...]
    functions: tuple[Mapping[str, Any], ...]
    accepted: tuple[Mapping[str, Any], ...]

    @property
    def tools(self) -> list[ToolSpec]:
        return [tool_of(function) for function in self.functions]


def folder() -> Path:
    """Where the package's data lie. Raises `ConfigError` when it is not installed."""
    found = importlib.util.find_spec("bfcl_eval")
    if found is None or not found.submodule_search_locations:
        raise ConfigError(f"The data of BFCL are not installed: run `{INSTALL}`.")
    return Path(found.submodule_search_locations[0]) / "data"


def read(category: str, data: Path) -> list[Question]:
    """Every case of a category. Raises `ConfigError` for files that are missing or of another form."""
    name = f"BFCL_v4_{category}.json"
    try:
        cases = _lines(data / name)
        answers = {} if category == UNANSWERED else _by_id(_lines(data / "possible_answer" / name))
        return [_question(case, category, answers) for case in cases]
    except OSError as error:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}.") from error
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise ConfigError(f"{data / name} has a line that is no case of BFCL: {error!r}.") from error


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]


def _by_id(answers: Sequence[Mapping[str, Any]]) -> dict[str, tuple[Mapping[str, Any], ...]]:
    return {answer["id"]: tuple(answer["ground_truth"]) for answer in answers}


def _question(
    case: Mapping[str, Any], category: str, answers: Mapping[str, tuple[Mapping[str, Any], ...]]
) -> Question:
    messages = tuple(Message(said["role"], said["content"]) for said in case["question"][0])
    accepted = () if category == UNANSWERED else answers[case["id"]]
    return Question(case["id"], category, messages, tuple(case["function"]), accepted)


def tool_of(function: Mapping[str, Any]) -> ToolSpec:
    """A function of the format as a tool with a JSON schema."""
    return ToolSpec(function["name"], function["description"], _schema(function["parameters"]))


def _schema(given: Mapping[str, Any]) -> dict[str, Any]:
    """A parameter's description with JSON Schema's types; an object that names no properties takes any."""
    schema = {key: value for key, value in given.items() if key not in LEFT_OUT}
    kind = schema.get("type")
    if isinstance(kind, str):
        schema["type"] = TYPES.get(kind, kind)
    if isinstance(schema.get("properties"), dict):
        schema["properties"] = {name: _schema(inner) for name, inner in schema["properties"].items()}
    elif schema.get("type") == "object":
        schema["additionalProperties"] = True
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            schema[key] = _schema(schema[key])
    return schema


def complaint(question: Question, calls: Sequence[Call]) -> str:
    """Why these calls are wrong, by the package's own checker; empty when they are right."""
    if question.category == UNANSWERED:
        return f"{calls[0][0]} was called" if calls else ""
    if not calls:
        return "nothing was called"
    checker, python = _checker()
    written = [{name: json.loads(json.dumps(arguments))} for name, arguments in calls]
    found = checker.ast_checker(
        list(question.functions), written, list(question.accepted), python, question.category, "muleteer"
    )
    return "" if found["valid"] else " ".join(map(str, found["error"])) or str(found["error_type"])


def _checker() -> tuple[Any, Any]:
    """The package's checker, and its word for Python. It asks a table of every model in the world whether one
    writes dots in names; that table imports as many clients, so a short one stands in for it."""
    table = "bfcl_eval.constants.model_config"
    if table not in sys.modules:
        stand_in = ModuleType(table)
        stand_in.__dict__["MODEL_CONFIG_MAPPING"] = {"muleteer": SimpleNamespace(underscore_to_dot=False)}
        sys.modules[table] = stand_in
    try:
        checker = importlib.import_module("bfcl_eval.eval_checker.ast_eval.ast_checker")
        return checker, importlib.import_module("bfcl_eval.constants.enums").Language.PYTHON
    except ImportError as error:
        raise ConfigError(f"BFCL's checker cannot be loaded ({error}): run `{INSTALL}`.") from error
