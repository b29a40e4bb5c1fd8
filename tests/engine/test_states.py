"""State files: what is saved comes back unchanged or not at all."""

from __future__ import annotations

import logging
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import wait
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from muleteer.engine import states
from muleteer.engine.states import StateFiles, identify, key

MINE, OTHER = b"m" * 32, b"o" * 32
TOKENS, STATE = [1, 2, 3, 70_000], bytes(range(256)) * 8
SIZE = states.HEAD.size + 4 * len(TOKENS) + len(STATE)


@contextmanager
def opened(folder: Path, identity: bytes = MINE, limit: int = 10 * SIZE) -> Iterator[StateFiles]:
    with closing(StateFiles(folder, identity, limit)) as files:
        yield files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """The one file of a folder in which `TOKENS` were saved."""
    with opened(tmp_path) as files:
        files.save(TOKENS, STATE)
    (path,) = tmp_path.iterdir()
    return path


def finish(files: StateFiles) -> None:
    """Wait for the disk, which the engine never does."""
    wait([write for _, write in files._writes.values()])
    files.settle()


def load(files: StateFiles, tokens: list[int] = TOKENS) -> bytes | None:
    parked, length = files.tier.match(tokens, len(tokens), partial=True, longest=1000)
    return files.load(parked) if parked and length == len(tokens) else None


def test_what_was_saved_is_found_by_the_next_start(saved: Path) -> None:
    with opened(saved.parent) as files:
        assert files.holds(TOKENS)
        assert (files.tier.used, len(files.tier)) == (SIZE, 1)
        assert load(files) == STATE
        assert files.ignored == 0
    assert stat.S_IMODE(saved.stat().st_mode) == 0o600


def test_a_state_can_be_read_while_it_is_still_being_written(tmp_path: Path) -> None:
    with opened(tmp_path, limit=10**9) as files:
        files.save(TOKENS, STATE * 5000)
        assert load(files) == STATE * 5000


@pytest.mark.parametrize("place", [0, 20, 60, 84, 90, SIZE - 1])
def test_one_wrong_bit_anywhere_and_the_file_is_ignored_removed_and_written_again(
    saved: Path, place: int
) -> None:
    damaged = bytearray(saved.read_bytes())
    damaged[place] ^= 1
    saved.write_bytes(damaged)
    with opened(saved.parent) as files:
        assert load(files) is None
        assert files.ignored == 1
    assert not saved.exists()
    with opened(saved.parent) as files:
        files.save(TOKENS, STATE)
    with opened(saved.parent) as files:
        assert load(files) == STATE


@pytest.mark.parametrize("size", [0, 10, 83, 90, SIZE - 1, SIZE + 1])
def test_a_file_of_another_length_is_ignored(saved: Path, size: int) -> None:
    saved.write_bytes((saved.read_bytes() + b"x")[:size])
    with opened(saved.parent) as files:
        assert load(files) is None
        assert files.ignored == 1


def test_damage_after_the_start_is_noticed_too(saved: Path) -> None:
    with opened(saved.parent) as files:
        saved.write_bytes(saved.read_bytes()[:-1])
        assert load(files) is None
        assert (files.ignored, files.holds(TOKENS)) == (1, False)


def test_a_file_that_vanished_is_not_there(saved: Path) -> None:
    with opened(saved.parent) as files:
        saved.unlink()
        assert load(files) is None


def test_the_state_of_another_model_is_never_read_and_stays_for_it(saved: Path) -> None:
    with opened(saved.parent, OTHER) as files:
        assert not files.holds(TOKENS)
        assert load(files) is None
        assert (files.ignored, files.tier.used) == (0, SIZE)
        files.save(TOKENS, STATE[::-1])
    with opened(saved.parent) as files:
        assert load(files) == STATE
    with opened(saved.parent, OTHER) as files:
        assert load(files) == STATE[::-1]


def test_a_foreign_file_under_our_name_is_ignored(saved: Path) -> None:
    with opened(saved.parent, OTHER) as files:
        files.save(TOKENS, STATE)
    foreign = saved.with_name(f"{key(OTHER, TOKENS)}.state")
    shutil.copy(foreign, saved)
    with opened(saved.parent) as files:
        assert load(files) is None
        assert files.ignored == 1


def test_the_folder_stays_within_its_limit_and_the_file_used_longest_ago_goes(tmp_path: Path) -> None:
    with opened(tmp_path, limit=3 * SIZE) as files:
        for token in range(3):
            files.save([token, *TOKENS[1:]], STATE)
    for token in range(3):
        os.utime(tmp_path / f"{key(MINE, [token, *TOKENS[1:]])}.state", (token, token))
    with opened(tmp_path, limit=3 * SIZE) as files:
        assert load(files, [0, *TOKENS[1:]]) == STATE
        files.save([9, *TOKENS[1:]], STATE)
        assert files.tier.used == 3 * SIZE
    with opened(tmp_path, limit=2 * SIZE) as files:
        assert [files.holds([token, *TOKENS[1:]]) for token in (0, 1, 2, 9)] == [True, False, False, True]
    assert len(list(tmp_path.iterdir())) == 2


