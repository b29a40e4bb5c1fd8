from __future__ import annotations

import json
from pathlib import Path

import pytest

from muleteer.errors import ConfigError
from muleteer.evaluate.batteries.battery import Tried
from muleteer.evaluate.batteries.journal import Journal, digest_of, file_digest, program_digest

ONE = Tried("a", "all", "harness", True, "x", levels=(("choice", 3, 2, 1.5),), extra={"shares": {"x": 1.0}})
TWO = Tried("b", "all", "flat", False, "", "nothing was called")


def test_what_was_tried_is_there_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j", "bfcl", {"model": "1"})
    journal.add(ONE)
    journal.add(TWO)
    again = Journal(tmp_path / "j", "bfcl", {"model": "1"})
    assert again.known == {("a", "harness"): ONE, ("b", "flat"): TWO}
    assert again.file == journal.file


def test_a_line_that_a_kill_has_cut_is_forgotten_and_the_next_one_is_whole(tmp_path: Path) -> None:
    journal = Journal(tmp_path, "bfcl", {})
    journal.add(ONE)
    with journal.file.open("a") as file:
        file.write('{"case": "b", "gro')
    cut = Journal(tmp_path, "bfcl", {})
    assert list(cut.known) == [("a", "harness")]
    cut.add(TWO)
    assert len(Journal(tmp_path, "bfcl", {}).known) == 2


def test_other_conditions_are_another_journal(tmp_path: Path) -> None:
    keys = {"model": "1", "program": "2", "cases": "3"}
    files = {Journal(tmp_path, "bfcl", keys).file}
    files |= {Journal(tmp_path, "bfcl", {**keys, name: "other"}).file for name in keys}
    assert len(files) == 4
    first = json.loads(min(files).read_text().splitlines()[0])
    assert first.keys() == keys.keys()


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be kept"):
        Journal(tmp_path / "file" / "j", "bfcl", {})


def test_digests_tell_texts_apart_wherever_they_are_cut(tmp_path: Path) -> None:
    assert digest_of(["ab", "c"]) != digest_of(["a", "bc"])
    assert program_digest() == program_digest()
    (tmp_path / "m").write_bytes(b"abc")
    assert file_digest(tmp_path / "m").startswith("ba7816bf")
