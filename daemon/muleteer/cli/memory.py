"""`muleteer memory`: look at what is kept, search it, forget it, and carry notes in and out as Markdown."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import click

from muleteer.cli.options import json_option, socket_option
from muleteer.cli.render import print_table, safe
from muleteer.cli.show import Fields, only_bare

if TYPE_CHECKING:
    from muleteer.cli.client import Daemon

MOST_AT_ONCE = 500  # notes in one request; what the daemon takes
LONGEST_NOTE = 1_000  # characters; what the daemon takes
BATCH = 256 << 10  # bytes of notes in one request; a quarter of what the daemon takes
LARGEST_FILE = 4 << 20  # bytes of a page; thousands of notes
MOST_FILES = 1_000  # pages; more is not a folder of notes
NUMBER = re.compile(r"([nt])([1-9]\d{0,17})")


@click.group(invoke_without_command=True)
@json_option
@socket_option
@click.pass_context
def memory(context: click.Context, as_json: bool, socket: Path | None) -> None:
    """What is kept: notes on pages, and what was said in past turns.

    Without a subcommand: the pages, how many turns are kept, and how long.

    \b
    Example:
      muleteer memory search plumber
    """
    if only_bare(context, as_json, socket):
        context.invoke(show, page=None, turns=False, when="", limit=50, as_json=as_json, socket=socket)


@memory.command()
@click.argument("page", required=False)
@click.option("--turns", is_flag=True, help="Past turns instead, the newest first.")
@click.option("--when", default="", help='Turns of that time: "last week", "since Monday", 2026-05-31.')
@click.option("--limit", default=50, type=click.IntRange(1, MOST_AT_ONCE), help="At most so many. [50]")
@json_option
@socket_option
def show(page: str | None, turns: bool, when: str, limit: int, as_json: bool, socket: Path | None) -> None:
    """Show the pages, the notes of one page, or past turns; each with the number that `forget` takes.

    \b
    Example:
      muleteer memory show shopping
    """
    if turns or when:
        query = {"kind": "turns", "when": when, "limit": limit}
        _print_found(_get(socket, "/v1/memory/search", query), as_json, limit)
    elif page:
        _print_found(_get(socket, "/v1/memory/notes", {"page": page, "limit": limit}), as_json, limit)
    else:
        body = _get(socket, "/v1/memory")
        _print_kept(body, as_json)


@memory.command()
@click.argument("words", nargs=-1, required=True)
@click.option("--when", default="", help='Only turns of that time: "last week", "since Monday", 2026-05-31.')
@click.option("--limit", default=8, type=click.IntRange(1, MOST_AT_ONCE), help="At most so many. [8]")
@json_option
@socket_option
def search(words: tuple[str, ...], when: str, limit: int, as_json: bool, socket: Path | None) -> None:
    """Find notes and past turns by nearly right words, best first.

    \b
    Example:
      muleteer memory search --when "last week" heating
    """
    query = {"query": " ".join(words), "when": when, "limit": limit}
    _print_found(_get(socket, "/v1/memory/search", query), as_json)


@memory.command()
@click.argument("numbers", nargs=-1)
@click.option("--page", default="", help="All notes of this page.")
@click.option("--when", default="", help='All turns of that time: "today", "before May", 2026-05-31.')
@click.option("--all", "everything", is_flag=True, help="All notes and all turns.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
@socket_option
def forget(
    numbers: tuple[str, ...],
    page: str,
    when: str,
    everything: bool,
    yes: bool,
    as_json: bool,
    socket: Path | None,
) -> None:
    """Delete notes (n12) and turns (t7) for good: also from the index and from the files.

    \b
    Example:
      muleteer memory forget n12 t7
    """
    chosen = [NUMBER.fullmatch(number) for number in numbers]
    if None in chosen:
        wrong = numbers[chosen.index(None)]
        raise click.UsageError(
            f"{wrong!r} is no number of a note (n12) or turn (t7); see `muleteer memory show`."
        )
    if not (numbers or page or when or everything):
        raise click.UsageError("Say what to forget: numbers, --page, --when or --all.")
    if (page or when or everything) and not yes:
        what = ["all notes and turns"] if everything else []
        what += [f"all notes of the page {safe(page)}"] if page else []
        what += [f"all turns of: {safe(when)}"] if when else []
        click.confirm(f"Forget {' and '.join(what)}, for good?", abort=True, err=True)
    doomed: dict[str, object] = {"page": page, "when": when, "everything": everything}
    for kind, name in (("n", "notes"), ("t", "turns")):
        doomed[name] = [int(found[2]) for found in chosen if found and found[1] == kind]
    body = _daemon(socket).send("POST", "/v1/memory/forget", doomed)
    said = f"Forgotten: {_count(body, 'notes', 'note')} and {_count(body, 'turns', 'turn')}."
    click.echo(json.dumps(body) if as_json else said)


@memory.command()
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@json_option
@socket_option
def export(folder: Path, as_json: bool, socket: Path | None) -> None:
    """Write all notes into a new or empty FOLDER: Markdown, one file a page. Past turns are not exported.

    \b
    Example:
      muleteer memory export ~/notes
    """
    from muleteer.cli.markdown import Written, file_names, write_page

    pages: dict[str, list[Written]] = defaultdict(list)
    for note in _all_notes(socket):
        when, session, device = (str(note[name]) for name in ("when", "session", "device"))
        pages[str(note["page"])].append(Written(str(note["text"]), when, session, device))
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise click.UsageError(
            f"{folder} is not empty; name a new folder, so that no forgotten note comes back."
        )
    for page, name in file_names(pages).items():
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open(folder / name, flags, 0o600), "w", encoding="utf-8", newline="\n") as file:
            file.write(write_page(page, pages[page]))
    written = sum(map(len, pages.values()))
    missing = sum(int(str(page["notes"])) for page in _rows(_get(socket, "/v1/memory"), "pages")) - written
    report = {"folder": str(folder), "pages": len(pages), "notes": written, "unreadable": max(0, missing)}
    click.echo(json.dumps(report) if as_json else f"{written} notes on {len(pages)} pages are in {folder}.")
    if missing > 0:
        click.echo(
            f"{missing} notes cannot be read and are not in it; the daemon's log says which.", err=True
        )
        click.get_current_context().exit(1)


@memory.command("import")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False, exists=True))
@json_option
@socket_option
def import_(folder: Path, as_json: bool, socket: Path | None) -> None:
    """Take in the notes of a FOLDER of Markdown files, one a page. What is there already is not doubled.

    Each list item and each paragraph is a note.

    \b
    Example:
      muleteer memory import ~/notes
    """
    from muleteer.cli.markdown import read_page
    from muleteer.cli.reported import ReportedError

    files = sorted(folder.glob("*.md"))
    if not files or len(files) > MOST_FILES:
        raise click.UsageError(
            f"{folder} holds {len(files)} Markdown files (*.md); 1 to {MOST_FILES} can be read."
        )
    # All are read and checked before any is sent.
    pages = [(file, *read_page(_read(file), file.stem)) for file in files]
    for file, name, notes in pages:
        _check_page(file, name, [note.text for note in notes])
    daemon, new, known = _daemon(socket), 0, 0
    for file, name, notes in pages:
        given: list[dict[str, object]] = [
            {
                "text": note.text,
                "page": name,
                "when": note.when or None,
                "session": note.session,
                "device": note.device,
            }
            for note in notes
        ]
        for batch in _batches(given):
            try:
                body = daemon.send("POST", "/v1/memory/notes", {"notes": batch})
            except ReportedError as error:
                before = f" Before that, {new} notes were taken in." if new else ""
                raise ReportedError(error.reported, f"{file.name}: {error}{before}") from error
            new, known = new + int(str(body["new"])), known + int(str(body["known"]))
    report = {"pages": len(pages), "new": new, "known": known}
    said = f"{new} notes were taken in; {known} were there already."
    click.echo(json.dumps(report) if as_json else said)


def _daemon(socket: Path | None) -> Daemon:
    from muleteer.cli.client import Daemon, find_socket

    return Daemon(find_socket(socket))


def _get(socket: Path | None, path: str, query: Mapping[str, object] | None = None) -> Fields:
    given = {name: str(value) for name, value in (query or {}).items() if value != ""}
    return _daemon(socket).get(f"{path}?{urlencode(given, errors='replace')}" if given else path)


def _all_notes(socket: Path | None) -> Iterator[Fields]:
    after = 0
    while notes := _rows(_get(socket, "/v1/memory/notes", {"after": after, "limit": MOST_AT_ONCE}), "notes"):
        yield from notes
        after = int(str(notes[-1]["number"]))


def _read(file: Path) -> str:
    """Raises `click.UsageError` for what cannot be a page."""
    from muleteer.files import open_regular, read_whole

    try:
        if file.is_symlink():
            raise click.UsageError(f"{file} is a link; copy what it leads to into the folder.")
        with open_regular(file) as opened:
            return read_whole(opened, LARGEST_FILE).decode()
    except UnicodeDecodeError as error:
        raise click.UsageError(f"{file} is not UTF-8 at byte {error.start}; save it as UTF-8.") from error
    except OSError as error:
        raise click.UsageError(f"{file} cannot be read: {error.strerror or error}.") from error


def _check_page(file: Path, name: str, notes: list[str]) -> None:
    """Raises `click.UsageError` for what the daemon would not take, in the words of the file."""
    from muleteer.store.pages import COMMON_PAGE, LONGEST_NAME, page_name

    if name != COMMON_PAGE and not page_name(name):
        raise click.UsageError(
            f"{file.name}: {safe(name[:80])!r} cannot be the name of a page (a word or three, at most "
            f"{LONGEST_NAME} characters); write another in its first line, after `# `. Nothing was taken in."
        )
    for number, text in enumerate(notes, 1):
        if len(text) > LONGEST_NOTE:
            raise click.UsageError(
                f"{file.name}: note {number}, beginning with {safe(_line(text)[:40])!r}, has {len(text):,} "
                f"characters and may have {LONGEST_NOTE:,}; make it several. Nothing was taken in."
            )


def _batches(notes: list[dict[str, object]]) -> Iterator[list[dict[str, object]]]:
    batch: list[dict[str, object]] = []
    size = 0
    for note in notes:
        length = len(json.dumps(note))
        if batch and (size + length > BATCH or len(batch) == MOST_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(note)
        size += length
    if batch:
        yield batch


def _rows(body: Fields, name: str) -> list[Fields]:
    listed = body.get(name)
    return [each for each in listed if isinstance(each, dict)] if isinstance(listed, list) else []


def _print_kept(body: Fields, as_json: bool) -> None:
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
    else:
        pages = [
            (str(page["name"]), str(page["notes"]), _day(page["newest"])) for page in _rows(body, "pages")
        ]
        if pages:
            print_table(("page", "notes", "newest"), pages)
        elif not body.get("unavailable"):
            click.echo("There are no notes yet.")
        click.echo(_turns_kept(body))
    _tell_unavailable(body)


def _turns_kept(body: Fields) -> str:
    turns, days = body.get("turns"), body.get("keep_days")
    if not days:
        return "What is said is not kept (memory.keep_days = 0)."
    if not isinstance(turns, dict):
        return "How many turns are kept is not known."
    since = f", the oldest of {_day(turns['oldest'])}" if turns["oldest"] else ""
    lost = f"; {turns['dropped']} could not be written" if turns["dropped"] else ""
    lost += f"; {turns['waiting']} wait to be written" if turns.get("waiting") else ""
    limits = f"kept for {days} days, at most {body.get('keep_turns')}"
    return f"{_count(turns, 'turns', 'past turn')}{since}; {limits}{lost}."


def _print_found(body: Fields, as_json: bool, limit: int = 0) -> None:
    """Notes and turns; where all there are was asked for, a full `limit` is mentioned."""
    if as_json:
        click.echo(safe(json.dumps(body, ensure_ascii=False, indent=2)))
    else:
        notes = [
            (f"n{note['number']}", _day(note["when"]), str(note["page"]), _line(note["text"]))
            for note in _rows(body, "notes")
        ]
        turns = [
            (f"t{turn['number']}", _day(turn["when"]), _line(turn["message"]), _line(turn["answer"]))
            for turn in _rows(body, "turns")
        ]
        if notes:
            print_table(("note", "of", "page", "text"), notes)
        if turns:
            print_table(("turn", "of", "said", "answered"), turns)
        if not notes and not turns and not body.get("unavailable"):
            click.echo("Nothing was found.")
        if limit and limit in (len(notes), len(turns)):
            click.echo(f"There may be more; --limit shows up to {MOST_AT_ONCE}.", err=True)
    _tell_unavailable(body)


def _tell_unavailable(body: Fields) -> None:
    """Could not look is not the same as nothing there."""
    reasons = body.get("unavailable")
    if isinstance(reasons, list) and reasons:
        for reason in reasons:
            click.echo(f"Error: {safe(str(reason))}", err=True)
        click.get_current_context().exit(1)


def _day(when: object) -> str:
    """The local day of a time in UTC; what is no time, as it is."""
    try:
        return f"{datetime.fromisoformat(str(when)).astimezone():%Y-%m-%d}"
    except (ValueError, OverflowError):
        return str(when)


def _line(text: object) -> str:
    return " ".join(str(text).split())


def _count(fields: Fields, name: str, what: str) -> str:
    number = fields.get(name, 0)
    return f"{number} {what}{'' if number == 1 else 's'}"
