"""What was set, as sources of pydantic-settings, which merges them: the first source that has a key wins.

Knows what a value looks like in each kind of place. Reads nothing, `layers` did; and gets only known keys,
`mistakes` has sorted out the others. Own sources instead of the library's, since theirs keep no origin,
pass over variables that set nothing, and lose the line where a file is wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, ClassVar, Literal, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

from muleteer import paths
from muleteer.settings.layers import Given

PLACES = (Path, tuple[Path, ...])
NUMBERS: dict[object, Callable[[str], object]] = {int: int, float: float}


def fields_of(settings: type[BaseModel]) -> dict[str, FieldInfo]:
    """Every settable key, dotted, in the order of the class."""
    keys: dict[str, FieldInfo] = {}
    for name, field in settings.model_fields.items():
        section = field.annotation
        if isinstance(section, type) and issubclass(section, BaseModel):
            keys |= {f"{name}.{key}": inner for key, inner in section.model_fields.items()}
        else:
            keys[name] = field
    return keys


class GivenSource(PydanticBaseSettingsSource):
    """Those of `given` that come from one kind of place; of two values for a key the later one counts."""

    kind: ClassVar[Literal["file", "variable", "option"]]

    def __init__(self, settings_cls: type[BaseSettings], given: Iterable[Given]) -> None:
        super().__init__(settings_cls)
        self._given = {each.key: each for each in given if each.kind == self.kind}

    def __call__(self) -> dict[str, Any]:
        """The values as the nested tables that the settings class is validated from."""
        known = fields_of(self.settings_cls)
        tables: dict[str, Any] = {}
        for key, each in self._given.items():
            section, _, name = key.rpartition(".")
            table = tables.setdefault(section, {}) if section else tables
            table[name] = self._valued(each, known[key])
        return tables

    def _valued(self, given: Given, field: FieldInfo) -> object:
        value = given.value
        if isinstance(value, list):
            return [self.typed(each, given, field) if isinstance(each, str) else each for each in value]
        return self.typed(value, given, field) if isinstance(value, str) and value else value

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """One field of the top level; the library wants it of every source."""
        return self().get(field_name), field_name, False

    def typed(self, text: str, given: Given, field: FieldInfo) -> object:
        """What `text` means to `field`; itself where it means nothing, for validation to complain of."""
        return paths.expand(text) if field.annotation in PLACES else text


class FileSource(GivenSource):
    """The settings files; a path is meant from the folder of its file."""

    kind = "file"

    def typed(self, text: str, given: Given, field: FieldInfo) -> object:
        return paths.expand(text, Path(given.origin).parent) if field.annotation in PLACES else text


class EnvironmentSource(GivenSource):
    """The environment, where every value is text; those of a list are separated by colons."""

    kind = "variable"

    def typed(self, text: str, given: Given, field: FieldInfo) -> object:
        if get_origin(field.annotation) is tuple:
            return [
                super(EnvironmentSource, self).typed(each, given, field) for each in text.split(":") if each
            ]
        number = NUMBERS.get(field.annotation)
        if number is None:
            return super().typed(text, given, field)
        try:
            return number(text)
        except ValueError:
            return text


class OptionSource(GivenSource):
    """The options of the command line."""

    kind = "option"
