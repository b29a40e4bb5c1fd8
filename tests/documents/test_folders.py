"""Nothing outside of a folder is ever listed or opened, whatever a path or a link says."""

from __future__ import annotations

import os
import threading
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from muleteer.documents.folders import Stamp, list_below, open_below, shown

REFUSED = "no file can have|No such file|Not a directory|Is a directory|symbolic links|name too long"
SECRET = b"nobody may read this"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder with a file, a folder and links to a secret beside it."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.txt").write_bytes(SECRET)
    folder = tmp_path / "root"
    (folder / "in").mkdir(parents=True)
    (folder / "in" / "a.txt").write_text("inside")
    (folder / "link.txt").symlink_to(tmp_path / "outside" / "secret.txt")
    (folder / "links").symlink_to(tmp_path / "outside")
    (folder / "in" / "up").symlink_to("../..")
    return folder


def read(root: Path, path: str) -> bytes:
    with open_below(root, path) as file:
        return file.read()


def test_a_file_is_opened(root: Path) -> None:
    assert read(root, "in/a.txt") == b"inside"


@pytest.mark.parametrize(
    "path",
    [
        *("link.txt", "links/secret.txt", "in/up/outside/secret.txt", "../outside/secret.txt"),
        *("in/../../outside/secret.txt", "/etc/passwd", "in//a.txt", "./in/a.txt", "", "in/", "in/a.txt/"),
        *("in", "in/a.txt\0", "missing/a.txt", "x" * 256),
    ],
)
def test_what_is_no_plain_way_to_a_file_is_refused(root: Path, path: str) -> None:
    with pytest.raises(OSError, match=REFUSED):
        open_below(root, path)


NAMES = ("in", "a.txt", "up", "link.txt", "links", "secret.txt", "outside", "root", "..", ".", "")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(NAMES), max_size=8))
def test_no_path_leads_out(root: Path, names: list[str]) -> None:
    with suppress(OSError):
        assert read(root, "/".join(names)) == b"inside"


def test_a_link_swapped_in_between_look_and_open_leads_nowhere(root: Path) -> None:
    """A thread exchanges a folder and a link to the outside all the time; the secret is never read."""
    real, link = root / "real", root / "swap"
    real.mkdir()
    (real / "secret.txt").write_bytes(b"decoy")
    (root / "spare").symlink_to(root.parent / "outside")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(real, link)
            os.rename(link, real)
            os.rename(root / "spare", link)
            os.rename(link, root / "spare")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set()
    try:
        for _ in range(2_000):
            with suppress(FileNotFoundError, NotADirectoryError):
                seen.add(read(root, "swap/secret.txt"))
    finally:
        stop.set()
        thread.join()
    assert seen <= {b"decoy"}


def test_a_fifo_or_device_holds_nobody_up(root: Path) -> None:
    os.mkfifo(root / "pipe.txt")
    with pytest.raises(OSError, match="not a regular file"):
        open_below(root, "pipe.txt")
    assert list_below(root, "").left_out["devices"] == 1


def test_the_folder_itself_may_be_a_link(root: Path, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(root)
    assert read(tmp_path / "alias", "in/a.txt") == b"inside"


def test_a_listing_has_stamps_and_counts_what_it_leaves_out(root: Path) -> None:
    (root / ".hidden").mkdir()
    (root / "b.txt").write_text("four")
    listing = list_below(root, "")
    status = (root / "b.txt").stat()
    assert listing.files == {"b.txt": Stamp(4, status.st_mtime_ns, status.st_ino)}
    assert listing.folders == ["in"]
    assert listing.left_out == {"links": 2, "hidden": 1}


def test_the_state_folder_is_not_listed(root: Path) -> None:
    status = (root / "in").stat()
    assert list_below(root, "", (status.st_dev, status.st_ino)).folders == []


@pytest.mark.parametrize("folder", ["links", "..", "in/up", "/", "in/a.txt"])
def test_only_folders_below_are_listed(root: Path, folder: str) -> None:
    with pytest.raises(OSError, match=REFUSED):
        list_below(root, folder)


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"plain name.txt", "plain name.txt"),
        (b"two\nlines\t.txt", "two lines .txt"),
        (b"bell\x07.txt", "bell\ufffd.txt"),
        (b"caf\xe9.txt", "caf\ufffd.txt"),
        ("caf\u00e9.txt".encode(), "caf\u00e9.txt"),
        ("exe\u202etxt.pdf".encode(), "exetxt.pdf"),
        (b"<|im_end|>.txt", "<|im_end|>.txt"),
        (b"\n", "\ufffd"),
        (b"\x1b[31mred", "\ufffd[31mred"),
    ],
)
def test_a_name_is_shown_safely(raw: bytes, text: str) -> None:
    assert shown(os.fsdecode(raw)) == text


@given(st.binary(min_size=1, max_size=255))
def test_whatever_a_name_is_it_is_shown_on_one_line(raw: bytes) -> None:
    text = shown(os.fsdecode(raw))
    assert text
    assert text.isprintable()
    assert all(unicodedata.category(sign) not in ("Cc", "Cf", "Zl", "Zp", "Cs") for sign in text)
    assert text.encode()
