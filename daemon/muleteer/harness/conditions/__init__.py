"""Conditions of orders: where they stand in a message, and whether they hold."""

from muleteer.harness.conditions.clauses import SENTENCE, Clause, clauses, without
from muleteer.harness.conditions.comparing import holds

__all__ = ["SENTENCE", "Clause", "clauses", "holds", "without"]
