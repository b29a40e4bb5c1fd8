"""The sections of the settings that tell what a household has: folders, devices, servers.

Knows keys and limits, like `sections.py`. Entries that have names (`[serial.devices.lamp]`) are tables of
tables: a field `dict[str, Entry]`, where `Entry` is a `Section`.
"""

from __future__ import annotations

from pydantic import Field

from muleteer.sections import Places, Section


class FilesSettings(Section):
    """The folders whose files may be found and read."""

    folders: Places = Field((), max_length=32, description="folders of documents; only these are ever read")
