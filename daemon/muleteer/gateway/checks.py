"""`POST /v1/checks`: what is wrong with skills, installed or not, as the daemon's own model sees them.

Knows the shapes on the wire: `{"skills": [{"name": ..., "text": ...}]}` in, the text being that of SKILL.md;
problems and tokens by skill out. Until the model is loaded only what needs none is checked.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.background.schedule import misread
from muleteer.catalogue.lint import Problem, lint, together
from muleteer.catalogue.skill_files import FILE_LIMIT, NAME_LIMIT, Skill, parse_skill
from muleteer.errors import EngineError, SkillError
from muleteer.gateway import replies
from muleteer.gateway.health import Health
from muleteer.gateway.requests import read_as
from muleteer.harness.brains import Brain
from muleteer.harness.checking import weigh
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue

MOST_SKILLS = 64  # in one request; more than any menu holds
EXAMPLE = '{"skills": [{"name": "good-night", "text": "---\\nname: good-night\\n..."}]}'


class Given(BaseModel):
    """One skill: the name of its folder, and the text of its SKILL.md."""

    model_config = ConfigDict(extra="forbid", strict=True)

    name: str = Field(pattern=r"^[^/\x00]+$", max_length=NAME_LIMIT)
    text: str = Field(max_length=FILE_LIMIT)


class Checks(BaseModel):
    """The body."""

    model_config = ConfigDict(extra="forbid", strict=True)

    skills: list[Given] = Field(max_length=MOST_SKILLS)


@dataclass(slots=True)
class Report:
    """What was found of one skill."""

    problems: list[Problem] = field(default_factory=list)
    tokens: dict[str, int] = field(default_factory=dict)

    async def measure(self, found: AsyncIterator[Problem | tuple[str, int]]) -> None:
        """Take in what the model finds. Raises `EngineError`."""
        async for each in found:
            if isinstance(each, Problem):
                self.problems.append(each)
            else:
                self.tokens[each[0]] = each[1]


def check_route(catalogue: Callable[[], Catalogue], brain: Brain, budgets: Budgets, health: Health) -> Route:
    """Where skills are checked. They are checked together: one may mention the other."""

    async def check(request: Request) -> Response:
        given = await read_as(Checks, request, EXAMPLE)
        reports = {each.name: Report() for each in given.skills}
        skills: dict[str, Skill] = {}
        for each in given.skills:
            try:
                skills[each.name] = parse_skill(Path(each.name) / "SKILL.md", each.text)
            except SkillError as error:
                reports[each.name].problems.append(Problem("form", str(error)))
        whole = together(catalogue(), skills)
        state, reason = health.report()
        for name, skill in skills.items():
            report = reports[name]
            report.problems += lint(skill, whole)
            if skill.schedule and (why := await misread(skill.schedule)):
                report.problems.append(Problem("schedule", why))
            if state == "ready" and not report.problems:
                try:
                    await report.measure(weigh(brain, skill, whole, budgets))
                except EngineError as error:
                    state, reason = "failed", str(error)
        listed = [{"name": name, **asdict(report)} for name, report in reports.items()]
        measured = state == "ready"
        return replies.Json({"measured": measured, "reason": "" if measured else reason, "skills": listed})

    return Route("/v1/checks", check, methods=["POST"])
