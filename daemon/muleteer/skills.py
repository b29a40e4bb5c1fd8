"""Skills on disk, and the one @-namespace that skills and tools share.

Knows SKILL.md and what mentions what; knows nothing of models or turns. One bad skill disables itself
alone, by name and with the reason.
"""

from __future__ import annotations

import difflib
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from muleteer.errors import SkillError
from muleteer.given import given_arguments
from muleteer.toolbox import RESERVED, Tool, Toolbox, handle_of
from muleteer.trust import check_folder, read_trusted

log = logging.getLogger(__name__)

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FILE_LIMIT = 32_768  # bytes; several times what fits a prompt, and little enough to parse at once
NAME_LIMIT = 64  # characters, as in the SKILL.md convention; a handle is written in plans
DESCRIPTION_LIMIT = 600  # characters; about 150 tokens of the planner's prompt
EXAMPLE_LIMIT = 120  # characters; a message as a user would say it
SCHEDULE_LIMIT = 120  # characters; longer than any OnCalendar expression of use
KEYS = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
METADATA_KEYS = ("examples", "schedule", "budget", "run", "author", "version")
RUNS = ("all", "first")
# No prompt, log or client can show these; half a surrogate pair cannot even be sent to them.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
LINE_BREAK = re.compile(r"[\t\n\u2028\u2029]")
FENCED = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.DOTALL | re.MULTILINE)
CODE_SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)", re.DOTALL)
# Not after a word (an e-mail address), and not a domain or a path.
MENTION = re.compile(r"(?<![\w.@/+-])@([A-Za-z0-9](?:[\w-]*\w)?)(?![\w/]|\.\w)")


@dataclass(frozen=True, slots=True)
class Skill:
    """One SKILL.md. `name` is its handle; `mentions` the handles its steps name, in order; `schedule` a
    systemd OnCalendar expression or empty; `budget` in tokens of one turn, or None for the default. With
    `run` code carries the steps out: each tool once (`all`), or one after the other until one succeeds
    (`first`); `given` are the arguments that the steps give, by handle."""

    name: str
    description: str
    steps: str
    examples: tuple[str, ...]
    mentions: tuple[str, ...]
    schedule: str
    budget: int | None
    path: Path
    run: str = ""
    given: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MenuLine:
    """What the planner reads of one handle (without the @)."""

    handle: str
    description: str
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Everything that has a handle. `disabled` holds the reason by skill name or folder; the tools' own
    reasons are in the toolbox."""

    skills: dict[str, Skill]
    toolbox: Toolbox
    disabled: dict[str, str] = field(default_factory=dict)

    @property
    def handles(self) -> frozenset[str]:
        """Every handle that may be mentioned or chosen."""
        return frozenset(self.skills) | {tool.handle for tool in self.toolbox.tools.values()}

    def skill(self, handle: str) -> Skill | None:
        return self.skills.get(handle)

    def tool(self, handle: str) -> Tool | None:
        tool = self.toolbox.tools.get(handle.replace("-", "_"))
        return tool if tool is not None and tool.handle == handle else None

    def disable(self, handle: str, reason: str) -> None:
        """Take a skill or a tool out of use, and every skill that leads to nothing without it."""
        if tool := self.tool(handle):
            self.toolbox.disable(tool.name, reason)
        elif skill := self.skills.pop(handle, None):
            log.warning("Disabled: %s", reason)
            self.disabled[skill.name] = reason
        _disable_barren(self)

    def menu(self) -> tuple[MenuLine, ...]:
        """The planner's lines: skills by name, then tools that have a line of their own, by name."""
        tools = sorted(self.toolbox.tools.values(), key=lambda tool: tool.handle)
        return (
            *(MenuLine(s.name, s.description, s.examples) for _, s in sorted(self.skills.items())),
            *(MenuLine(t.handle, t.description, t.examples) for t in tools if t.menu and not t.hidden),
        )

    def expand(self, handles: Iterable[str]) -> tuple[Tool, ...]:
        """The tools these handles lead to, in the order of their first mention. Skills may mention each other
        in circles. A handle that is not there leads nowhere."""
        found: dict[str, Tool] = {}
        visited: set[str] = set()

        def walk(handle: str) -> None:
            if handle in visited:
                return
            visited.add(handle)
            if skill := self.skill(handle):
                for mention in skill.mentions:
                    walk(mention)
            elif tool := self.tool(handle):
                found[handle] = tool

        for handle in handles:
            walk(handle)
        return tuple(found.values())


