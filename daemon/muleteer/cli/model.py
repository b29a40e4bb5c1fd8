"""`muleteer model ...`: the models by name. Needs no daemon; shows, and leaves the work to `engine`."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

import click
from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, Progress, TimeRemainingColumn, TransferSpeedColumn
from rich.table import Table

from muleteer import config, paths
from muleteer.engine import fetch, models
from muleteer.errors import ModelError

PLAIN_SECONDS = 5.0
"""Between progress lines where there is no terminal."""


class Meter:
    """Shows how far a model has come: a bar on a terminal, else a line every `PLAIN_SECONDS`."""

    def __init__(self, console: Console, name: str, total: int) -> None:
        self._console = console
        self._name = name
        columns = (BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
        self._bar = Progress("{task.description}", *columns, console=console, disable=not console.is_terminal)
        self._task = self._bar.add_task(name, total=total)
        self._began = self._printed = time.monotonic()
        self._first: int | None = None

    def __enter__(self) -> Meter:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def say(self, sentence: str) -> None:
        """Prints a line above the bar."""
        self._console.print(sentence, markup=False, highlight=False, soft_wrap=True)

    def at(self, done: int, total: int) -> None:
        """Bytes that are here, of the whole."""
        self._bar.update(self._task, completed=done, total=total)
        now = time.monotonic()
        if self._first is None:
            self._first, self._began = done, now
        if not self._console.is_terminal and now - self._printed >= PLAIN_SECONDS:
            self._printed = now
            self.say(f"{self._name}: {self._line(done, total, now)}")

    def _line(self, done: int, total: int, now: float) -> str:
        speed = (done - (self._first or 0)) / max(now - self._began, 1e-9)
        left = f", {(total - done) / speed:.0f} s left" if speed > 0 else ""
        return f"{done / 1e6:,.0f} of {total / 1e6:,.0f} MB, {speed / 1e6:,.1f} MB/s{left}"


@contextmanager
def _meant(name: str) -> Iterator[None]:
    """What is no model at all is a mistake in the command; one of the catalogue that is not here is not."""
    try:
        yield
    except ModelError as error:
        if name in models.load_catalogue():
            raise
        raise click.UsageError(str(error)) from error


@click.group(epilog="Example: muleteer model pull tiny")
def model() -> None:
    """Show, fetch, check and choose models."""


@model.command("list", epilog="Example: muleteer model list --json")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON array with everything the catalogue says."
)
def list_(as_json: bool) -> None:
    """Show the models known by name, which of them are here, and the one in use (*)."""
    settings = config.load()
    rows = []
    for entry in models.load_catalogue().values():
        here = models.locate(entry.name, settings.models) is not None
        in_use = entry.name == settings.engine.model
        path = str(entry.path(settings.models))
        rows.append(entry.model_dump(mode="json") | {"path": path, "here": here, "in_use": in_use})
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    table = Table("", "Name", "Size", "Here", "Licence", "Measured", box=None, header_style="bold")
    for row in rows:
        mark, present = "*" if row["in_use"] else "", "yes" if row["here"] else "no"
        table.add_row(mark, row["name"], f"{row['size'] / 1e6:,.0f} MB", present, row["licence"], row["note"])
    Console().print(table)
    if not any(row["in_use"] for row in rows):
        click.echo(f"In use: {settings.engine.model}")


@model.command(epilog="Example: muleteer model pull standard")
@click.argument("name")
def pull(name: str) -> None:
    """Fetch the model NAME, resuming what an earlier pull left, and check its digest.

    Sources are tried in order. HF_ENDPOINT chooses another hub, MULETEER_MODELS another folder.
    """
    folder = config.load().models
    with _meant(name):
        entry = models.find(name)
    if models.locate(name, folder):
        click.echo(f"Already here: {entry.path(folder)}")
        return
    try:
        with Meter(Console(stderr=True), name, entry.size) as meter:
            path = fetch.pull(entry, meter, folder)
    except KeyboardInterrupt:
        click.echo("Stopped. What was fetched is kept; the same command resumes.", err=True)
        raise
    click.echo(f"Fetched and verified: {path}")


@model.command(epilog="Example: muleteer model verify standard")
@click.argument("name")
def verify(name: str) -> None:
    """Compute the digest of the model NAME and compare it with the catalogue's."""
    with _meant(name):
        entry = models.find(name)
    with Meter(Console(stderr=True), name, entry.size) as meter:
        path = models.verify(entry, config.load().models, lambda done: meter.at(done, entry.size))
    click.echo(f"{path} is whole: SHA-256 {entry.sha256}")


@model.command(epilog="Example: muleteer model path tiny")
@click.argument("name")
def path(name: str) -> None:
    """Print where the model NAME lies; fails when it is not here."""
    with _meant(name):
        click.echo(models.resolve(name, config.load().models))


@model.command(epilog="Example: muleteer model use ~/models/other.gguf")
@click.argument("name_or_path")
def use(name_or_path: str) -> None:
    """Make a model of the catalogue, or any GGUF file, the one the daemon loads when it starts next."""
    with _meant(name_or_path):
        changed = models.use(name_or_path)
    settings = config.load()
    click.echo(f"{changed} now says which model the daemon loads when it starts next.")
    if settings.engine.model not in {name_or_path, str(paths.expand(name_or_path))}:
        click.echo(f"But a stronger setting says {settings.engine.model}; see: muleteer config show")
    if name_or_path in models.load_catalogue() and not models.locate(name_or_path, settings.models):
        click.echo(f"It is not here yet; fetch it with: muleteer model pull {name_or_path}")
