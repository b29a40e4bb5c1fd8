"""The timers of skills with a schedule: one instance of muleteer-turn@.timer each, its schedule in a drop-in.

Knows units and drop-ins. Which skills there are, and how late a timer may be, it is told.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from muleteer.systemd.manager import Manager

DROP_IN = "schedule.conf"
FOLDER = re.compile(r"muleteer-turn@([a-z0-9-]+)\.timer\.d")
HEAD = "# Written by `muleteer timers sync` from the skill's schedule; the next one overwrites it.\n"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a skill is due (OnCalendar), and the most seconds by which its timer is late."""

    calendar: str
    delay: float


@dataclass(frozen=True, slots=True)
class Listed:
    """A skill's timer as systemd sees it. `state` is enabled, disabled or missing."""

    skill: str
    calendar: str
    state: str
    next: str = ""
    last: str = ""


def unit(skill: str) -> str:
    return f"muleteer-turn@{skill}.timer"


def sync(manager: Manager, wanted: Mapping[str, Schedule]) -> list[str]:
    """Make the timers those of the `wanted` schedules; what was changed, in words. Those that were disabled
    by hand stay disabled. Raises `SystemdError` and `OSError`."""
    there, told = _written(manager), []
    added = [skill for skill in wanted if skill not in there]
    changed = [skill for skill in wanted if skill in there and there[skill] != _drop_in(wanted[skill])]
    removed = [skill for skill in there if skill not in wanted]
    for skill in removed:
        manager.systemctl("disable", "--now", unit(skill))
        shutil.rmtree(_folder(manager, skill))
        told.append(f"removed {unit(skill)}")
    for skill in (*added, *changed):
        _folder(manager, skill).mkdir(parents=True, exist_ok=True, mode=0o755)
        path = _folder(manager, skill) / DROP_IN
        path.write_text(_drop_in(wanted[skill]))
        path.chmod(0o644)
        told.append(f"{'added' if skill in added else 'changed'} {unit(skill)}: {wanted[skill].calendar}")
    if told:
        manager.systemctl("daemon-reload")
    for skill in wanted:
        state = manager.asks("is-enabled", unit(skill))
        if state == "masked":
            continue
        if state != "enabled":
            manager.systemctl("enable", unit(skill))
            if skill not in added:
                told.append(f"enabled {unit(skill)}")
        if skill in changed:
            manager.systemctl("restart", unit(skill))
        elif manager.asks("is-active", unit(skill)) != "active":
            manager.systemctl("start", unit(skill))
    return told


def switch(manager: Manager, skill: str, on: bool) -> bool:
    """Let the timer of `skill` fire, or not; whether that is a change."""
    masked = manager.asks("is-enabled", unit(skill)) == "masked"
    if on:
        if masked:
            manager.systemctl("unmask", unit(skill))
        manager.systemctl("enable", "--now", unit(skill))
    elif not masked:
        manager.systemctl("disable", "--now", unit(skill))
        manager.systemctl("mask", unit(skill))
    return masked == on


def listed(manager: Manager, calendars: Mapping[str, str]) -> list[Listed]:
    """The timers of all skills that have a schedule or a timer."""
    there = _written(manager)
    skills = sorted({*there, *calendars})
    return [_listed(manager, skill, calendars.get(skill, ""), skill in there) for skill in skills]


def _listed(manager: Manager, skill: str, calendar: str, made: bool) -> Listed:
    shown = manager.asks(
        "show", unit(skill), "--property=UnitFileState,NextElapseUSecRealtime,LastTriggerUSec"
    )
    values = dict(line.partition("=")[::2] for line in shown.splitlines())
    words = {"enabled": "enabled", "masked": "disabled", "disabled": "disabled"}
    state = words.get(values.get("UnitFileState", ""), "missing") if made else "missing"
    next, last = values.get("NextElapseUSecRealtime", ""), values.get("LastTriggerUSec", "")
    return Listed(skill, calendar, state, next, "" if last == "n/a" else last)


def _written(manager: Manager) -> dict[str, str]:
    """The drop-ins that are there, by skill."""
    found: dict[str, str] = {}
    for path in sorted(manager.units.glob("muleteer-turn@*.timer.d")):
        match = FOLDER.fullmatch(path.name)
        if match and (path / DROP_IN).is_file():
            found[match[1]] = (path / DROP_IN).read_text()
    return found


def _folder(manager: Manager, skill: str) -> Path:
    return manager.units / f"{unit(skill)}.d"


def _drop_in(schedule: Schedule) -> str:
    return (
        f"{HEAD}[Timer]\nOnCalendar=\nOnCalendar={schedule.calendar}\nRandomizedDelaySec={schedule.delay}\n"
    )
