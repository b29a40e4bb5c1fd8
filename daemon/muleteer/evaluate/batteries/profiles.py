"""What a run says about which path a turn should take: a model's profile, for `harness/profile.py`.

One JSON object: the model's digest, the command, and for each number of tools in reach both paths' accuracy,
tokens and seconds. Knows reports and that form; what is decided by it is the harness's business.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from muleteer.errors import ConfigError
from muleteer.evaluate.batteries import summary
from muleteer.evaluate.batteries.reporting import Report


def profile(report: Report) -> dict[str, Any]:
    """The profile of a `load` run, whose groups are called `24 tools`."""
    loads: dict[int, dict[str, Any]] = {}
    for row in summary.rows(report.attempts, whole=False):
        number, _, word = row.group.partition(" ")
        if word == "tools":
            loads.setdefault(int(number), {})[row.side] = {
                "n": row.n,
                "right": row.right,
                "accuracy": round(row.share, 4),
                "tokens": round(row.decoded + row.generated, 1),
                "seconds": round(row.seconds, 3),
            }
    return {
        "model": report.conditions.model_digest,
        "name": report.conditions.model.name,
        "command": report.conditions.command,
        "tools": [{"number": number, **sides} for number, sides in sorted(loads.items())],
    }


def write(report: Report, file: Path) -> None:
    """Raises `ConfigError` when the file cannot be written."""
    try:
        file.write_text(json.dumps(profile(report), indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{file} cannot be written: {error.strerror}.") from error
