"""What a check comes to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Verdict = Literal["good", "doubtful", "bad"]


@dataclass(frozen=True, slots=True)
class Finding:
    """`said` is what was found, `advice` what to do about it; nothing is to be done about what is good."""

    name: str
    verdict: Verdict
    said: str
    advice: str = ""


def good(name: str, said: str) -> Finding:
    return Finding(name, "good", said)


def doubtful(name: str, said: str, advice: str) -> Finding:
    return Finding(name, "doubtful", said, advice)


def bad(name: str, said: str, advice: str) -> Finding:
    return Finding(name, "bad", said, advice)
