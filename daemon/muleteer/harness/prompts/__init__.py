"""Every word the model reads that is not a skill, a tool or the user's. One text file a prompt.

The files are `string.Template` texts. What is constant between turns comes first in a prompt, so that its
tokens stay decoded; nothing volatile (time, device state, notes) may be put into a system text.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from string import Template


@cache
def _template(name: str) -> Template:
    return Template(files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").strip())


def source(name: str) -> str:
    """The prompt `name` with its gaps."""
    return _template(name).template


def render(name: str, **values: str) -> str:
    """The prompt `name` with its `$placeholders` filled; raises `KeyError` if one is missing."""
    return _template(name).substitute(values)


@cache
def lines_of(name: str) -> tuple[str, ...]:
    """The lines of a file that is a list, and no template."""
    text = files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line.strip())
