"""The error that the daemon reported, as a client raises it."""

from __future__ import annotations

from collections.abc import Sequence

from muleteer.errors import MuleteerError
from muleteer.harness.events import LevelUse


class ReportedError(MuleteerError):
    """What the daemon reported, with the levels that ran, or the connection's loss in the middle of a turn
    (`connection_lost`)."""

    def __init__(self, reported: str, message: str, levels: Sequence[LevelUse] = ()) -> None:
        super().__init__(message)
        self.reported = reported
        self.levels = levels

    def as_dict(self) -> dict[str, object]:
        return {"error": {"code": self.reported, "message": str(self)}}