def test_what_goes_before_it_was_written_is_not_left_behind(tmp_path: Path) -> None:
    with opened(tmp_path, limit=2 * SIZE) as files:
        for token in range(12):
            files.save([token, *TOKENS[1:]], STATE)
        kept = files.tier.used
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) == kept <= 2 * SIZE


def test_a_lengthened_file_pushes_no_good_one_out(tmp_path: Path) -> None:
    with opened(tmp_path, limit=3 * SIZE) as files:
        for token in range(3):
            files.save([token, *TOKENS[1:]], STATE)
    longest = tmp_path / f"{key(MINE, [2, *TOKENS[1:]])}.state"
    os.truncate(longest, 3 * SIZE)
    with opened(tmp_path, limit=3 * SIZE) as files:
        assert (len(files.tier), files.ignored) == (2, 1)


def test_nobody_waits_for_a_disk_that_hangs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hanging = threading.Event()
    write = StateFiles._write
    with opened(tmp_path) as files:
        with monkeypatch.context() as patch:
            patch.setattr(StateFiles, "_write", lambda self, *args: hanging.wait() and write(self, *args))
            for token in range(2 * states.PENDING):
                files.save([token], STATE)
            assert [load(files, [token]) for token in range(states.PENDING)] == [STATE] * states.PENDING
            assert load(files, [states.PENDING]) is None
            hanging.set()
            finish(files)
        assert load(files, [0]) == STATE


def test_what_people_said_is_removed_also_while_it_is_written_and_of_any_model(tmp_path: Path) -> None:
    with closing(StateFiles(tmp_path, OTHER, 10 * SIZE, talks=True)) as files:
        files.save([9], STATE, constant=False)
        files.save([8], STATE)
    with closing(StateFiles(tmp_path, MINE, 10**9, talks=True)) as files:
        files.save(TOKENS, STATE)
        files.save([1, 2], STATE * 5000, constant=False)
        assert files.forget_talks()
        assert {path.stem for path in tmp_path.iterdir()} == {key(MINE, TOKENS), key(OTHER, [8])}
        assert {parked.key for parked in files.tier} == {key(MINE, TOKENS), key(OTHER, [8])}
        assert not files._writes


def test_what_cannot_be_removed_is_told_each_time(tmp_path: Path) -> None:
    stubborn = tmp_path / "talk.state"
    with closing(StateFiles(tmp_path, MINE, 10 * SIZE, talks=True)) as files:
        stubborn.mkdir()
        assert not files.forget_talks()
        assert not files.forget_talks()
        stubborn.rmdir()
        assert files.forget_talks()


def test_without_an_engine_the_folder_alone_is_swept(saved: Path) -> None:
    folder = saved.parent
    with closing(StateFiles(folder, MINE, 10 * SIZE, talks=True)) as files:
        files.save([9], STATE, constant=False)
    for name in ("cut.state", "half.new"):
        (folder / name).write_bytes(b"muleteer")
    assert states.remove_talks(folder)
    assert list(folder.iterdir()) == [saved]
    assert states.remove_talks(folder / "missing")


def test_without_room_nothing_is_written(tmp_path: Path) -> None:
    with opened(tmp_path, limit=0) as files:
        files.save(TOKENS, STATE)
    assert not list(tmp_path.iterdir())


def test_what_was_never_finished_is_swept_up(tmp_path: Path) -> None:
    (tmp_path / "abc.new").write_bytes(b"half")
    with opened(tmp_path) as files:
        assert files.ignored == 0
    assert not list(tmp_path.iterdir())


def test_a_fifo_in_the_folder_holds_nothing_up(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "abc.state")
    with opened(tmp_path) as files:
        assert files.ignored == 1


def test_a_disk_that_takes_nothing_is_said_once_and_the_prefix_is_not_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = tmp_path / "states"
    with opened(folder) as files, caplog.at_level(logging.WARNING):
        folder.rmdir()
        for token in (1, 2, 3):
            files.save([token], STATE)
            finish(files)
            assert load(files, [token]) is None
        folder.mkdir()
        files.save([1], STATE)
        finish(files)
        assert load(files, [1]) == STATE
    assert len(caplog.records) == 1
    assert "cannot be saved" in caplog.text


def test_a_model_is_known_by_its_content_time_and_build(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.write_bytes(bytes(10_000_000))
    os.utime(model, (1, 1))
    known = {identify(model, "a"), identify(model, "b")}
    os.utime(model, (2, 2))
    known.add(identify(model, "a"))
    with model.open("r+b") as file:
        file.seek(5_000_000)
        file.write(b"x" * 20_000)
    os.utime(model, (1, 1))
    known.add(identify(model, "a"))
    assert len(known) == 4
