"""State files: prefixes of the context on disk, so that a start restores instead of decoding.

A file is named after the model, the build and the tokens it is for, and says so inside; it is written to a
temporary name by a thread of its own and renamed. llama.cpp never reads one: what is read here is returned
only after its checksum matched. Damaged and foreign files are ignored and replaced. A file that a power cut
emptied is a damaged one, so nothing waits for the disk.

    magic  checksum (of all that follows)  identity (of model and build)  sizes of tokens and state
    whether the prefix is constant  tokens  state

One thread writes and removes, in order, so that the folder is what the index says; nobody waits for the disk.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import logging
import os
import struct
from array import array
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from operator import itemgetter
from pathlib import Path

from muleteer.engine.parking import Parked, Tier
from muleteer.files import open_regular, read_whole

MAGIC = b"muleteer prefix\x03"
HEAD = struct.Struct(f"<{len(MAGIC)}s32s32sIQ?")
SUFFIX = ".state"
UNFINISHED = ".new"
MOST_TOKENS = 131_072  # the largest context that can be set
PENDING = (
    4  # states waiting for the disk, each up to tens of megabytes; what comes then is saved another time
)
CLOSE_SECONDS = (
    3.0  # for the writes that are under way; an unfinished file is only swept up at the next start
)
FORGET_SECONDS = 30.0  # for the writes that are under way and the removals after them, on a slow card

# A file of gigabytes is not read twice for its name: these pieces, its size and its time tell models apart.
PIECES, PIECE_BYTES = 1024, 4096

_log = logging.getLogger(__name__)


def identify(model: Path, build: str) -> bytes:
    """32 bytes for one model file under one build of llama.cpp: states fit no other."""
    digest = hashlib.blake2b(build.encode(), digest_size=32)
    with model.open("rb") as file:
        status = os.fstat(file.fileno())
        digest.update(struct.pack("<qq", status.st_size, status.st_mtime_ns))
        for i in range(PIECES):
            file.seek(i * status.st_size // PIECES)
            digest.update(file.read(PIECE_BYTES))
    return digest.digest()


class StateFiles:
    """The folder of one daemon: at most `limit` bytes, and what people said only if `talks`. `ignored` counts
    files that were damaged or are no state files."""

    def __init__(self, folder: Path, identity: bytes, limit: int, talks: bool = False) -> None:
        self._folder, self._identity = folder, identity
        self.tier, self.talks = Tier(limit), talks
        self.ignored = 0
        self._writes: dict[str, tuple[bytes, Future[bool]]] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="states")
        self._complained = False
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._index()

    def holds(self, tokens: Sequence[int]) -> bool:
        """Whether exactly these tokens are here, or will be soon."""
        return key(self._identity, tokens) in self.tier

    def save(self, tokens: Sequence[int], state: bytes, constant: bool = True) -> None:
        """Write soon, unless it is there or the disk is behind (it is decoded again then). A disk that is
        full or gone is said once in the log."""
        self.settle()
        name = key(self._identity, tokens)
        size = HEAD.size + 4 * len(tokens) + len(state)
        if name in self.tier or not self.tier.fits(size) or len(self._writes) >= PENDING:
            return
        parked = Parked(name, tuple(tokens), size, constant)
        for gone in self.tier.put(parked):
            self._remove(gone.key)
        if name in self.tier:
            self._writes[name] = state, self._writer.submit(self._write, parked, state)

    def load(self, parked: Parked) -> bytes | None:
        """The state of an indexed prefix; None, and the file is forgotten, when it cannot be trusted."""
        self.settle()
        if parked.key not in self.tier:
            return None
        if write := self._writes.get(parked.key):
            return write[0]
        state = self._read(parked)
        if state is None:
            self.ignored += 1
            _log.warning("A saved prefix was damaged; it is ignored and will be written again.")
            self.forget(parked)
            return None
        self.tier.touch(parked.key)
        with contextlib.suppress(OSError):  # the order of use is a convenience
            os.utime(self._path(parked.key))
        return state

    def forget(self, parked: Parked) -> None:
        """This state is of no use; it will be written again."""
        self.tier.drop(parked.key)
        self._remove(parked.key)

    def forget_talks(self) -> bool:
        """Remove what people said, also what is being written; whether nothing of it is left."""
        for parked in [each for each in self.tier if not each.constant]:
            self.tier.drop(parked.key)
        removing = self._writer.submit(remove_talks, self._folder)
        done, _ = wait([removing], FORGET_SECONDS)
        self.settle()
        return bool(done) and removing.result()

    def close(self) -> None:
        """Let the writes and removals under way finish."""
        wait([self._writer.submit(int)], CLOSE_SECONDS)
        self._writer.shutdown(wait=False, cancel_futures=True)

    def settle(self) -> None:
        """Look at the writes that are done: what could not be written is not there."""
        for name, (_, write) in list(self._writes.items()):
            if write.done():
                del self._writes[name]
                if not write.result():
                    self.tier.drop(name)

    def _index(self) -> None:
        """Find what is there, the file used longest ago first; sweep up what was never finished."""
        for path in self._folder.glob(f"*{UNFINISHED}"):
            _unlink(path)
        found: list[tuple[int, Parked]] = []
        for path in self._folder.glob(f"*{SUFFIX}"):
            try:
                found.append(self._indexed(path))
            except FileNotFoundError:  # somebody else tidies up
                continue
            except (OSError, struct.error, ValueError):
                self.ignored += 1
                _log.warning("%s is no saved prefix, or a damaged one; it is removed.", path.name)
                _unlink(path)
        for _, parked in sorted(found, key=itemgetter(0)):
            wanted = self.tier.fits(parked.size) and (parked.constant or self.talks)
            gone = self.tier.put(parked) if wanted else [parked]
            for each in gone:
                self._remove(each.key)

    def _indexed(self, path: Path) -> tuple[int, Parked]:
        """When a file was used last, and what it says it holds (no tokens if it is another model's). Raises
        `ValueError` and others if it is not a whole state file."""
        with open_regular(path) as file:
            status = os.fstat(file.fileno())
            magic, _, identity, count, length, constant = HEAD.unpack(file.read(HEAD.size))
            if magic != MAGIC or count > MOST_TOKENS or status.st_size != HEAD.size + 4 * count + length:
                raise ValueError("another magic or length")
            tokens = array("I", file.read(4 * count))
        if path.stem != key(identity, tokens):
            raise ValueError("another name")
        known = tuple(tokens) if identity == self._identity else ()
        return status.st_mtime_ns, Parked(path.stem, known, status.st_size, constant)

    def _read(self, parked: Parked) -> bytes | None:
        try:
            with open_regular(self._path(parked.key)) as file:
                data = read_whole(file, parked.size)
            magic, checksum, identity, count, _, constant = HEAD.unpack_from(data)
        except (OSError, struct.error):
            return None
        body = memoryview(data)[len(MAGIC) + 32 :]
        if magic != MAGIC or identity != self._identity or count != len(parked.tokens):
            return None
        if constant != parked.constant:
            return None
        if hashlib.blake2b(body, digest_size=32).digest() != checksum:
            return None
        start = HEAD.size + 4 * count
        return data[start:] if data[HEAD.size : start] == _packed(parked.tokens) else None

    def _write(self, parked: Parked, state: bytes) -> bool:
        """In the writer's thread; whether it is there now."""
        packed = _packed(parked.tokens)
        counts = struct.pack("<IQ?", len(parked.tokens), len(state), parked.constant)
        checksum = hashlib.blake2b(digest_size=32)
        for part in (self._identity, counts, packed, state):
            checksum.update(part)
        path = self._path(parked.key)
        unfinished = path.with_suffix(UNFINISHED)
        try:
            with open(os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
                file.writelines((MAGIC, checksum.digest(), self._identity, counts, packed, state))
            unfinished.rename(path)
        except OSError as error:
            if not self._complained:
                _log.warning("Prefixes cannot be saved in %s: %s.", self._folder, error.strerror)
            self._complained = True
            _unlink(unfinished)
            return False
        return True

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}{SUFFIX}"

    def _remove(self, name: str) -> None:
        """After the writes before it."""
        self._writer.submit(_unlink, self._path(name))


def remove_talks(folder: Path) -> bool:
    """Remove the files of a folder that hold what people said, of whatever model, and what was never
    finished; whether all are gone. A file that does not say that it is constant is taken to hold it."""
    doomed = [*folder.glob(f"*{UNFINISHED}"), *itertools.filterfalse(_is_constant, folder.glob(f"*{SUFFIX}"))]
    for path in doomed:
        _unlink(path)
    return not any(map(os.path.lexists, doomed))


def _is_constant(path: Path) -> bool:
    try:
        with open_regular(path) as file:
            magic, *_, constant = HEAD.unpack(file.read(HEAD.size))
    except (OSError, struct.error):
        return False
    return bool(magic == MAGIC and constant)


def _unlink(path: Path) -> None:
    """Remove a file; one that cannot be removed is as good as ignored."""
    with contextlib.suppress(OSError):
        path.unlink()


def key(identity: bytes, tokens: Sequence[int]) -> str:
    """The name of these tokens under one model and build."""
    return hashlib.blake2b(identity + _packed(tokens), digest_size=16).hexdigest()


def _packed(tokens: Sequence[int]) -> bytes:
    return array("I", tokens).tobytes()
