"""A Unix socket of our own at a path: never open to the wrong people, never taken from a living daemon.

Knows the file system's side of a listening socket. Does not know what is served on it.

Who may touch the path is settled by a lock file beside it, held as long as the socket lives: of two
daemons that start in the same instant one gets the lock, and only its holder probes, removes and binds.
A program that ignores the lock is still noticed by the probe.
"""

from __future__ import annotations

import errno
import grp
import os
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from muleteer.errors import InUseError, SocketError
from muleteer.lock import HeldError, LockFile

LONGEST_PATH = 107  # bytes: sun_path of unix(7) holds 108, the last of them zero
BACKLOG = 64  # connections not yet accepted; the loop accepts within milliseconds unless the board swaps
PROBE_SECONDS = 1.0  # a listening socket accepts at once; only one with a full backlog lets us wait
FOLDER_UMASK = 0o022  # new folders are 0755: the socket's own mode decides who may connect
SOCKET_UMASK = 0o177  # 0600 until chmod


class UnixListener:
    """A bound and listening Unix socket, and the file it is known by."""

    def __init__(self, path: Path, sock: socket.socket, lock: LockFile) -> None:
        self.path = path
        self.socket = sock
        self._identity = os.stat(path)
        self._lock = lock

    def close(self) -> None:
        """Close the socket and remove its file if that file is still ours; harmless when repeated."""
        self.socket.close()
        try:
            if os.path.samestat(os.lstat(self.path), self._identity):
                self.path.unlink()
        except FileNotFoundError:
            pass
        finally:
            self._lock.release()


def listen_unix(path: Path, mode: int = 0o660, group: str = "") -> UnixListener:
    """Listen at `path` with exactly `mode`, owned by `group` if given (name or number).

    Raises `InUseError` when another daemon answers there, `SocketError` when something else lies there, and
    when the folder, the file or its group cannot be made.
    """
    path = path.absolute()
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise SocketError(
            f"The socket path {path} is {len(os.fsencode(path))} bytes long and the system allows "
            f"{LONGEST_PATH}; choose a shorter one with --socket."
        )
    gid = _group_id(group)
    with _told(f"make the socket {path}"):
        with _umask(FOLDER_UMASK):
            path.parent.mkdir(parents=True, exist_ok=True)
        try:
            lock = LockFile(path.with_name(path.name + ".lock"))
        except HeldError as error:
            raise _in_use(path, error.pid) from None
    try:
        with _told(f"make the socket {path}"):
            _clear(path)
            return UnixListener(path, _bind(path, mode, gid), lock)
    except BaseException:
        lock.release()
        raise


def _bind(path: Path, mode: int, gid: int) -> socket.socket:
    """Nobody can connect before `listen`, and by then owner and mode are right."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        with _umask(SOCKET_UMASK):
            sock.bind(str(path))
        try:
            if gid >= 0:
                os.chown(path, -1, gid, follow_symlinks=False)
            os.chmod(path, mode)
            sock.listen(BACKLOG)
            sock.setblocking(False)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
    except BaseException:
        sock.close()
        raise
    return sock


def _clear(path: Path) -> None:
    """Make way at `path`: a socket that nobody answers on is left over and goes, anything else stays."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(found.st_mode):
        raise SocketError(
            f"{path} exists and is not a socket; remove it yourself or choose another with --socket."
        )
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(PROBE_SECONDS)
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink(missing_ok=True)
        except FileNotFoundError:
            return
        except (TimeoutError, BlockingIOError):
            raise _in_use(path) from None
        else:
            raise _in_use(path)


def _in_use(path: Path, pid: int | None = None) -> InUseError:
    who = f"Another daemon (process {pid})" if pid else "Another daemon"
    return InUseError(f"{who} answers on {path}; stop it or use --socket.")


def _group_id(group: str) -> int:
    """-1 leaves the group as it is."""
    if not group:
        return -1
    try:
        return int(group) if group.isdecimal() else grp.getgrnam(group).gr_gid
    except KeyError:
        raise SocketError(
            f"There is no group {group!r} on this machine; set gateway.socket_group to one."
        ) from None


@contextmanager
def _umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


@contextmanager
def _told(what: str) -> Iterator[None]:
    """Any failure of the file system as a sentence with the file it was about."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else str(error)
        about = f" ({error.filename})" if error.filename else ""
        advice = "choose another group" if error.errno == errno.EPERM else "choose another path with --socket"
        raise SocketError(f"Cannot {what}: {reason}{about}; {advice}.") from error
