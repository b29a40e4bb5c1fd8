"""Read a file of the household."""

from __future__ import annotations

from muleteer.tool import Document, Result, Services, joined, say, tool

CHOICES = 4  # files named where several are meant; a model chooses badly among more


@tool(
    effect="read",
    menu=False,
    craft="The name is that of the file as it was found, complete; if none was found yet, the words of the "
    "request that say which file is meant.",
)
async def read_file(name: str, home: Services) -> Result:
    """Read one of the user's files and answer from its text. Use it when it is known which file is meant.

    name: the file's name, or words that only it has
    """
    wanted = " ".join(name.split())
    if not wanted:
        return Result.error(say("Say which file to read."))
    try:
        found = await home.documents.read(wanted)
    except OSError as error:
        return Result.unavailable(say("I could not read the file: {why}", why=str(error)))
    if isinstance(found, list):
        if not found:
            return Result.empty(say('There is no file "{file}".', file=wanted))
        places = [say("{file} in {folder}", file=each.name, folder=each.folder) for each in found[:CHOICES]]
        return Result.error(
            say("Several files may be meant: {files}. Say which.", files=joined(", ", places))
        )
    file = found.file
    if not found.text:
        pattern = "{file} in {folder} has no text in it; it may be a picture or a scan."
        return Result.empty(say(pattern, file=file.name, folder=file.folder))
    size = "the first {many:,} characters" if found.cut else "all of it"
    return Result.ok(
        say(
            f"I read {{file}} in {{folder}}, {size}.",
            file=file.name,
            folder=file.folder,
            many=len(found.text),
        ),
        Document(f"{file.folder}/{file.name}", found.text),
        (file.path,),
    )
