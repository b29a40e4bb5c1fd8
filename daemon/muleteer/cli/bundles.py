"""`muleteer skills export` and `import`: a skill as a zip or a folder, and one from elsewhere.

Nothing that comes from elsewhere is used before it was shown, checked and agreed to.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from muleteer import exits, paths
from muleteer.cli.check import NOT_MEASURED, check_folders, folder_of
from muleteer.cli.options import socket_option
from muleteer.cli.render import safe
from muleteer.errors import SkillError, SocketError

if TYPE_CHECKING:
    from muleteer.skills import Skill

Listing = Mapping[str, object]
RUNS = {
    "": "the model follows these steps",
    "all": "code calls each of the tools, with what the steps give them",
    "first": "code calls one tool after the other until one succeeds, with what the steps give them",
}
EFFECTS = {"read": "only looks", "write": "changes what is stored", "physical": "acts on real devices"}


@click.command("export")
@click.argument("name")
@click.argument("target", required=False, type=click.Path(path_type=Path), metavar="[FILE.zip|FOLDER]")
def export_skill(name: str, target: Path | None) -> None:
    """Write the skill NAME as a zip, or as a folder when the target does not end in .zip.

    The target is NAME.zip in the working folder unless one is given; nothing is overwritten.

    \b
    Example:
      muleteer skills export daily-brief /media/usb/daily-brief.zip
    """
    from muleteer.catalogue.bundles import pack, place, unpack

    folder = folder_of(name)
    target = target or Path(f"{folder.name}.zip")
    if target.suffix == ".zip":
        data = pack(folder)
        try:
            with target.open("xb") as file:
                file.write(data)
        except OSError as error:
            raise SkillError(f"{target} cannot be written: {error.strerror}.") from error
    else:
        place(unpack(folder)[1], paths.expand(target))
    click.echo(safe(f"Written: {target}"))


@click.command("import")
@click.argument("source", type=click.Path(path_type=Path), metavar="FILE.zip|FOLDER")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; a skill with problems is refused.")
@socket_option
def import_skill(source: Path, yes: bool, socket: Path | None) -> None:
    """Take in a skill from a zip or folder: show it, check it, ask, and only then put it among your own.

    Tools (.py) inside are never taken: read them, and put them into your folder of tools yourself.

    \b
    Example:
      muleteer skills import ~/downloads/good-night.zip
    """
    from muleteer.catalogue.bundles import place, unpack, without_code, write
    from muleteer.catalogue.skill_files import read_skill
    from muleteer.catalogue.unseen import revealed

    name, files = unpack(paths.expand(source))
    taken = without_code(files)
    target = paths.config_dir() / "skills" / name
    with tempfile.TemporaryDirectory(prefix="muleteer-") as scratch:
        folder = Path(scratch) / name
        folder.mkdir(mode=0o755)
        try:
            write(taken, folder)
        except OSError as error:
            raise SkillError(f"{source} holds names that exclude each other ({error}).") from error
        found = check_folders([folder], socket)
        lines, problems = list(_files(files, taken)), list(_problems(found))
        carried = ""
        if not any(kind == "form" for kind, _ in problems):
            skill = read_skill(folder / "SKILL.md")
            carried = RUNS[skill.run]
            lines = [*_about(skill, socket), *lines, "", skill.steps, ""]
    lines += [f"problem: {text}" for _, text in problems]
    if not found["measured"]:
        lines.append(f"{NOT_MEASURED}. {found['reason']}")
    click.echo(safe(revealed("\n".join(lines)).replace(scratch + "/", "")))
    if any(kind == "form" for kind, _ in problems) or (yes and problems):
        click.echo("Not taken in: it has problems.", err=True)
        sys.exit(exits.TURN_FAILED)
    if not yes:
        click.confirm(f"Put it into {target}, where {carried}?", abort=True, err=True)
    place(taken, target)
    click.echo(safe(f"Written: {target}"))


def _about(skill: Skill, socket: Path | None) -> Iterator[str]:
    """What the skill is for, what it reaches, and when it runs by itself."""
    yield f"@{skill.name}: {skill.description}"
    replaced = [folder for folder in paths.skill_folders() if (folder / skill.name).exists()]
    if replaced:
        yield f"replaces: {replaced[-1] / skill.name}"
    yield f"mentions: {', '.join('@' + handle for handle in skill.mentions) or 'nothing'}"
    tools, skills = _listings(socket)
    for name, effect in sorted(_reached(skill.mentions, tools, skills).items()):
        yield f"reaches: {name}, which {EFFECTS.get(effect, 'is not here')}"
    yield from (f"example: {each}" for each in skill.examples)
    yield f"carried out: {RUNS[skill.run]}"
    yield f"budget: {f'{skill.budget:,} tokens' if skill.budget else 'as every turn'}"
    yield f"schedule: {skill.schedule or 'none; it runs only when it is asked for'}"


def _files(files: Mapping[str, bytes], taken: Mapping[str, bytes]) -> Iterator[str]:
    for name, data in files.items():
        yield f"file: {name}, {len(data):,} bytes" + ("" if name in taken else " (code: left behind)")


def _problems(found: Listing) -> Iterator[tuple[str, str]]:
    for each in _rows(found, "skills"):
        problems = each["problems"]
        for problem in problems if isinstance(problems, list) else []:
            yield str(problem["kind"]), str(problem["text"])


def _reached(handles: Sequence[str], tools: Listing, skills: Listing) -> dict[str, str]:
    """The effect by tool of all that handles lead to; empty for a handle that is not there."""
    effects = {str(each["name"]): str(each.get("effect", "")) for each in _rows(tools, "tools")}
    through = {str(each["name"]): each.get("tools") for each in _rows(skills, "skills")}
    reached: dict[str, str] = {}
    for handle in handles:
        further = through.get(handle)
        names = further if isinstance(further, list) else [handle.replace("-", "_")]
        reached |= {str(name): effects.get(str(name), "") for name in names}
    return reached


def _listings(socket: Path | None) -> tuple[Listing, Listing]:
    """The tools and skills that there are, from the daemon or, without one, from their folders."""
    from muleteer.cli.client import Daemon, find_socket

    daemon = Daemon(find_socket(socket))
    try:
        return daemon.get("/v1/tools"), daemon.get("/v1/skills")
    except SocketError:
        from muleteer.cli.check import local_catalogue
        from muleteer.gateway.listings import list_skills, list_tools

        catalogue = local_catalogue()
        return list_tools(catalogue), list_skills(catalogue)


def _rows(listing: Listing, kind: str) -> list[dict[str, object]]:
    listed = listing.get(kind)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []
