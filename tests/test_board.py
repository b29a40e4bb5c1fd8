"""The firmware's bits in words, now and since the start."""

from __future__ import annotations

from pathlib import Path

import pytest

from muleteer.board import Board
from muleteer.sensors import Sensors
from muleteer.services import BoardState

BOTH = ("the supply voltage is too low", "the processor is throttled")


def sensors(folder: Path, bits: str) -> Sensors:
    file = folder / "devices/platform/soc/firmware/get_throttled"
    file.parent.mkdir(parents=True)
    file.write_text(bits)
    return Sensors(folder, "")


@pytest.mark.parametrize(
    ("bits", "now", "before"),
    [
        ("0", (), ()),
        ("50005", BOTH, BOTH),
        ("20000", (), ("the frequency is capped",)),
        ("8", ("the soft temperature limit is reached",), ()),
    ],
)
async def test_bits_become_words(
    tmp_path: Path, bits: str, now: tuple[str, ...], before: tuple[str, ...]
) -> None:
    assert await Board(sensors(tmp_path, bits)).look() == BoardState(now, before)


async def test_a_board_without_bits_says_nothing(tmp_path: Path) -> None:
    assert await Board(Sensors(tmp_path, "")).look() == BoardState(None, None)
