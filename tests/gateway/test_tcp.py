"""The port: the configured one, the next free one, and the same one again."""

from __future__ import annotations

import json
import logging
import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from muleteer.gateway import tcp
from muleteer.gateway.activation import Listeners
from muleteer.gateway.listening import HELD, Listening
from muleteer.gateway.tcp import fits, listen_tcp
from muleteer.settings.sections import GatewaySettings
from muleteer.store.tokens import Tokens


@pytest.fixture
def taken() -> Iterator[socket.socket]:
    """A port that another program has, at IPv4 alone, and which is free at IPv6."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other


def test_ipv4_and_ipv6_listen_at_one_port(tmp_path: Path) -> None:
    with closing(listen_tcp("loopback", 0, tmp_path)) as bound:
        names = [sock.getsockname()[:2] for sock in bound.sockets]
        assert names in ([("127.0.0.1", bound.port), ("::1", bound.port)], [("127.0.0.1", bound.port)])
        assert not any(sock.getblocking() for sock in bound.sockets)


def test_a_lan_port_is_open_at_every_address(tmp_path: Path) -> None:
    with closing(listen_tcp("lan", 0, tmp_path)) as bound:
        assert bound.sockets[0].getsockname() == ("0.0.0.0", bound.port)


def test_the_next_free_port_is_taken_and_kept_even_when_the_first_becomes_free(
    tmp_path: Path, taken: socket.socket, caplog: pytest.LogCaptureFixture
) -> None:
    wanted = taken.getsockname()[1]
    with closing(listen_tcp("loopback", wanted, tmp_path)) as bound:
        used = bound.port
        assert wanted < used <= wanted + tcp.NEXT_PORTS
        assert f"Port {wanted} is taken" in caplog.text
    taken.close()
    caplog.clear()
    with closing(listen_tcp("loopback", wanted, tmp_path)) as again:
        assert again.port == used
    assert caplog.text == ""
    with closing(listen_tcp("loopback", wanted - 1, tmp_path)) as other:
        assert other.port != used  # another port is configured, so the kept one is forgotten


@pytest.mark.parametrize(
    "content", ["", "[]", '{"configured": 1, "used": "x"}', '{"used": 99999999}', "\x00"]
)
def test_a_damaged_file_of_the_last_port_is_as_none(tmp_path: Path, content: str) -> None:
    (tmp_path / tcp.FILE_NAME).write_text(content)
    with closing(listen_tcp("loopback", 0, tmp_path)) as bound:
        assert json.loads((tmp_path / tcp.FILE_NAME).read_text()) == {"configured": 0, "used": bound.port}


def test_ports_that_are_all_taken_are_an_error_for_people(
    tmp_path: Path, taken: socket.socket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tcp, "NEXT_PORTS", 0)
    with pytest.raises(OSError, match=r"taken; set gateway\.port"):
        listen_tcp("loopback", taken.getsockname()[1], tmp_path)


def test_a_machine_without_ipv6_has_ipv4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = socket.create_server

    def without(address: tuple[str, int], *, family: int, backlog: int) -> socket.socket:
        if family == socket.AF_INET6:
            raise OSError(97, "Address family not supported by protocol")
        return real(address, family=family, backlog=backlog)

    monkeypatch.setattr(socket, "create_server", without)
    with closing(listen_tcp("lan", 0, tmp_path)) as bound:
        assert [sock.family for sock in bound.sockets] == [socket.AF_INET]


def handed(address: str) -> socket.socket:
    sock = socket.create_server((address, 0))
    sock.setblocking(False)
    return sock


async def listening(folder: Path, wanted: GatewaySettings, given: Listeners) -> Listening:
    found = Listening(wanted, folder, "d" * 32, Tokens(folder / "tokens.db"))
    found.bind(given)
    return found


async def test_the_socket_of_systemd_is_used_where_it_fits(tmp_path: Path) -> None:
    sock = handed("127.0.0.1")
    found = await listening(tmp_path, GatewaySettings(listen="loopback", port=1), Listeners(tcp=(sock,)))
    assert found.report()["port"] == sock.getsockname()[1]
    assert found.lan_port == 0
    sock.close()


async def test_the_socket_of_systemd_is_not_served_where_the_settings_are_off(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    sock = handed("0.0.0.0")
    with caplog.at_level(logging.WARNING):
        found = await listening(tmp_path, GatewaySettings(), Listeners(tcp=(sock,)))
    assert (found.report()["port"], found.report()["problem"], sock.fileno()) == (0, HELD, -1)
    assert (await listening(tmp_path, GatewaySettings(), Listeners())).report()["problem"] == ""
    assert "gateway.listen is off" in caplog.text


async def test_a_socket_of_systemd_that_is_open_wider_than_wished_is_not_served(tmp_path: Path) -> None:
    sock = handed("0.0.0.0")
    found = await listening(tmp_path, GatewaySettings(listen="loopback"), Listeners(tcp=(sock,)))
    assert (found.report()["port"], sock.fileno(), found.pairing) == (0, -1, None)
    assert "muleteer install" in str(found.report()["problem"])
    with handed("127.0.0.1") as narrow:
        assert fits(narrow, "loopback")
        assert fits(narrow, "lan")
