"""Look something up in the user's notes."""

from __future__ import annotations

from muleteer.tool import Note, Notes, Result, Services, tool

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
        return Result.unavailable(f"I could not open the notebook: {error}")
    about = " ".join(query.split())
    if not notes:
        return Result.empty(f'There is no note about "{about}".' if about else "The notebook is empty.")
    lines = tuple(_line(note) for note in notes)
    text = f"{_opening(about, notes)}: {'; '.join(lines)}"
    return Result.ok(text, Notes(lines), ("notebook",))


def _line(note: Note) -> str:
    """A note with its date; on a page of its own, and silent about it, also with the page's name."""
    named = note.page in ("", COMMON_PAGE) or note.page.casefold() in note.text.casefold()
    return f"{'' if named else f'{note.page}: '}{note.text} (noted {note.when:%-d %B %Y})"


def _opening(about: str, notes: list[Note]) -> str:
    many = len(notes) > 1
    if not about:
        return f"Your newest {len(notes)} notes" if many else "Your newest note"
    if notes[0].match < 1:
        return f"No note has all of that; the nearest {'ones' if many else 'one'}"
    return f"I have {len(notes)} {'notes' if many else 'note'} on that"
