"""Find files of the household by name and content."""

from __future__ import annotations

from muleteer.tool import FoundFile, Notes, Result, Services, tool

SPOKEN = 3  # files named in the sentence; the payload has all
PASSAGE_LIMIT = 240  # characters of a file's text in a note: what was found and a little around it


@tool(
    effect="read",
    menu=False,
    craft="The words are the one to four of the request that matter (names, things, years), as they stand "
    "there; add none. Leave them empty for the newest files.",
)
async def find_file(home: Services, words: str = "") -> Result:
    """Find the user's files by name or content. Use it to learn which file has something.

    words: a few words of the file's name or text
    """
    about = " ".join(words.split())
    try:
        files = await home.documents.find(about)
    except OSError as error:
        return Result.unavailable(f"I could not look through the files: {error}")
    if not files:
        return Result.empty(f'There is no file about "{about}".' if about else "There are no files.")
    lines = tuple(_line(file) for file in files)
    return Result.ok(_sentence(about, files), Notes(lines), tuple(file.path for file in files))


def _sentence(about: str, files: list[FoundFile]) -> str:
    """One file with the passage; of several the names, the rest counted."""
    if len(files) == 1:
        opening = _opening(about, files)
        line = _line(files[0])
        return f"{opening} {line}" if line.endswith((".", "!", "?")) else f"{opening} {line}."
    said = "; ".join(_place(file) for file in files[:SPOKEN])
    rest = len(files) - SPOKEN
    return f"{_opening(about, files)}: {said}{f'; and {rest} more' if rest > 0 else ''}."


def _opening(about: str, files: list[FoundFile]) -> str:
    many = len(files) > 1
    if not about:
        return f"The newest {len(files)} files" if many else "There is one file:"
    if files[0].match < 1:
        return f"No file has all of that; the nearest {'ones' if many else 'one:'}"
    return f"I found {len(files)} files" if many else "I found"


def _place(file: FoundFile) -> str:
    return f"{file.name} in {file.folder}"


def _line(file: FoundFile) -> str:
    """Where a file is, its date, and the text around what was found in it."""
    head = f"{_place(file)} ({file.modified:%-d %B %Y})"
    passage = file.passage[:PASSAGE_LIMIT]
    return f"{head}: {passage}" if passage else head
