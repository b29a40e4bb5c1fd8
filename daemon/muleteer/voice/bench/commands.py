"""Orders and questions that people say aloud, with the tool call that each must end in.

Nothing is chosen or tuned by them: they measure. Knows the data files; nothing of sound or models.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from muleteer.catalogue.offering import OTHER
from muleteer.evaluate.batteries.shipped import Simulated, catalogue, result_of
from muleteer.evaluate.batteries.turns import Whole
from muleteer.skills import Catalogue
from muleteer.tool import Result

LANGUAGES = ("en", "de")


@dataclass(frozen=True, slots=True)
class House:
    """By language: names that are likely to be said, and those of what can be read. `results` are what its
    simulated tools return."""

    names: Mapping[str, Sequence[str]]
    readings: Mapping[str, Sequence[str]]
    results: Mapping[str, tuple[Result, ...]]


def house() -> House:
    data = json.loads(data_text("house.json"))
    results = {tool: (result_of(given),) for tool, given in data["results"].items()}
    return House(data["names"], data["readings"], results)


def commands(language: str) -> list[Whole]:
    """Those of one language, in a group of its name; what is said is the message."""
    results = house().results
    lines = map(json.loads, data_text("commands.jsonl").splitlines())
    return [_command(line, results) for line in lines if line["language"] == language]


def tools(language: str) -> tuple[Catalogue, Simulated]:
    """The shipped skills over simulated tools, of which the sensor offers the readings there are."""
    skills, toolbox = catalogue()
    sensor = toolbox.tools["sensor"]
    properties = sensor.parameters["properties"]
    named = properties["name"] | {"enum": [*house().readings[language], OTHER]}
    parameters = {**sensor.parameters, "properties": {**properties, "name": named}}
    toolbox.tools["sensor"] = replace(sensor, parameters=parameters)
    return skills, toolbox


def data_text(name: str) -> str:
    """A shipped data file."""
    return files(__package__).joinpath("data", name).read_text(encoding="utf-8")


def _command(line: Mapping[str, Any], results: Mapping[str, tuple[Result, ...]]) -> Whole:
    lists = {name: tuple(line.get(name, ())) for name in ("must", "must_any", "must_not")}
    arguments = tuple(line.get("arguments", {}).items())
    return Whole(line["id"], line["language"], line["say"], results, arguments=arguments, **lists)
