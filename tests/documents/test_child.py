"""A document that was made to hang, to eat memory or to crash costs one process and one sentence."""

from __future__ import annotations

import os
import sys
import threading
import zlib
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from muleteer.documents import reader
from muleteer.documents.child import Child, Extract
from muleteer.documents.text import TEXT_LIMIT
from tests.documents import made

BROKE = Extract(problem="the process that read it broke down")


@pytest.fixture
def child() -> Iterator[Child]:
    started = Child()
    yield started
    started.stop()


def read(child: Child, folder: Path, raw: bytes, kind: str) -> Extract:
    path = folder / f"file.{kind}"
    path.write_bytes(raw)
    with path.open("rb") as file:
        return child.read(file, kind)


def process_of(child: Child) -> psutil.Process | None:
    ours = psutil.Process().children()
    return next((each for each in ours if reader.__name__ in each.cmdline()), None)


def test_one_process_reads_many_files(child: Child, tmp_path: Path) -> None:
    assert read(child, tmp_path, b"one", "txt") == Extract("one")
    first = process_of(child)
    assert read(child, tmp_path, made.pdf("two"), "pdf") == Extract("two")
    assert first is not None
    assert process_of(child) == first


def test_it_works_at_low_priority_within_limits(child: Child, tmp_path: Path) -> None:
    read(child, tmp_path, b"one", "txt")
    process = process_of(child)
    assert process is not None
    assert process.nice() >= 15
    assert process.rlimit(psutil.RLIMIT_AS) == (reader.MEMORY, reader.MEMORY)
    assert process.rlimit(psutil.RLIMIT_FSIZE) == (0, 0)
    assert process.rlimit(psutil.RLIMIT_CPU)[0] <= reader.SECONDS + 2


def test_what_is_cut_says_so_and_every_character_comes_over(child: Child, tmp_path: Path) -> None:
    raw = "\N{GRINNING FACE}".encode() * (TEXT_LIMIT + 1)
    assert read(child, tmp_path, raw, "txt") == Extract("\N{GRINNING FACE}" * TEXT_LIMIT, cut=True)


def test_after_a_file_that_cannot_be_read_another_process_goes_on(child: Child, tmp_path: Path) -> None:
    assert read(child, tmp_path, b"garbage", "pdf").problem.startswith("it is damaged")
    assert process_of(child) is None
    assert read(child, tmp_path, b"fine", "txt") == Extract("fine")


def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    sleeper = Child((sys.executable, "-c", "import time; time.sleep(600)"), seconds=0.3)
    assert read(sleeper, tmp_path, b"x", "txt") == Extract(problem="it takes longer than 0 seconds")
    sleeper.stop()


def test_a_file_that_needs_too_much_memory_is_given_up(child: Child, tmp_path: Path) -> None:
    """A document of fifty megabytes of empty paragraphs would take gigabytes as a tree."""
    head, end = b"<w:body>", b"<w:p/>" * 9_000_000 + b"</w:body>"
    namespace = b"http://schemas.openxmlformats.org/wordprocessingml/2006/main"
    part = b'<w:document xmlns:w="' + namespace + b'">' + head + end + b"</w:document>"
    office = made.replaced(made.word("x"), "word/document.xml", part)
    assert len(office) < 2**20
    assert read(child, tmp_path, office, "docx").problem
    assert read(child, tmp_path, b"fine", "txt") == Extract("fine")


@pytest.mark.parametrize("code", ["import os; os._exit(3)", "import os; os.abort()", "print('x')"])
def test_a_process_that_breaks_down_is_said_to(tmp_path: Path, code: str) -> None:
    broken = Child((sys.executable, "-c", code), seconds=20)
    assert read(broken, tmp_path, b"x", "txt") == BROKE
    broken.stop()


@pytest.mark.parametrize("reply", [b"\xff\xff\xff\xff", b"\0\0\0\2{]"])
def test_a_process_that_answers_nonsense_is_ended(tmp_path: Path, reply: bytes) -> None:
    code = f"import socket, time; s = socket.socket(fileno=0); s.send({reply!r}); time.sleep(600)"
    odd = Child((sys.executable, "-c", code), seconds=20)
    assert read(odd, tmp_path, b"x", "txt") == BROKE
    odd.stop()


def test_bombs_in_a_pdf_end_in_a_sentence(child: Child, tmp_path: Path) -> None:
    packed = zlib.compress(zlib.compress(bytes(300 * 2**20)))
    head = b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(packed)
    bomb = made.pdf_of(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R /Resources << /Font << >> >> >>",
            head + packed + b"\nendstream",
        ]
    )
    assert len(bomb) < 10_000
    assert read(child, tmp_path, bomb, "pdf").problem
    loop = made.pdf_of(
        [b"<< /Type /Catalog /Pages 2 0 R >>", b"<< /Type /Pages /Kids [2 0 R 2 0 R] /Count 9999999 >>"]
    )
    assert not read(child, tmp_path, loop, "pdf").text
    deep = made.pdf_of([b"<< /Type /Catalog /Pages " + b"[" * 100_000 + b" >>"])
    assert read(child, tmp_path, deep, "pdf").problem


def test_stopping_ends_a_read_in_another_thread(tmp_path: Path) -> None:
    sleeper = Child((sys.executable, "-c", "print(flush=True); import time; time.sleep(600)"), seconds=600)
    results: list[Extract] = []
    started = threading.Event()
    (tmp_path / "pipe").write_bytes(b"x")

    def work() -> None:
        with (tmp_path / "pipe").open("rb") as file:
            started.set()
            results.append(sleeper.read(file, "txt"))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    while sleeper._process is None:
        os.sched_yield()
    sleeper.stop()
    thread.join(20)
    assert results == [BROKE]
    with pytest.raises(OSError, match="no longer"):
        read(sleeper, tmp_path, b"x", "txt")


def test_the_process_ends_with_whoever_started_it(child: Child, tmp_path: Path) -> None:
    read(child, tmp_path, b"x", "txt")
    process = process_of(child)
    assert process is not None
    assert child._socket is not None
    child._socket.close()  # as the kernel does when the daemon is killed
    assert process.wait(20) is not None


def test_a_file_is_read_from_its_beginning(child: Child, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"whole")
    with (tmp_path / "a.txt").open("rb") as file:
        assert child.read(file, "txt") == Extract("whole")
