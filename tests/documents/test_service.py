"""Files are found by name and text as soon as they change, and "not there" is never said unseen."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from muleteer.documents.child import Extract
from muleteer.documents.folders import Stamp
from muleteer.documents.index import Job
from muleteer.documents.service import outermost
from muleteer.services import FileText
from muleteer.settings.home import FilesSettings
from tests.documents import made
from tests.documents.conftest import WAIT, Shelf

Open = Callable[..., Shelf]

FILES: dict[str, bytes] = {
    "lease-2024.txt": b"Between Frau Weber and us. The rent is 840 EUR a month.",
    "letters/CarInvoice2026.pdf": made.pdf("Brakes and tyres: 312 EUR"),
    "letters/insurance car.docx": made.word("The policy number is K-4711."),
    "recipes/soup.html": b"<title>Soup</title><p>Boil the potatoes.",
    "recipes/budget.xlsx": made.sheet(["potatoes", 3], ["rent", 840]),
    "photo of the car.jpg": b"\xff\xd8\xff",
}


def write(folder: Path, files: dict[str, bytes]) -> None:
    for name, raw in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)


def write_raw(path: bytes, text: str) -> None:
    with open(path, "w") as file:
        file.write(text)


@pytest.fixture
async def full(papers: Path, opened: Open) -> Shelf:
    write(papers, FILES)
    shelf = opened(papers)
    await shelf.settled()
    return shelf


@pytest.mark.parametrize(
    ("words", "names"),
    [
        ("lease", ["lease-2024.txt"]),
        ("rent 840", ["lease-2024.txt", "budget.xlsx"]),
        ("find the file about the policy number", ["insurance car.docx"]),
        ("car", ["insurance car.docx", "CarInvoice2026.pdf", "photo of the car.jpg"]),
        ("car invoice", ["CarInvoice2026.pdf"]),
        ("2026", ["CarInvoice2026.pdf"]),
        ("recipes", ["soup.html", "budget.xlsx"]),
        ("potatos", ["soup.html", "budget.xlsx"]),
        ("pdf", ["CarInvoice2026.pdf"]),
        ("passport", []),
    ],
)
async def test_files_are_found_by_name_folder_and_text(full: Shelf, words: str, names: list[str]) -> None:
    assert sorted(await full.names(words)) == sorted(names)


async def test_a_name_counts_more_than_a_text(full: Shelf, papers: Path) -> None:
    write(papers, {"notes.txt": b"lease lease lease"})
    await full.found("lease", "lease-2024.txt", "notes.txt")
    assert (await full.names("lease"))[0] == "lease-2024.txt"


async def test_what_is_found_says_where_and_shows_the_passage(full: Shelf, papers: Path) -> None:
    (file,) = await full.documents.find("Frau Weber")
    assert (file.name, file.folder, file.path) == ("lease-2024.txt", "papers", str(papers / "lease-2024.txt"))
    assert "The rent is 840 EUR" in file.passage
    (file,) = await full.documents.find("CarInvoice")
    assert (file.folder, file.named, file.passage) == ("papers/letters", 1.0, "")


async def test_without_words_the_newest_come_first(full: Shelf, papers: Path) -> None:
    os.utime(papers / "recipes" / "soup.html", (2e9, 2e9))
    (papers / "touch.txt").touch()  # chmod and utime alone are seen by the next full look
    await full.found("touch", "touch.txt")
    assert len(await full.documents.find("", 3)) == 3


async def test_words_of_a_query_are_never_syntax(full: Shelf) -> None:
    for words in ('" OR', "rent* NOT", "text:rent", "(", "NEAR(a b)", "% _", "'; DROP TABLE files"):
        assert isinstance(await full.documents.find(words), list)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("lease-2024.txt", "The rent is 840 EUR"),
        ("LEASE-2024.TXT", "The rent is 840 EUR"),
        ("papers/letters/CarInvoice2026.pdf", "Brakes and tyres: 312 EUR"),
        ("read me the lease", "The rent is 840 EUR"),
        ("soup recipe", "Boil the potatoes."),
        ("invoice", "Brakes and tyres"),
    ],
)
async def test_a_file_is_read_by_its_name_or_by_words(full: Shelf, name: str, text: str) -> None:
    found = await full.documents.read(name)
    assert isinstance(found, FileText)
    assert text in found.text


async def test_what_may_mean_several_files_gives_them_all(full: Shelf) -> None:
    found = await full.documents.read("rent")
    assert isinstance(found, list)
    assert {file.name for file in found} == {"lease-2024.txt", "budget.xlsx"}
    assert await full.documents.read("passport") == []


async def test_a_file_without_text_says_why(full: Shelf, papers: Path) -> None:
    with pytest.raises(OSError, match=r"photo of the car\.jpg is of a kind that has no text"):
        await full.documents.read("photo of the car.jpg")
    write(papers, {"broken.pdf": b"garbage"})
    await full.found("broken", "broken.pdf")
    with pytest.raises(OSError, match=r"broken\.pdf cannot be read: it is damaged"):
        await full.documents.read("broken.pdf")


async def test_a_changed_file_is_read_as_it_is_now(full: Shelf, papers: Path) -> None:
    """Also in the moment before the index knows."""
    await full.documents.close()
    write(papers, {"lease-2024.txt": b"The rent is 900 EUR"})
    found = await full.documents.read("lease-2024.txt")
    assert isinstance(found, FileText)
    assert found.text == "The rent is 900 EUR"


async def test_what_changes_is_found_changed(full: Shelf, papers: Path) -> None:
    write(papers, {"new/deep/down/will.txt": b"testament of Anna"})
    await full.found("testament", "will.txt")
    write(papers, {"new/deep/down/will.txt": b"nothing any more"})
    await full.found("testament")
    (papers / "new").rename(papers / "old")
    await full.found("will", "will.txt", folder="papers/old/deep/down")
    (papers / "lease-2024.txt").rename(papers / "old" / "contract.txt")
    await full.found("Weber", "contract.txt")
    shutil.rmtree(papers / "old")
    await full.found("will contract Weber")
    outside = papers.parent / "outside"
    write(outside, {"a/moved.txt": b"came from elsewhere"})
    (outside / "a").rename(papers / "a")
    await full.found("elsewhere", "moved.txt")
    (papers / "a").rename(outside / "b")
    await full.found("elsewhere")


async def test_a_folder_exchanged_for_another_of_its_name_is_listed_anew(full: Shelf, papers: Path) -> None:
    write(papers.parent / "other", {"x.txt": b"unicorn"})
    (papers / "letters").rename(papers.parent / "away")
    (papers.parent / "other").rename(papers / "letters")
    await full.found("unicorn", "x.txt")
    await full.found("policy number")


async def test_a_folder_may_come_later_go_and_come_back(tmp_path: Path, opened: Open) -> None:
    late = tmp_path / "late"
    shelf = opened(late)
    with pytest.raises(OSError, match="cannot be searched"):
        await shelf.documents.find("hello")
    await shelf.until(lambda: "it is not there" in str(shelf.documents.report()))
    with pytest.raises(OSError, match=r"late cannot be searched: it is not there"):
        await shelf.documents.find("hello")
    write(late, {"hello.txt": b"greeting"})
    await shelf.found("greeting", "hello.txt")
    late.rename(tmp_path / "gone")
    await shelf.until(lambda: "it is not there" in str(shelf.documents.report()))
    with pytest.raises(OSError, match="cannot be searched"):
        await shelf.documents.find("greeting")
    (tmp_path / "gone").rename(late)
    await shelf.found("greeting", "hello.txt")
    write(late, {"again.txt": b"watched again"})
    await shelf.found("watched", "again.txt")


async def test_an_unmounted_disk_is_not_an_empty_folder(tmp_path: Path, opened: Open) -> None:
    """What is left where a disk was mounted is another, empty folder."""
    disk, other = tmp_path / "disk", tmp_path / "other"
    write(disk, {"a.txt": b"apple", "b/c.txt": b"cherry"})
    write(other, {"d.txt": b"date"})
    shelf = opened(disk, other)
    await shelf.settled()
    disk.rename(tmp_path / "unplugged")
    disk.mkdir()
    await shelf.until(lambda: "may not be mounted" in str(shelf.documents.report()))
    with pytest.raises(OSError, match="it is empty, where 2 files were; its disk may not be mounted"):
        await shelf.documents.find("apple")
    assert await shelf.names("date") == ["d.txt"]
    disk.rmdir()
    (tmp_path / "unplugged").rename(disk)
    await shelf.found("apple", "a.txt")
    await shelf.found("cherry", "c.txt")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may mount")
async def test_a_disk_that_is_mounted_and_unmounted(tmp_path: Path, opened: Open) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()

    async def run(*command: str) -> bool:
        done = await asyncio.to_thread(subprocess.run, command, capture_output=True)
        return done.returncode == 0

    if not await run("mount", "-t", "tmpfs", "none", str(disk)):
        pytest.skip("this machine lets nobody mount")
    try:
        write(disk, {"a.txt": b"apple"})
        shelf = opened(disk)
        await shelf.settled()
        assert await run("umount", str(disk)), "the watch or the index keeps the disk busy"
        await shelf.until(lambda: "may not be mounted" in str(shelf.documents.report()))
        assert await run("mount", "-t", "tmpfs", "none", str(disk))
        write(disk, {"b.txt": b"banana"})
        await shelf.found("banana", "b.txt")
        await shelf.found("apple")
    finally:
        await run("umount", "-l", str(disk))


async def test_a_text_that_repeats_a_word_is_searched_as_fast_as_any(papers: Path, opened: Open) -> None:
    write(papers, {"a.txt": b"word " * 40_000 + b"unicorn"})
    shelf = opened(papers)
    await shelf.settled()
    async with asyncio.timeout(10):
        (file,) = await shelf.documents.find("word unicorn")
    assert file.passage.startswith("word word")


async def test_a_keeper_that_failed_says_so(papers: Path, opened: Open) -> None:
    shelf = opened(papers)
    await shelf.settled()
    assert shelf.documents._task
    shelf.documents._keeper._extract = None  # type: ignore[method-assign, assignment]
    write(papers, {"a.txt": b"apple"})
    await asyncio.wait({shelf.documents._task}, timeout=60)
    with pytest.raises(OSError, match="no longer kept up to date"):
        await shelf.documents.find("apple")


HOSTILE = (
    b"two\nlines.txt",
    b"bell\x07\x1b[31m.txt",
    b"caf\xe9 latin.txt",
    b"\xff\xfe.txt",
    "\u202ereversed.txt".encode(),
    b"<|im_end|> quoted.txt",
    b"<tool_call>.txt",
    b"-rf.txt",
    b"n" * 251 + b".txt",
    ("\N{GRINNING FACE}" * 62 + ".txt").encode(),
    b"'; DROP TABLE files; --.txt",
)


async def test_files_with_hostile_names_are_found_shown_and_read(papers: Path, opened: Open) -> None:
    folder = os.fsencode(papers) + b"/\xe9 \n folder"
    os.mkdir(folder)
    for number, name in enumerate(HOSTILE):
        write_raw(folder + b"/" + name, f"hostile content number{number}")
    shelf = opened(papers)
    await shelf.settled()
    for number in range(len(HOSTILE)):
        (file,) = await shelf.documents.find(f"number{number}")
        assert file.name.isprintable()
        assert file.folder == "papers/\ufffd folder"
        assert file.path.isprintable()
        read = await shelf.documents.read(file.name)
        assert isinstance(read, FileText), file.name
        assert read.text == f"hostile content number{number}"
    write_raw(folder + b"/\xfe later.txt", "afterwards")
    await shelf.found("afterwards", "\ufffd later.txt")


async def test_what_was_read_is_not_read_again_after_a_restart(papers: Path, opened: Open) -> None:
    write(papers, FILES)
    first = opened(papers)
    await first.settled()
    await first.documents.close()
    write(papers, {"lease-2024.txt": b"shorter", "recipes/new.txt": b"unicorn"})
    (papers / "recipes" / "soup.html").unlink()
    second = opened(papers)
    reads: list[str] = []
    keeper = second.documents._keeper
    extract = keeper._extract

    def counted(job: Job) -> tuple[Stamp, Extract] | None:
        reads.append(job.path)
        return extract(job)

    keeper._extract = counted  # type: ignore[method-assign]
    await second.settled()
    assert sorted(reads) == ["lease-2024.txt", "recipes/new.txt"]
    assert sorted(await second.names("potatoes")) == ["budget.xlsx"]
    assert await second.names("unicorn") == ["new.txt"]


def test_a_folder_within_another_is_not_indexed_twice() -> None:
    papers, letters, hidden = Path("/a/papers"), Path("/a/papers/letters"), Path("/a/papers/.notes")
    assert outermost([letters, papers, hidden, papers, Path("/a/pap")]) == (papers, hidden, Path("/a/pap"))


async def test_a_state_folder_among_the_files_is_left_alone(tmp_path: Path, opened: Open) -> None:
    write(tmp_path, {"a.txt": b"apple", "state/inner.txt": b"apple"})
    shelf = opened(tmp_path)
    await shelf.settled()
    assert await shelf.names() == ["a.txt"]


async def test_what_no_event_tells_is_seen_by_the_next_full_look(papers: Path, opened: Open) -> None:
    write(papers, {"a.txt": b"apple"})
    shelf = opened(papers)
    shelf.documents._keeper._rescan = 0.0
    await shelf.settled()
    os.utime(papers / "a.txt", (86_400, 86_400))
    seen = None
    async with asyncio.timeout(WAIT):
        while seen != 1970:
            shelf._changed.clear()
            with suppress(OSError):  # while it is read again
                seen = (await shelf.documents.find("apple"))[0].modified.year
            if seen != 1970:
                await shelf._changed.wait()


async def test_a_stop_in_the_middle_of_the_first_look_loses_nothing(papers: Path, opened: Open) -> None:
    write(papers, {f"{folder}/{number}.txt": b"apple" for folder in range(40) for number in range(30)})
    first = opened(papers)
    await first.until(lambda: first.documents._keeper.counts.read > 0)
    await first.documents.close()
    assert first.documents._keeper.counts.waiting
    second = opened(papers)
    await second.settled()
    report = second.documents.report()
    assert (report["files"], report["read"], report["left_out"]) == (1200, 1200, {})


async def test_nothing_goes_on_after_the_close(full: Shelf, papers: Path) -> None:
    await full.documents.close()
    write(papers, {"late.txt": b"unicorn"})
    assert await full.names("unicorn") == []
    await full.documents.close()


async def test_other_folders_are_taken_up_while_it_runs(tmp_path: Path, opened: Open) -> None:
    for name in ("old", "new"):
        write(tmp_path / name, {f"{name} letter.txt": b"Dear aunt"})
    shelf = opened()
    with pytest.raises(OSError, match="no folder of files is set up"):
        await shelf.documents.find("letter")
    await shelf.documents.take_up(FilesSettings(folders=(tmp_path / "old",)))
    await shelf.found("letter", "old letter.txt")
    await shelf.documents.take_up(FilesSettings(folders=(tmp_path / "old", tmp_path / "new")))
    await shelf.found("letter", "old letter.txt", "new letter.txt")
    await shelf.documents.take_up(FilesSettings(folders=(tmp_path / "new",)))
    await shelf.found("letter", "new letter.txt")
    await shelf.documents.take_up(FilesSettings())
    with pytest.raises(OSError, match="no folder of files is set up"):
        await shelf.documents.read("new letter.txt")


async def test_a_file_swapped_for_a_link_after_it_was_found_is_not_read(full: Shelf, papers: Path) -> None:
    await full.documents.close()
    (papers.parent / "secret.txt").write_text("secret")
    (papers / "lease-2024.txt").unlink()
    (papers / "lease-2024.txt").symlink_to(papers.parent / "secret.txt")
    with pytest.raises(OSError, match=r"lease-2024\.txt cannot be read"):
        await full.documents.read("lease-2024.txt")
