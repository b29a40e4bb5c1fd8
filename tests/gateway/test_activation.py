"""Sockets that a service manager hands over, by its protocol: descriptors from 3 on, three variables."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from muleteer.gateway.activation import Listeners

# What a service manager does: puts the sockets at 3, 4, ... and names them; then the process looks.
CHILD = """
import json, os, sys
from muleteer.gateway.activation import Listeners
names, *numbers = sys.argv[1:]
numbers = [int(number) for number in numbers]
high = [os.dup2(number, 50 + index) for index, number in enumerate(numbers)]
for index, number in enumerate(high):
    os.dup2(number, 3 + index)
environment = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(high)), "A": "b"}
environment["LISTEN_FDNAMES"] = names
taken = Listeners.take(environment)
unix = taken.unix
print(json.dumps({
    "path": str(unix.path) if unix else None,
    "left": environment,
    "inheritable": unix.socket.get_inheritable() if unix else None,
    "blocking": unix.socket.getblocking() if unix else None,
    "tcp": [sock.getsockname()[1] for sock in taken.tcp],
}))
if unix:
    unix.close()
taken.refuse_tcp("")
"""


def handed_over(names: str, *sockets: socket.socket) -> dict[str, object]:
    """What a process says that was started with these sockets."""
    numbers = [each.fileno() for each in sockets]
    done = subprocess.run(
        [sys.executable, "-c", CHILD, names, *map(str, numbers)],
        pass_fds=numbers,
        capture_output=True,
        text=True,
        check=True,
    )
    said: dict[str, object] = json.loads(done.stdout)
    return said


def listening(path: Path) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(str(path))
    sock.listen()
    return sock


def test_the_unix_socket_is_taken_by_its_name_and_its_file_stays(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.create_server(("127.0.0.1", 0)) as port, listening(path) as unix:
        said = handed_over("lan:unix", port, unix)
        assert said == {
            "path": str(path),
            "left": {"A": "b"},
            "inheritable": False,
            "blocking": False,
            "tcp": [],
        }
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))  # still there, and still listened on


def test_what_is_no_listening_unix_socket_is_not_served(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as port:
        assert handed_over("unix", port)["path"] is None
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as datagrams:
        datagrams.bind(str(tmp_path / "d"))
        assert handed_over("unix", datagrams)["path"] is None


def test_sockets_of_another_process_are_left_alone() -> None:
    environment = {"LISTEN_PID": str(os.getpid() + 1), "LISTEN_FDS": "1", "LISTEN_FDNAMES": "unix"}
    assert Listeners.take(environment) == Listeners()
    assert environment == {}
    assert Listeners.take({}) == Listeners()


def test_tcp_sockets_are_taken_by_their_name(tmp_path: Path) -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as first,
        socket.create_server(("127.0.0.1", 0)) as second,
        listening(tmp_path / "s") as unix,
    ):
        ports = [first.getsockname()[1], second.getsockname()[1]]
        assert handed_over("tcp:unix:tcp", first, unix, second)["tcp"] == ports
        assert handed_over("tcp", unix)["tcp"] == []
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))
        assert handed_over("tcp", deaf)["tcp"] == []
