"""Look something up in the user's notes."""

from __future__ import annotations

from muleteer.tool import Note, Notes, Result, Services, joined, say, tool

COMMON_PAGE = "Notes"  # where the notebook keeps what belongs nowhere else


@tool(
    effect="read",
    menu=False,
    craft="The query is the one to three words of the request that matter (names, things, dates), as they "
    "stand there; add none. Leave the query empty for the newest notes.",
)
async def check_notebook(home: Services, query: str = "") -> Result:
    """Search the notes that the user asked to keep. Use it to look up what the user told earlier.

    query: a few words to search for, or the name of a page
    """
    try:
        notes = await home.notebook.search(query)
    except OSError as error:
        return Result.unavailable(say("I could not open the notebook: {why}", why=str(error)))
    about = " ".join(query.split())
    if not notes:
        pattern = 'There is no note about "{query}".' if about else "The notebook is empty."
        return Result.empty(say(pattern, query=about))
    lines = tuple(_line(note) for note in notes)
    text = say("{opening}: {notes}", opening=_opening(about, notes), notes=joined("; ", lines))
    return Result.ok(text, Notes(lines), ("notebook",))


def _line(note: Note) -> str:
    """A note with its date; on a page of its own, and silent about it, also with the page's name."""
    named = note.page in ("", COMMON_PAGE) or note.page.casefold() in note.text.casefold()
    when = say("{day} {month} {year}", day=note.when.day, month=say(f"{note.when:%B}"), year=note.when.year)
    pattern = "{note} (noted {when})" if named else "{page}: {note} (noted {when})"
    return say(pattern, page=note.page, note=note.text, when=when)


def _opening(about: str, notes: list[Note]) -> str:
    many = len(notes) > 1
    if not about:
        return say("Your newest {many} notes", many=len(notes)) if many else say("Your newest note")
    if notes[0].match < 1:
        return say(f"No note has all of that; the nearest {'ones' if many else 'one'}")
    return say("I have {many} notes on that", many=len(notes)) if many else say("I have 1 note on that")
