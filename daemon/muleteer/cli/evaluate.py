"""`muleteer evaluate`: batteries, run against a model in this process tree. Needs no daemon.

Each command imports what it runs when it runs, so that `--help` stays quick on a small board.
"""

from __future__ import annotations

import click


@click.group()
def evaluate() -> None:
    """Measure whether the harness is worth it: batteries of cases, harness and flat loop side by side.

    \b
    Example:
      muleteer evaluate crafting --quick --model small
    """