def load_catalogue(folders: Sequence[Path], toolbox: Toolbox) -> Catalogue:
    """Load every `<folder>/<name>/SKILL.md`; later folders override earlier ones by name. Folders that do not
    exist are skipped."""
    skills: dict[str, Skill] = {}
    disabled: dict[str, str] = {}
    for folder in folders:
        for path in _bundles(folder, disabled):
            name = path.parent.name
            skills.pop(name, None)
            disabled.pop(name, None)
            try:
                skills[name] = read_skill(path)
            except SkillError as error:
                disabled[name] = str(error)
    _check_names(skills, toolbox, disabled)
    _check_mentions(skills, toolbox, disabled)
    disabled = {_plain(name): _plain(reason) for name, reason in disabled.items()}
    for reason in disabled.values():
        log.warning("Disabled: %s", reason)
    catalogue = Catalogue(skills, toolbox, disabled)
    _disable_barren(catalogue)
    return catalogue


def read_skill(path: Path) -> Skill:
    """Read and check one SKILL.md, apart from whether what it mentions exists. Raises `SkillError`."""
    check_folder(path.parent)
    try:
        text = read_trusted(path, FILE_LIMIT).decode()
    except UnicodeDecodeError as error:
        raise SkillError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    front, steps = _split(path, text.replace("\r\n", "\n"))
    try:
        return _build(path, front, steps)
    except SkillError as error:
        raise SkillError(f"{path}: {error}") from error


def mentions(steps: str) -> tuple[str, ...]:
    """Handles in Markdown text, in order, each once; code and e-mail addresses do not count."""
    plain = CODE_SPAN.sub(" ", FENCED.sub("\n", steps))
    return tuple(dict.fromkeys(match[1] for match in MENTION.finditer(plain)))


def _bundles(folder: Path, disabled: dict[str, str]) -> Iterator[Path]:
    if not folder.is_dir():
        return
    try:
        check_folder(folder)
    except SkillError as error:
        disabled[str(folder)] = str(error)
        return
    yield from sorted(path for path in folder.glob("*/SKILL.md"))


def _split(path: Path, text: str) -> tuple[dict[str, Any], str]:
    match = re.match(r"\ufeff?---[ \t]*\n(.*?)^---[ \t]*(?:\n|\Z)(.*)\Z", text, re.DOTALL | re.MULTILINE)
    if match is None:
        raise SkillError(f"{path} must begin with a line '---', YAML with name and description, and '---'.")
    try:
        front = yaml.safe_load(match[1])
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SkillError(f"{path} has no valid YAML at its top: {' '.join(str(error).split())}") from error
    if not isinstance(front, dict):
        raise SkillError(f"{path} has no 'name: ...' and 'description: ...' at its top.")
    return front, match[2].strip()


