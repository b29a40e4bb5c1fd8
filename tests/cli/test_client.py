"""The commands' client, where no command shows it."""

from __future__ import annotations

import threading

import pytest

from muleteer.cli.client import Daemon
from muleteer.cli.reported import ReportedError
from tests.cli.scripted_daemon import Exchange, ScriptedDaemon, chunk, event, stream_head


def test_hanging_up_ends_a_wait_and_the_daemon_notices(daemon: ScriptedDaemon) -> None:
    noticed = threading.Event()

    def begin(exchange: Exchange) -> None:
        exchange.send(stream_head())
        exchange.send(chunk(event("turn.started", {"turn": "t1"})))
        exchange.wait_for_hang_up()
        noticed.set()

    daemon.replies["/v1/turns"] = begin
    client = Daemon(daemon.socket)
    events = client.turn("Tell me a story")
    assert next(events)[0] == "turn.started"
    threading.Timer(0.05, client.hang_up).start()
    with pytest.raises(ReportedError, match="closed the connection"):
        next(events)
    assert noticed.wait(10)


def test_who_has_hung_up_asks_nothing_any_more(daemon: ScriptedDaemon) -> None:
    client = Daemon(daemon.socket)
    client.hang_up()
    with pytest.raises(ReportedError, match="closed the connection"):
        next(client.turn("Tell me a story"))
    assert not daemon.requests
