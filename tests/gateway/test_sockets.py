from __future__ import annotations

import asyncio
import contextlib
import grp
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.errors import InUseError, SocketError
from muleteer.gateway.sockets import LONGEST_PATH, listen_unix


@contextlib.contextmanager
def umask(mask: int) -> Iterator[None]:
    before = os.umask(mask)
    try:
        yield
    finally:
        os.umask(before)


def stale(path: Path) -> None:
    """What a daemon leaves behind that was killed."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("mode", [0o600, 0o660])
def test_mode_is_exact_under_any_umask(folder: Path, mask: int, mode: int) -> None:
    path = folder / "run" / "s"
    with umask(mask):
        listener = listen_unix(path, mode)
        assert os.umask(mask) == mask
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o755
    listener.close()


def test_nobody_else_may_connect_before_the_mode_is_set(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def chmod(path: Path, mode: int) -> None:
        seen.append(stat.S_IMODE(path.stat().st_mode))
        with socket.socket(socket.AF_UNIX) as client, pytest.raises(ConnectionRefusedError):
            client.connect(str(path))

    monkeypatch.setattr(os, "chmod", chmod)
    with umask(0):
        listen_unix(folder / "s").close()
    assert seen == [0o600]


def test_group_by_name_owns_the_socket(folder: Path) -> None:
    group = grp.getgrgid(os.getgid()).gr_name
    listener = listen_unix(folder / "s", group=group)
    assert listener.path.stat().st_gid == os.getgid()
    listener.close()


def test_unknown_group_is_named(folder: Path) -> None:
    with pytest.raises(SocketError, match="no group 'mulish-nobodies'"):
        listen_unix(folder / "s", group="mulish-nobodies")
    assert list(folder.iterdir()) == []


def test_longest_path_works_and_one_byte_more_is_refused(folder: Path) -> None:
    longest = folder / ("x" * (LONGEST_PATH - len(str(folder)) - 1))
    listen_unix(longest).close()
    with pytest.raises(SocketError, match="108 bytes long and the system allows 107"):
        listen_unix(longest.with_name(longest.name + "x"))


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_is_not_a_socket_stays(folder: Path, kind: str) -> None:
    path = folder / "s"
    match kind:
        case "file":
            path.write_text("precious")
        case "folder":
            path.mkdir()
        case _:
            path.symlink_to("elsewhere")
    with pytest.raises(SocketError, match="is not a socket"):
        listen_unix(path)
    assert [each.name for each in folder.iterdir()] == ["s"]


def test_stale_socket_is_taken_over(folder: Path) -> None:
    path = folder / "s"
    stale(path)
    listener = listen_unix(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    listener.close()


def test_answering_socket_of_another_program_is_left_alone(folder: Path) -> None:
    path = folder / "s"
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen()
        with pytest.raises(InUseError, match=r"Another daemon answers on .*; stop it or use --socket"):
            listen_unix(path)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))


def test_full_backlog_counts_as_answering(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muleteer.gateway.sockets.PROBE_SECONDS", 0.01)
    path = folder / "s"
    with contextlib.ExitStack() as stack:
        other = stack.enter_context(socket.socket(socket.AF_UNIX))
        other.bind(str(path))
        other.listen(0)
        stack.enter_context(socket.socket(socket.AF_UNIX)).connect(str(path))
        with pytest.raises(InUseError):
            listen_unix(path)


def test_second_daemon_is_told_the_first_ones_process(folder: Path) -> None:
    listener = listen_unix(folder / "s")
    with pytest.raises(InUseError, match=rf"\(process {os.getpid()}\)"):
        listen_unix(folder / "s")
    listener.close()
    listen_unix(folder / "s").close()


STARTER = """
import sys
from pathlib import Path
from muleteer.errors import InUseError
from muleteer.gateway.sockets import listen_unix
sys.stdin.readline()
try:
    listener = listen_unix(Path(sys.argv[1]))
except InUseError:
    print("refused", flush=True)
else:
    print("listens", flush=True)
    sys.stdin.readline()
"""


def test_of_many_that_start_in_one_instant_one_wins(folder: Path) -> None:
    path = folder / "s"
    stale(path)
    command = [sys.executable, "-c", STARTER, str(path)]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with contextlib.ExitStack() as stack:
        many = [stack.enter_context(subprocess.Popen(command, text=True, **pipes)) for _ in range(4)]  # type: ignore[call-overload]  # one dict for both pipes
        for each in many:
            each.stdin.write("go\n")
            each.stdin.flush()
        said = sorted(each.stdout.readline().strip() for each in many)
        assert said == ["listens", "refused", "refused", "refused"]
        for each in many:
            each.communicate("end\n", timeout=10)


def test_close_removes_socket_and_lock_and_may_be_repeated(folder: Path) -> None:
    listener = listen_unix(folder / "s")
    assert sorted(each.name for each in folder.iterdir()) == ["s", "s.lock"]
    listener.close()
    listener.close()
    assert list(folder.iterdir()) == []


def test_close_leaves_what_another_put_in_our_place(folder: Path) -> None:
    listener = listen_unix(folder / "s")
    listener.path.rename(folder / "moved")  # keeps our inode number in use
    stale(listener.path)
    theirs = listener.path.stat()
    listener.close()
    assert os.path.samestat(listener.path.stat(), theirs)


@pytest.mark.parametrize("blocked", ["parent", "file in the way"])
def test_folder_that_cannot_be_made_is_a_sentence(folder: Path, blocked: str) -> None:
    if blocked == "parent":
        path = Path("/proc/mule/s")
    else:
        (folder / "file").write_text("")
        path = folder / "file" / "s"
    with pytest.raises(SocketError, match=r"Cannot make the socket .*; choose another path with --socket\."):
        listen_unix(path)


async def test_clients_connect_once_it_listens(folder: Path) -> None:
    listener = listen_unix(folder / "s")
    _, writer = await asyncio.open_unix_connection(str(folder / "s"))
    writer.close()
    await writer.wait_closed()
    listener.close()
