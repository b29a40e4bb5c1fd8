"""The brains of this device: the one at home, servers elsewhere, and which of them answers a turn.

Knows what is set, what is offline and what was measured. Does not know turns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from muleteer.brains.choosing import choose
from muleteer.brains.server import Server
from muleteer.brains.settings import LOCAL, BrainsSettings
from muleteer.harness.brains import Chosen
from muleteer.harness.profile import Profile, path


class Brains:
    """Implements `harness.brains.Brains`. `offline` says why the network may not be used now, or nothing;
    `marks` are those of the model at home, once it is loaded."""

    def __init__(
        self, settings: BrainsSettings, offline: Callable[[], str], marks: Callable[[], Sequence[str]]
    ) -> None:
        self._settings, self._offline, self._marks = settings, offline, marks
        self._servers = {name: Server(name, each) for name, each in settings.servers.items()}
        self.profile: Profile | None = None

    async def open(self) -> None:
        """Read every key; what cannot be read is told in the log and in status."""
        for server in self._servers.values():
            await server.open()

    async def close(self) -> None:
        """May be called more than once."""
        for server in self._servers.values():
            await server.close()

    def choose(self, wanted: str, private: bool, tools: int, skills: int) -> Chosen:
        """As in the protocol."""
        servers = self._settings.servers
        choice = choose(wanted, self._settings.default, servers, private=private, offline=self._offline())
        if choice.name == LOCAL:
            flat = path(self.profile, tools, skills)[0] == "flat"
            return Chosen(LOCAL, choice.reason, flat=flat, marks=tuple(self._marks()))
        each = servers[choice.name]
        limits = (each.prompt, each.output, each.turn)
        return Chosen(
            choice.name, choice.reason, self._servers[choice.name], each.path != "harness", (), *limits
        )

    def report(self) -> Mapping[str, object]:
        """For `status`: the default, and each server with what was asked and what went wrong."""
        measured = self.profile
        home = {
            "measured": bool(measured and measured.rows),
            "command": measured.command if measured else "",
        }
        servers = {name: server.report() for name, server in self._servers.items()}
        return {"default": self._settings.default, LOCAL: home, "servers": servers}
