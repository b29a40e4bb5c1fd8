"""The table of what needs which scope."""

from __future__ import annotations

import pytest

from muleteer.gateway import auth
from muleteer.gateway.auth import TABLE, needed
from muleteer.gateway.peer import EVERYTHING, NOBODY, SCOPES, Peer, peer_of


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("GET", "/healthz", "open"),
        ("HEAD", "/healthz", "open"),
        ("POST", "/healthz", "admin"),
        ("POST", "/v1/pair", "open"),
        ("POST", "/v1/pair/code", "admin"),
        ("POST", "/v1/turns", "chat"),
        ("POST", "/v1/turns/t1/confirm", "chat"),
        ("GET", "/v1/tools", "chat"),
        ("POST", "/v1/tools/clock", "admin"),
        ("POST", "/v1/tools/clock/call", "tools"),
        ("POST", "/v1/tools/clock/call/more", "admin"),
        ("GET", "/v1/memory/notes", "tools"),
        ("POST", "/v1/memory/forget", "admin"),
        ("POST", "/v1/inbox/read", "tools"),
        ("GET", "/v1/sessions", "tools"),
        ("GET", "/v1/sessions/trip", "chat"),
        ("DELETE", "/v1/sessions/trip", "admin"),
        ("GET", "/v1/tokens", "admin"),
        ("GET", "/nowhere", "admin"),
        ("GET", "", "admin"),
        ("GET", "/v1/turnsx", "admin"),
        ("GET", "//healthz", "admin"),
        ("GET", "/healthz/", "admin"),
        ("GET", "/v1/status/../tokens", "admin"),
        ("get", "/healthz", "admin"),
    ],
)
def test_each_request_needs_what_the_line_closest_to_it_says(method: str, path: str, scope: str) -> None:
    assert needed(method, path) == scope


def test_of_two_lines_that_match_the_one_that_says_more_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    table: dict[str, dict[auth.Needed, str]] = {
        "/a/*": {"chat": "GET"},
        "/a/{}": {"tools": "GET"},
        "/a/b": {"open": "GET"},
    }
    monkeypatch.setattr(auth, "TABLE", table)
    assert [needed("GET", path) for path in ("/a/b/c", "/a/x", "/a/b", "/a")] == [
        "chat",
        "tools",
        "open",
        "chat",
    ]


def test_the_table_grants_scopes_that_there_are() -> None:
    for line, granted in TABLE.items():
        assert set(granted) <= {*SCOPES, "open"}, line
        assert line.startswith("/"), line
    opened = {line for line, granted in TABLE.items() if "open" in granted}
    assert opened <= {"/", "/healthz", "/v1/pair", "/v1/pair/exchange"}  # think twice before adding one


def test_each_scope_holds_those_before_it_and_nobody_holds_anything() -> None:
    admin = Peer("a", frozenset(("admin",)), "tcp", "::1")
    assert all(admin.may(scope) for scope in SCOPES)
    assert not any(NOBODY.may(scope) for scope in SCOPES)
    chat = Peer("c", frozenset(("chat",)), "tcp", "::1")
    assert [chat.may(scope) for scope in SCOPES] == [True, False, False]
    tools = Peer("t", frozenset(("tools",)), "tcp", "::1")
    assert [tools.may(scope) for scope in SCOPES] == [True, True, False]
    assert peer_of({}) is NOBODY
    assert set(SCOPES) == EVERYTHING
