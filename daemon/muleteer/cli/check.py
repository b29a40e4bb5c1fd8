"""`muleteer skills check`: what is wrong with skills, installed or not.

With a daemon its model tells tokens and where examples lead; without one the rest is checked here, which
loads the tools into this process.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer import exits, paths
from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import safe
from muleteer.errors import SkillError, SocketError

if TYPE_CHECKING:
    from muleteer.skills import Catalogue, Skill

WAIT_SECONDS = 3600.0  # each example is one choice of the model, and everybody's turns go first
NOT_MEASURED = "Not measured: tokens, and where the examples lead"
Entry = dict[str, object]


@click.command()
@click.argument("which", nargs=-1, metavar="[NAME|PATH]...")
@click.option("--no-model", is_flag=True, help="Ask no daemon: check what can be told without its model.")
@json_option
@socket_option
def check(which: Sequence[str], no_model: bool, as_json: bool, socket: Path | None) -> None:
    """Check skills: their form, their handles, circles, tokens, and whether their examples lead to them.

    A name is looked up in the folders of skills, a path may be any folder with a SKILL.md; without either
    all skills are checked. Tokens and examples need a running daemon.

    \b
    Examples:
      muleteer skills check
      muleteer skills check ~/downloads/good-night

    Exit code 1: something is wrong.
    """
    found = check_folders([folder_of(each) for each in which] or _all(), socket, not no_model)
    if as_json:
        click.echo(safe(json.dumps(found, ensure_ascii=False, indent=2)))
    else:
        print_check(found)
    if any(each["problems"] for each in _entries(found)):
        sys.exit(exits.TURN_FAILED)


def check_folders(folders: Sequence[Path], socket: Path | None, model: bool = True) -> Entry:
    """`measured`, `reason` why not, and `skills` with name, path, problems and tokens each."""
    from muleteer.catalogue.skill_files import read_skill
    from muleteer.cli.client import Daemon, find_socket

    entries: dict[str, Entry] = {}
    sound: dict[str, Skill] = {}
    for folder in folders:
        entry: Entry = {"name": folder.name, "path": str(folder), "problems": [], "tokens": {}}
        entries[folder.name] = entry
        try:
            sound[folder.name] = read_skill(folder / "SKILL.md")
        except SkillError as error:
            entry["problems"] = [{"kind": "form", "text": str(error)}]
    answer: Entry = {"measured": False, "reason": "The model was not asked.", "skills": []}
    try:
        if model:
            texts = [{"name": name, "text": skill.path.read_text("utf-8")} for name, skill in sound.items()]
            request: Entry = {"skills": texts}
            answer = Daemon(find_socket(socket)).send("POST", "/v1/checks", request, WAIT_SECONDS)
        else:
            answer["skills"] = _alone(sound)
    except SocketError as error:
        answer |= {"reason": str(error), "skills": _alone(sound)}
    for each in _entries(answer):
        entries[str(each["name"])] |= {"problems": each["problems"], "tokens": each["tokens"]}
    return {"measured": answer["measured"], "reason": answer["reason"], "skills": list(entries.values())}


def print_check(found: Mapping[str, object]) -> None:
    """A line for each skill, and one below it for each problem."""
    for each in _entries(found):
        tokens, problems = each["tokens"], each["problems"]
        costs = (
            ", ".join(f"{level} {count}" for level, count in tokens.items())
            if isinstance(tokens, dict)
            else ""
        )
        state = "wrong" if problems else "sound"
        click.echo(safe(f"@{each['name']}: {state}{f' (tokens: {costs})' if costs else ''}"))
        for problem in problems if isinstance(problems, list) else []:
            click.echo(safe(f"  {problem['kind']}: {problem['text']}"))
    if not found["measured"]:
        click.echo(safe(f"{NOT_MEASURED}. {found['reason']}"), err=True)


def local_catalogue() -> Catalogue:
    """What a daemon would have loaded, gathered in this process."""
    from muleteer.catalogue.loading import Library
    from muleteer.skills import load_catalogue
    from muleteer.tool import Services
    from muleteer.toolbox import Toolbox

    toolbox = Toolbox(Services(), Library(paths.tool_folders(), packages=True).read())
    return load_catalogue(paths.skill_folders(), toolbox)


def _alone(sound: Mapping[str, Skill]) -> list[Entry]:
    """The check without a daemon, with the tools that one would have."""
    from muleteer.background.schedule import misread
    from muleteer.catalogue.lint import Problem, lint, together

    whole = together(local_catalogue(), sound)
    entries: list[Entry] = []
    for name, skill in sound.items():
        found = list(lint(skill, whole))
        if skill.schedule and (why := asyncio.run(misread(skill.schedule))):
            found.append(Problem("schedule", why))
        problems = [{"kind": one.kind, "text": one.text} for one in found]
        entries.append({"name": name, "problems": problems, "tokens": {}})
    return entries


def folder_of(given: str) -> Path:
    """The folder that a name or path means. Raises `click.UsageError`."""
    path = paths.expand(given)
    if path.name == "SKILL.md":
        path = path.parent
    if (path / "SKILL.md").is_file():
        return path
    name = given.removeprefix("@")
    for folder in reversed(paths.skill_folders()):
        if "/" not in name and (folder / name / "SKILL.md").is_file():
            return folder / name
    raise click.UsageError(
        f"There is no skill {given}: neither a folder with a SKILL.md nor one by that name."
    )


def _all() -> list[Path]:
    """Every skill on disk, those of later folders instead of earlier ones of their name."""
    found = {
        path.parent.name: path.parent
        for folder in paths.skill_folders()
        for path in sorted(folder.glob("*/SKILL.md"))
    }
    return [found[name] for name in sorted(found)]


def _entries(found: Mapping[str, object]) -> Iterable[Entry]:
    listed = found.get("skills")
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
