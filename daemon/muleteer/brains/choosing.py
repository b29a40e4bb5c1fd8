"""Which brain may answer a turn, by rule. Pure.

private turn -> home     offline, and the brain is out there -> home     else the one that is wanted
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from muleteer.brains.settings import LOCAL, BrainServer
from muleteer.errors import RequestError

PRIVATE = "what is private stays on this device"


@dataclass(frozen=True, slots=True)
class Choice:
    """A brain's name, and why it is not the one that was wanted."""

    name: str
    reason: str = ""


def choose(
    wanted: str, default: str, servers: Mapping[str, BrainServer], *, private: bool, offline: str
) -> Choice:
    """`wanted` may be empty; `offline` says why the network may not be used, or is empty. Raises
    `RequestError` for a name that is none."""
    name = wanted or default
    if name == LOCAL:
        return Choice(LOCAL)
    if name not in servers:
        known = ", ".join([LOCAL, *sorted(servers)])
        raise RequestError(f"There is no brain {name[:64]!r}; there is {known}.")
    if private:
        return Choice(LOCAL, PRIVATE)
    if offline and servers[name].uses_network:
        return Choice(LOCAL, f"{offline}, so {name} cannot be asked")
    return Choice(name)
