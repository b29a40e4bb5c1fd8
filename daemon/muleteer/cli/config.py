"""`muleteer config`: which settings are in force, where each comes from, which files are read."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import click

from muleteer import paths
from muleteer.cli.options import config_option, json_option
from muleteer.cli.render import safe
from muleteer.settings import layers


@click.group()
def config() -> None:
    """Show which settings are in force, and from where.

    \b
    Example:
      muleteer config show
    """


@config.command()
@config_option
@json_option
def show(file: Path | None, as_json: bool) -> None:
    """Print every setting as TOML, each with where it comes from and what it means.

    The output is itself a settings file.

    \b
    Example:
      MULETEER_ENGINE__CONTEXT=8192 muleteer config show
    """
    from muleteer.config import sources

    found = sources(file)
    if as_json:
        rows = [
            {"key": each.key, "value": each.value, "from": each.origin, "description": each.description}
            for each in found
        ]
        click.echo(safe(json.dumps({"settings": rows}, ensure_ascii=False, indent=2, default=str)))
        return
    section = ""
    for each in found:
        table, _, name = each.key.rpartition(".")
        if table != section:
            click.echo(f"\n[{table}]")
            section = table
        line = f"# {name} is not set" if each.value is None else f"{name} = {_toml(name, each.value)}"
        click.echo(safe(f"# {each.description}\n{line}  # from: {each.origin}"))


@config.command()
@config_option
def path(file: Path | None) -> None:
    """Print the settings files in reading order; later ones override.

    \b
    Example:
      muleteer config path
    """
    named = file or os.environ.get(layers.CONFIG_VARIABLE)
    for each in (paths.expand(named),) if named else paths.config_files():
        click.echo(safe(f"{each}{'' if each.exists() else '  (not there)'}"))


def _toml(name: str, value: object) -> str:
    """A value as TOML; named entries become inline tables."""
    match value:
        case bool():
            return str(value).lower()
        case int() if name == "socket_mode":
            return f"0o{value:o}"
        case int() | float():
            return str(value)
        case tuple() | list():
            return f"[{', '.join(_toml('', each) for each in value)}]"
        case dict():
            pairs = ", ".join(f"{_key(key)} = {_toml(key, each)}" for key, each in value.items())
            return f"{{{pairs}}}"
    if dump := getattr(value, "model_dump", None):
        return _toml("", dump(exclude_none=True))
    return json.dumps(str(value), ensure_ascii=False)  # TOML's basic strings escape as JSON's do


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else json.dumps(name, ensure_ascii=False)
