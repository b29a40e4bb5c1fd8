"""Read a file of the household."""

from __future__ import annotations

from muleteer.tool import Document, Result, Services, tool

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
        return Result.error("Say which file to read.")
    try:
        found = await home.documents.read(wanted)
    except OSError as error:
        return Result.unavailable(f"I could not read the file: {error}")
    if isinstance(found, list):
        if not found:
            return Result.empty(f'There is no file "{wanted}".')
        names = ", ".join(f"{file.name} in {file.folder}" for file in found[:CHOICES])
        return Result.error(f"Several files may be meant: {names}. Say which.")
    file = found.file
    if not found.text:
        return Result.empty(f"{file.name} in {file.folder} has no text in it; it may be a picture or a scan.")
    size = f"the first {len(found.text):,} characters" if found.cut else "all of it"
    return Result.ok(
        f"I read {file.name} in {file.folder}, {size}.",
        Document(f"{file.folder}/{file.name}", found.text),
        (file.path,),
    )
