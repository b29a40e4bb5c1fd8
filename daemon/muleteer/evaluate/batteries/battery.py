"""What a battery is, as plain data and one protocol: cases, sides, and what came of an attempt.

Knows no engine, no file and no battery in particular.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

from muleteer.engine.client import Engine
from muleteer.harness.events import LevelUse

HARNESS, FLAT = "harness", "flat"
SIDES = (HARNESS, FLAT)


@dataclass(frozen=True, slots=True)
class Case:
    """One question. Its `group` is what a table has a row for: a category, a number of tools."""

    id: str
    group: str


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt at a case by one side. `got` is what came out, `why` why that is wrong (empty when it is
    right). Tokens as `engine.protocol.Use` counts them, summed over `levels`; `seconds` of wall time."""

    case: str
    group: str
    side: str
    right: bool
    got: str
    why: str = ""
    prompt: int = 0
    reused: int = 0
    decoded: int = 0
    generated: int = 0
    seconds: float = 0.0
    levels: tuple[tuple[str, int, int, float], ...] = ()
    extra: dict[str, Any] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        """What the attempt cost: tokens decoded and generated."""
        return self.decoded + self.generated

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def read(cls, data: dict[str, Any]) -> Tried:
        """The inverse of `as_dict`. Raises `TypeError` for anything else."""
        levels = tuple((str(name), int(d), int(g), float(ms)) for name, d, g, ms in data.pop("levels"))
        return cls(**data, levels=levels)


@dataclass(frozen=True, slots=True)
class Answered:
    """What a side made of a case, before it is timed and booked."""

    right: bool
    got: str
    why: str = ""
    extra: dict[str, Any] = field(default_factory=dict)


class Cases(Protocol):
    """`name` and `digest` (of the cases and of everything else that the result hangs on) tell one battery
    from another; `context` is how many tokens the engine must hold. `together`: all cases of one side follow
    each other, instead of all sides of one case."""

    @property
    def name(self) -> str: ...
    @property
    def digest(self) -> str: ...
    @property
    def context(self) -> int: ...
    @property
    def together(self) -> bool: ...
    @property
    def sides(self) -> Sequence[str]: ...
    @property
    def cases(self) -> Sequence[Case]: ...


class Battery(Cases, Protocol):
    """Cases whose sides are asked on one engine."""

    async def warm(self, engine: Engine, case: Case, side: str) -> None:
        """Decode what would lie in the context already if this side had served the last request, too."""
        ...

    async def answer(self, engine: Engine, case: Case, side: str) -> tuple[Answered, Sequence[LevelUse]]:
        """One attempt, and what its levels used. Raises `MuleteerError` where a side cannot do it."""
        ...


def tried(case: Case, side: str, answered: Answered, levels: Sequence[LevelUse], seconds: float) -> Tried:
    return Tried(
        case=case.id,
        group=case.group,
        side=side,
        right=answered.right,
        got=answered.got,
        why=answered.why,
        prompt=sum(level.prompt for level in levels),
        reused=sum(level.reused for level in levels),
        decoded=sum(level.decoded for level in levels),
        generated=sum(level.generated for level in levels),
        seconds=round(seconds, 4),
        levels=tuple((level.name, level.decoded, level.generated, level.ms) for level in levels),
        extra=answered.extra,
    )
