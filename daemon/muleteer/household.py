"""What this device knows and reaches for its people, opened in order: the services that tools are lent.

Knows which parts there are, what each needs and how it is closed. Does not know tools; `services.py` says
what each part can do.
"""

from __future__ import annotations

from muleteer.closing import Closing
from muleteer.config import Settings
from muleteer.services import Services
from muleteer.store.notebook import SqliteNotebook


async def open_household(settings: Settings, closing: Closing) -> Services:
    """Open every part; each adds how it is closed. A part that cannot be opened says so in the log, and again
    to every tool that uses it: the daemon goes on."""
    notebook = SqliteNotebook(settings.state / "notebook.db")
    closing.add("notebook", notebook.close)
    await notebook.open()
    return Services(notebook=notebook)
