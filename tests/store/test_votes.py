"""A vote is on disk, private, and never made up."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable
from muleteer.store.votes import FILE_NAME, keep_vote, read_vote

VOTERS = (Voter("a" * 32, 5), Voter("b" * 32), Voter("c" * 32, -3))
DURABLE = Durable(Membership(VOTERS, 7, 3, Rule.MAJORITY), 8, "b" * 32)


def test_it_comes_back_as_it_was(tmp_path: Path) -> None:
    assert read_vote(tmp_path) is None
    keep_vote(tmp_path, DURABLE)
    assert read_vote(tmp_path) == DURABLE
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600


@pytest.mark.parametrize(
    "change",
    [
        {"term": -1},
        {"term": 2**60},
        {"term": "8"},
        {"vote": None},
        {"vote": "x" * 65},
        {"membership": []},
        {"membership": [7, 3, "majority", []]},
        {"membership": [7, 3, "nobody", [["a", 0]]]},
        {"membership": [7, 3, "one", [["a", 0], ["a", 1]]]},
        {"membership": [7, 3, "one", [["a", 10**6]]]},
        {"membership": [7, 3, "one", [["", 0]]]},
        {"membership": [7, 3, "one", [[1, 0]]]},
    ],
)
def test_a_damaged_file_is_told_and_left(tmp_path: Path, change: dict[str, object]) -> None:
    keep_vote(tmp_path, DURABLE)
    path = tmp_path / FILE_NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    before = path.read_bytes()
    with pytest.raises(OSError, match="damaged"):
        read_vote(tmp_path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["", "[]", "{}", "7", "\x00"])
def test_so_is_one_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / FILE_NAME).write_text(content)
    with pytest.raises(OSError, match="damaged"):
        read_vote(tmp_path)
