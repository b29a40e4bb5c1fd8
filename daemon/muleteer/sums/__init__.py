"""Sums as people say and write them, and their values: exact where that is possible. For `muleteer.tool`."""

from muleteer.sums.expressions import evaluate, solve
from muleteer.sums.words import DIGITS, digits, number

__all__ = ["DIGITS", "digits", "evaluate", "number", "solve"]
