"""`muleteer evaluate endpoint`: our chat completions against those of llama.cpp's own server."""

from __future__ import annotations

from typing import Any

import click

from muleteer.cli.batteries import battery_options, fewer, run_battery


@click.command()
@click.option(
    "--battery",
    "which",
    type=click.Choice(["bfcl", "tool-eval-bench"]),
    default="bfcl",
    help="What is asked: BFCL's cases, or that package's short scenarios by its own runner.",
)
@click.option(
    "--tools", "sizes", multiple=True, type=click.IntRange(2, 400), help="So many; may be given again."
)
@battery_options
def endpoint(
    which: str, sizes: tuple[int, ...], quick: bool, most: int | None, sides: tuple[str, ...], **how: Any
) -> None:
    """A caller's tools: our chat completions against llama.cpp's own server, same file, same threads.

    \b
    Both come with `pip install 'muleteer[bench,evaluate]'` and `pip install --no-deps bfcl-eval`.
    Examples:
      muleteer evaluate endpoint --tools 4 --tools 80 --most 30 --model standard --json endpoint.json
      muleteer evaluate endpoint --battery tool-eval-bench --model standard
    """
    from muleteer.errors import ConfigError
    from muleteer.evaluate import peer
    from muleteer.evaluate.batteries import bfcl
    from muleteer.evaluate.endpoint import batteries, running

    if sides:
        raise click.BadParameter("both servers are always asked; leave --side")
    if not peer.installed():
        raise ConfigError(
            "The other server, xllamacpp, is not installed: run `pip install 'muleteer[bench]'`."
        )
    if which == "tool-eval-bench":
        run_battery(
            batteries.ToolEval(most), against=batteries.THEIRS, run=running.run, more=running.points, **how
        )
        return
    multiple, none = (
        fewer(bfcl.read(each, bfcl.folder()), quick, most) for each in ("multiple", bfcl.UNANSWERED)
    )
    asked = batteries.CallerTools(multiple, sizes or (4, 80), none)
    run_battery(asked, against=batteries.THEIRS, run=running.run, more=running.as_text, **how)
