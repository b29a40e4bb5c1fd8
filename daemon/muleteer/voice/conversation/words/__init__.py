"""What the conversation says by itself: one TOML file a language, those of `harness/phrases`."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Words:
    """One language. `{label}` is what a timer is called."""

    unreachable: str
    not_ready: str
    failed: str
    deaf: str
    again: str
    moment: str
    timer: str
    timer_named: str
    alarm: str
    alarm_named: str

    def excuse(self, code: str) -> str:
        """What is said of a turn that failed for this reason (`errors.py`), whose own sentence is for those
        who look after the device."""
        if code in ("socket", "connection_lost"):
            return self.unreachable
        return self.not_ready if code in ("loading", "busy", "shutting_down") else self.failed

    def rung(self, kind: str, label: str) -> str:
        """What is said of a timer or alarm whose time has come."""
        plain, named = (self.alarm, self.alarm_named) if kind == "alarm" else (self.timer, self.timer_named)
        return named.format(label=label) if label else plain


@cache
def words(language: str) -> Words:
    """The sentences in one of `harness.phrases.LANGUAGES`."""
    return Words(**tomllib.loads(files(__name__).joinpath(f"{language}.toml").read_text(encoding="utf-8")))
