"""Look something up in the user's notes."""

from __future__ import annotations

from muleteer.tool import Notes, Result, Services, tool


@tool(
    effect="read",
    menu=False,
    craft="Give the one to three words that matter, in the language of the question: names, things, dates. "
    "Leave the query empty for the newest notes.",
)
async def check_notebook(home: Services, query: str = "") -> Result:
    """Search the notes that the user asked to keep. Use it to look up what the user told earlier.

    query: a few words to search for
    """
    try:
        notes = await home.notebook.search(query)
    except OSError as error:
        return Result.unavailable(f"I could not open the notebook: {error}")
    about = " ".join(query.split())
    if not notes:
        return Result.empty(f'There is no note about "{about}".' if about else "The notebook is empty.")
    lines = tuple(f"{note.text} (noted {note.when:%-d %B %Y})" for note in notes)
    count = f"{len(notes)} notes" if len(notes) > 1 else "1 note"
    opening = (
        f"I have {count} on that"
        if about
        else f"Your newest {count}"
        if len(notes) > 1
        else "Your newest note"
    )
    return Result.ok(f"{opening}: {'; '.join(lines)}", Notes(lines), ("notebook",))
