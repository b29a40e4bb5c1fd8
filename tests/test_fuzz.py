"""A small share of `make fuzz`: malformed input of every kind is no fault of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz import KINDS

RUNS = 600  # of all kinds together; `make fuzz` does a hundred thousand
ROOT = Path(__file__).parent


@pytest.mark.parametrize("kind", KINDS)
def test_malformed_input_is_no_fault_of_ours(kind: str) -> None:
    fuzz, share = KINDS[kind]
    assert fuzz(7, round(RUNS * share)) > 0, "everything was refused, so nothing deep was reached"


def test_every_kind_that_there_is_takes_part() -> None:
    found = {path.relative_to(ROOT.parent).with_suffix("").as_posix() for path in ROOT.rglob("fuzz_*.py")}
    assert found == {fuzz.__module__.replace(".", "/") for fuzz, _ in KINDS.values()}
    assert sum(share for _, share in KINDS.values()) == pytest.approx(1.0)
