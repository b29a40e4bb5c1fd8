"""How people say in six languages that they did something, do it or can: patterns, one TOML file a language.

`own` has its speaker as the one who does it; `passive` is a claim only of `things` that a house has; `offers`
are of deeds that nobody does by talking; `contents` say what a text holds. In them `$done` stands for any of
`done`. Knows wordings, and nothing of what they are for.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de", "es", "fr", "it", "tr")


@dataclass(frozen=True, slots=True)
class Wording:
    """One language, as regular expressions to be used without regard to case."""

    own: str
    passive: str
    things: str
    offers: str
    contents: str


@cache
def wording(language: str) -> Wording:
    """The patterns of one of `LANGUAGES`."""
    lists = tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8"))
    done = "|".join(lists.pop("done", ()))
    return Wording(**{name: "|".join(each).replace("$done", done) for name, each in lists.items()})
