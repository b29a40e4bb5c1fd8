"""SKILL.md files: reading one, what it mentions, and all of them from their folders.

Knows the file's form and limits; not which handles exist. One bad skill disables itself alone, by name and
with the reason. A file that is read again and got worse keeps the last version that was good.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from muleteer.catalogue.declared import RESERVED, handle_of
from muleteer.catalogue.given import given_arguments
from muleteer.catalogue.shelf import Shelf
from muleteer.catalogue.trust import check_folder, read_trusted
from muleteer.catalogue.unseen import UNSEEN
from muleteer.errors import SkillError
from muleteer.paths import origin_of

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
FILE_LIMIT = 32_768  # bytes; several times what fits a prompt, and little enough to parse at once
NAME_LIMIT = 64  # characters, as in the SKILL.md convention; a handle is written in plans
DESCRIPTION_LIMIT = 600  # characters; about 150 tokens of the planner's prompt
EXAMPLE_LIMIT = 120  # characters; a message as a user would say it
SCHEDULE_LIMIT = 120  # characters; longer than any OnCalendar expression of use
KEYS = ("name", "description", "license", "compatibility", "allowed-tools", "metadata")
METADATA_KEYS = ("examples", "schedule", "budget", "run", "private", "author", "version")
RUNS = ("all", "first")
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
    (`first`); `given` are the arguments that the steps give, by handle. What is `private` never leaves the
    device: neither the skill nor what it returns is shown to a brain elsewhere."""

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
    private: bool = False


def read_skill(path: Path) -> Skill:
    """Read and check one SKILL.md, apart from whether what it mentions exists. Raises `SkillError`."""
    check_folder(path.parent)
    try:
        text = read_trusted(path, FILE_LIMIT).decode()
    except UnicodeDecodeError as error:
        raise SkillError(f"{path} is not UTF-8 text (byte {error.start}); save it as UTF-8.") from error
    return parse_skill(path, text)


def parse_skill(path: Path, text: str) -> Skill:
    """The skill that the text of a SKILL.md is; `path` gives its folder's name. Raises `SkillError`."""
    front, steps = _split(path, text.replace("\r\n", "\n"))
    try:
        return _build(path, front, steps)
    except SkillError as error:
        raise SkillError(f"{path}: {error}") from error


def mentions(steps: str) -> tuple[str, ...]:
    """Handles in Markdown text, in order, each once; code and e-mail addresses do not count."""
    return tuple(dict.fromkeys(match[1] for match in MENTION.finditer(_prose(steps))))


def following(skill: Skill, names: Mapping[str, str]) -> Skill:
    """The skill as it reads when other handles are called by their new `names`."""
    if not names.keys() & {*skill.mentions}:
        return skill
    steps = skill.steps
    for match in reversed(list(MENTION.finditer(_prose(steps)))):
        if new := names.get(match[1]):
            steps = f"{steps[: match.start(1)]}{new}{steps[match.end(1) :]}"
    given = {names.get(handle, handle): arguments for handle, arguments in skill.given.items()}
    return replace(skill, steps=steps, mentions=mentions(steps), given=given)


class SkillLibrary:
    """Every `<folder>/<name>/SKILL.md`; later folders override earlier ones by name, even when broken.
    Folders that do not exist are skipped."""

    def __init__(self, folders: Sequence[Path]) -> None:
        self._folders = folders
        self._good: dict[Path, Skill] = {}

    def read(self) -> Shelf[Skill]:
        """Everything as it is now."""
        shelf = Shelf[Skill]()
        good: dict[Path, Skill] = {}
        for folder in self._folders:
            origin = origin_of(folder)
            for path in _bundles(folder, shelf):
                name = path.parent.name
                try:
                    good[path] = read_skill(path)
                    shelf.put(name, good[path], origin)
                except SkillError as error:
                    if path in self._good:
                        good[path] = self._good[path]
                        shelf.put(name, good[path], origin)
                        shelf.stale[name] = str(error)
                    else:
                        shelf.refuse(_plain(name), _plain(str(error)), origin)
        self._good = good
        return shelf


def _bundles(folder: Path, shelf: Shelf[Skill]) -> Iterator[Path]:
    if not folder.is_dir():
        return
    try:
        check_folder(folder)
    except SkillError as error:
        shelf.refuse(str(folder), str(error), origin_of(folder))
        return
    yield from sorted(folder.glob("*/SKILL.md"))


def _prose(steps: str) -> str:
    """The steps, of the same length, with blanks for code."""
    return CODE_SPAN.sub(_blank, FENCED.sub(_blank, steps))


def _blank(code: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", code[0])


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
    if not isinstance(private := metadata.get("private", False), bool):
        raise SkillError("metadata.private must be true or false.")
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
        private=private,
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
    if wrong := UNSEEN.search(text):
        raise SkillError(f"{key} has the character {wrong[0]!a}, which cannot be shown; remove it.")
    return text


def _plain(text: str) -> str:
    """With what is not Unicode escaped, as in a folder's name of other bytes."""
    return text.encode("utf-8", "backslashreplace").decode()
