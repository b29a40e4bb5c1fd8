"""Find files of the household by name and content."""

from __future__ import annotations

from muleteer.tool import FoundFile, Notes, Result, Services, joined, say, tool

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
        return Result.unavailable(say("I could not look through the files: {why}", why=str(error)))
    if not files:
        pattern = 'There is no file about "{query}".' if about else "There are no files."
        return Result.empty(say(pattern, query=about))
    lines = tuple(_line(file) for file in files)
    return Result.ok(_sentence(about, files), Notes(lines), tuple(file.path for file in files))


def _sentence(about: str, files: list[FoundFile]) -> str:
    """One file with the passage; of several the names, the rest counted."""
    if len(files) == 1:
        opening = _opening(about, files)
        line = _line(files[0])
        return joined(" ", (opening, line if line.endswith((".", "!", "?")) else f"{line}."))
    said = joined("; ", [_place(file) for file in files[:SPOKEN]])
    rest = len(files) - SPOKEN
    pattern = "{opening}: {files}; and {rest} more." if rest > 0 else "{opening}: {files}."
    return say(pattern, opening=_opening(about, files), files=said, rest=rest)


def _opening(about: str, files: list[FoundFile]) -> str:
    many = len(files) > 1
    if not about:
        return say("The newest {many} files", many=len(files)) if many else say("There is one file:")
    if files[0].match < 1:
        return say(f"No file has all of that; the nearest {'ones' if many else 'one:'}")
    return say("I found {many} files", many=len(files)) if many else say("I found")


def _place(file: FoundFile) -> str:
    return say("{file} in {folder}", file=file.name, folder=file.folder)


def _line(file: FoundFile) -> str:
    """Where a file is, its date, and the text around what was found in it."""
    head = f"{_place(file)} ({file.modified:%-d %B %Y})"
    passage = file.passage[:PASSAGE_LIMIT]
    return f"{head}: {passage}" if passage else head
