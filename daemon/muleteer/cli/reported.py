"""What the daemon reported instead of an answer, as a client raises it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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


class QuestionError(MuleteerError):
    """The turn ended with a question, and nobody is here to answer it. `fields` are those of the event."""

    code = "confirm"

    def __init__(self, fields: Mapping[str, object]) -> None:
        minutes = float(str(fields.get("seconds", 0))) / 60
        super().__init__(
            f"{fields.get('question')}\nNothing was done. Answer within {minutes:.0f} minutes with "
            f"`muleteer confirm {fields.get('turn')}`, or with --no after it."
        )
        self.fields = fields

    def as_dict(self) -> dict[str, object]:
        return {**super().as_dict(), "confirm": dict(self.fields)}
