"""The sections of the settings that tell what a household has: folders, devices, servers.

Knows keys and limits, like `sections.py`. Entries that have names (`[serial.devices.lamp]`) are tables of
tables: a field `dict[str, Entry]`, where `Entry` is a `Section`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from muleteer.settings.sections import Count, Places, Seconds, Section, Words


class FilesSettings(Section):
    """The folders whose files may be found and read."""

    folders: Places = Field((), max_length=32, description="folders of documents; only these are ever read")
    largest: Count = Field(
        32, ge=1, le=1024, description="MiB of the largest file whose text is read; others go by their name"
    )
    most: Count = Field(
        20_000, ge=1, le=500_000, description="most files the index holds; those beyond are counted in status"
    )
    index: Count = Field(
        256,
        ge=1,
        le=16_384,
        description="MiB of text the index holds; on disk it takes about twice that. Other files go by name",
    )
    rescan: Count = Field(
        60,
        ge=1,
        le=10_080,
        description="minutes between looks at all files, for disks that tell no changes: 1 to a week",
    )


class MemorySettings(Section):
    """What is kept of past turns. Notes are kept until they are forgotten."""

    keep_days: Count = Field(
        365,
        ge=0,
        le=36_500,
        description="days that what was said and answered is kept; 0: nothing is, and what was is erased",
    )
    keep_turns: Count = Field(
        20_000,
        ge=1,
        le=1_000_000,
        description="most turns kept, the newest; looked at once a day and every thousand turns",
    )
    session_days: Count = Field(
        7,
        ge=0,
        le=36_500,
        description="days that what was said in a session is told to the model again in it; 0: never",
    )


class ToolsSettings(Section):
    """What tools may do."""

    confirm: tuple[Literal["write", "physical"], ...] = Field(
        (),
        max_length=2,
        description="effects that need a yes: write (keeps something), physical (acts on a device)",
    )

    offline: Literal["auto", "on", "off"] = Field(
        "auto",
        description="on: no tool may use the network; off: they may; auto: they may while there is a route. "
        "`muleteer offline` overrides it",
    )


class WebSettings(Section):
    """Reading web pages."""

    private: bool = Field(False, description="whether pages of devices in the own network may be read")
    allow: tuple[Words, ...] = Field(
        (), max_length=64, description="hosts that may be read even if they are in the own network"
    )
    seconds: Seconds = Field(
        15.0, ge=1.0, le=30.0, description="seconds one page may take in all, redirects included"
    )
    size: Count = Field(
        1024,
        ge=16,
        le=8192,
        description="KiB read of one page, unpacked; more than a model is ever shown, so more is memory lost",
    )


class CalendarSettings(Section):
    """The calendars that may be looked into."""

    folders: Places = Field(
        (),
        max_length=16,
        description="folders of .ics files, as vdirsyncer or a calendar program writes them",
    )


class TimerSettings(Section):
    """What happens when a timer rings, beside the event."""

    command: tuple[Words, ...] = Field(
        (),
        max_length=64,
        description="program and arguments that make a noise, such as paplay and a sound file; no shell. "
        "MULETEER_LABEL holds the timer's label",
    )
    command_seconds: Seconds = Field(
        30.0, ge=1.0, le=600.0, description="seconds after which that program is ended"
    )
