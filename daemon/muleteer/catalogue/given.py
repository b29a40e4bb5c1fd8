"""Arguments that a skill's steps give to a tool: a JSON object in backticks right after the mention.

    2. @check-calendar `{"when": "today"}`

Such a call needs no model. Knows the notation; not whether the tool takes these arguments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from muleteer.errors import SkillError

GIVEN = re.compile(r"(?<![\w.@/+-])@([a-z0-9-]+)[ \t]+`(\{[^`]*\})`")


def given_arguments(steps: str) -> dict[str, Mapping[str, object]]:
    """The arguments by handle. Raises `SkillError` for what is no JSON object, or given twice."""
    found: dict[str, Mapping[str, object]] = {}
    for handle, text in GIVEN.findall(steps):
        try:
            arguments = json.loads(text)
        except ValueError as error:
            raise SkillError(f"the arguments {text} after @{handle} are not JSON: {error}") from error
        if handle in found:
            raise SkillError(f"@{handle} is given arguments twice; a step may give them once.")
        found[handle] = arguments
    return found