def _build(path: Path, front: dict[str, Any], steps: str) -> Skill:
    _known(front, KEYS, "")
    metadata = front.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise SkillError("metadata must hold keys such as examples.")
    _known(metadata, METADATA_KEYS, "metadata.")
    name = _line(front.get("name"), "name", NAME_LIMIT)
    if not NAME.fullmatch(name) or name in map(handle_of, RESERVED):
        raise SkillError(
            f"'{name}' cannot be a skill's name; use a-z, 0-9 and '-', and none of Muleteer's own words."
        )
    if name != path.parent.name:
        raise SkillError(f"name is '{name}' but the folder is '{path.parent.name}'; make them equal.")
    examples = metadata.get("examples") or []
    if not isinstance(examples, list):
        raise SkillError("metadata.examples must be a list of sentences.")
    budget = metadata.get("budget")
    if budget is not None and (isinstance(budget, bool) or not isinstance(budget, int) or budget < 1):
        raise SkillError("metadata.budget must be a whole number of tokens.")
    if (run := metadata.get("run", "")) not in ("", *RUNS):
        raise SkillError(f"metadata.run must be one of {', '.join(RUNS)}.")
    if not steps:
        raise SkillError("there are no steps after the YAML.")
    _printable(steps, "the text after the YAML")
    return Skill(
        name=name,
        description=_line(front.get("description"), "description", DESCRIPTION_LIMIT),
        steps=steps,
        examples=tuple(_line(example, "metadata.examples", EXAMPLE_LIMIT) for example in examples),
        mentions=mentions(steps),
        schedule=_line(metadata["schedule"], "metadata.schedule", SCHEDULE_LIMIT)
        if "schedule" in metadata
        else "",
        budget=budget,
        path=path,
        run=run,
        given=given_arguments(steps),
    )


def _known(given: Mapping[Any, Any], known: Sequence[str], prefix: str) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1) or known
            raise SkillError(
                f"unknown key {prefix + str(key)[:NAME_LIMIT]!r}; did you mean {', '.join(near)}?"
            )


def _line(value: object, key: str, limit: int) -> str:
    if not isinstance(value, str) or not (text := value.strip()) or LINE_BREAK.search(text):
        raise SkillError(f"{key} must be text on one line.")
    if len(text) > limit:
        raise SkillError(f"{key} has {len(text):,} characters; at most {limit} fit. Make it shorter.")
    return _printable(text, key)


def _printable(text: str, key: str) -> str:
    if wrong := UNPRINTABLE.search(text):
        raise SkillError(f"{key} has the character {wrong[0]!r}, which cannot be shown; remove it.")
    return text


def _plain(text: str) -> str:
    """With what is not Unicode escaped, as in a folder's name of other bytes."""
    return text.encode("utf-8", "backslashreplace").decode()


def _check_names(skills: dict[str, Skill], toolbox: Toolbox, disabled: dict[str, str]) -> None:
    for tool in toolbox.tools.values():
        if skill := skills.pop(tool.handle, None):
            disabled[skill.name] = (
                f"@{skill.name} is both the skill {skill.path} and the tool {tool.name} "
                f"({tool.path or 'built in'}); rename one of them."
            )


def _check_mentions(skills: dict[str, Skill], toolbox: Toolbox, disabled: dict[str, str]) -> None:
    """What a skill mentions must exist, enabled or not."""
    tools = [handle_of(name) for name in (*toolbox.tools, *toolbox.disabled)]
    known = {*skills, *disabled, *tools}
    for name, skill in list(skills.items()):
        unknown = [f"@{handle}{_near(handle, known)}" for handle in skill.mentions if handle not in known]
        if unknown:
            disabled[name] = f"{skill.path} mentions what does not exist: {', '.join(unknown)}."
            del skills[name]


def _disable_barren(catalogue: Catalogue) -> None:
    """Disable skills that lead to no tool; losing one may leave another with nothing, hence the loop."""
    skills = catalogue.skills
    while lost := [skill for skill in skills.values() if not catalogue.expand([skill.name])]:
        for skill in lost:
            reason = f"{skill.path} leads to no usable tool; its steps must mention at least one @tool."
            log.warning("Disabled: %s", reason)
            catalogue.disabled[skill.name] = reason
            del skills[skill.name]


def _near(handle: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(handle.lower().replace("_", "-"), sorted(known), n=3)
    return f" (near: {', '.join('@' + name for name in near)})" if near else ""
