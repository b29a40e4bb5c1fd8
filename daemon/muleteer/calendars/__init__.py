"""The household's calendars: folders of .ics files, read without trusting a byte of them.

`blocks` cuts a file into events, `zones` names their time zones, `entries` makes sense of one event or
series, `folder` reads what has changed, `service` answers what is on between two moments.
"""

from muleteer.calendars.service import FolderCalendars

__all__ = ["FolderCalendars"]
