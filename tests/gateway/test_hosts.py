"""Which Host and Origin headers are taken for ours."""

from __future__ import annotations

import pytest

from muleteer.gateway.hosts import is_local, is_ours, is_own_page, own_names

NAMES = frozenset(("localhost", "kitchen", "kitchen.local", "mule.example.net"))


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("192.168.1.20:8765", "192.168.1.20"),
        ("192.168.1.20", "192.168.1.20"),
        ("[fe80::1]:8765", "fe80::1%eth0"),
        ("[FE80:0:0::1]", "fe80::1%eth0"),
        ("[::1]:8765", "::1"),
        ("localhost:8765", "127.0.0.1"),
        ("Kitchen.local:8765", "192.168.1.20"),
        ("kitchen.local.", "192.168.1.20"),
        ("mule.example.net", "10.0.0.1"),
    ],
)
def test_a_request_for_this_device_is_one(host: str, local: str) -> None:
    assert is_ours(host, local, NAMES)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("", "127.0.0.1"),
        ("evil.example", "127.0.0.1"),
        ("evil.example:8765", "192.168.1.20"),
        ("192.168.1.21:8765", "192.168.1.20"),  # not where it connected to
        ("127.0.0.1:8765", "192.168.1.20"),
        ("[::1", "::1"),
        ("::1", "::1"),  # not a Host: which part would be the port?
        ("kitchen.local@evil.example", "192.168.1.20"),
        ("evil.example/kitchen.local", "192.168.1.20"),
        ("kitchen.local:8765:1", "192.168.1.20"),
        ("kitchen.local.evil.example", "192.168.1.20"),
        ("kitchen.local, evil.example", "192.168.1.20"),
        ("0x7f000001", "127.0.0.1"),
        ("2130706433", "127.0.0.1"),
        (" localhost", "127.0.0.1"),
        ("localhost\x00", "127.0.0.1"),
        ("\N{MATHEMATICAL BOLD SMALL L}ocalhost", "127.0.0.1"),
    ],
)
def test_a_request_for_somebody_else_is_not(host: str, local: str) -> None:
    assert not is_ours(host, local, NAMES)


@pytest.mark.parametrize("host", ["", "muleteer", "x", "localhost:8000", "127.0.0.1:8000", "kitchen.local"])
def test_on_the_unix_socket_any_word_will_do(host: str) -> None:
    assert is_local(host, NAMES)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "192.168.1.20", "[fe80::1]", "a b"])
def test_on_the_unix_socket_a_page_that_was_forwarded_is_noticed(host: str) -> None:
    assert not is_local(host, NAMES)


def test_a_page_may_only_ask_where_it_came_from() -> None:
    assert is_own_page("http://192.168.1.20:8765", "192.168.1.20:8765")
    assert is_own_page("https://Mule.example.net", "mule.example.net")  # behind a proxy that speaks TLS
    for origin in ("null", "http://192.168.1.20", "http://evil.example", "file://", ""):
        assert not is_own_page(origin, "192.168.1.20:8765")


def test_the_names_of_this_device_are_those_of_the_machine_and_of_the_settings(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("socket.gethostname", lambda: "Kitchen.lan")
    assert own_names(["mule.example.net"]) == {
        "localhost",
        "kitchen.lan",
        "kitchen",
        "kitchen.local",
        "mule.example.net",
    }
