"""The loop of the engine process, run in a thread of the test over a real socket pair."""

from __future__ import annotations

import contextlib
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from muleteer.engine import wire, worker
from muleteer.engine.protocol import Choice, Held, LoadSettings, Text, Use
from tests.engine import scripted_worker
from tests.engine.scripted_worker import ScriptedDecoder, prompt

USED = Use(prompt=2, decoded=2, ms=1.0)


class Daemon:
    """The other end of the socket."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._lines = wire.Lines()
        self._read: list[bytes] = []

    def say(self, *messages: wire.ToEngine) -> None:
        self.connection.sendall(b"".join(wire.to_engine(message) for message in messages))

    def hear(self) -> wire.FromEngine:
        while not self._read:
            data = self.connection.recv(65536)
            assert data, "the engine left"
            self._read += self._lines.feed(data)
        return wire.at_daemon(self._read.pop(0))

    def hear_final(self) -> wire.FromEngine:
        while isinstance(message := self.hear(), wire.Beat | wire.Chunk | wire.Ledger):
            pass
        return message


class Loading:
    """A loader that remembers what it loaded."""

    def __init__(self) -> None:
        self.decoders: list[ScriptedDecoder] = []

    def __call__(self, path: Path, settings: LoadSettings) -> ScriptedDecoder:
        self.decoders.append(scripted_worker.load(path, settings))
        return self.decoders[-1]


@contextlib.contextmanager
def working(load: worker.Loader) -> Iterator[Daemon]:
    """A worker in a thread; on leaving, its daemon is gone and it must have ended because of that."""
    ours, theirs = socket.socketpair()
    ours.settimeout(20)
    ends: list[BaseException | None] = []

    def body() -> None:
        try:
            worker.run(theirs, load)
            ends.append(None)
        except (SystemExit, wire.WireError) as end:
            ends.append(end)

    thread = threading.Thread(target=body)
    thread.start()
    with theirs, ours:
        yield Daemon(ours)
        ours.close()
        thread.join(20)
    assert [type(end) for end in ends] == [SystemExit]


@pytest.fixture
def daemon() -> Iterator[Daemon]:
    with working(scripted_worker.load) as daemon:
        daemon.say(wire.Load("/models/any", LoadSettings()))
        assert isinstance(daemon.hear(), wire.Loading)
        assert isinstance(daemon.hear(), wire.Ready)
        yield daemon


def test_it_says_loading_then_ready_with_what_was_loaded() -> None:
    loading = Loading()
    with working(loading) as daemon:
        daemon.say(wire.Load("/models/any", LoadSettings(context=512)))
        assert daemon.hear() == wire.Loading()
        assert daemon.hear() == wire.Ready(loading.decoders[0].properties)
        assert loading.decoders[0].properties.context == 512
    assert loading.decoders[0].closed


def test_each_request_ends_with_a_ledger_and_its_answer(daemon: Daemon) -> None:
    daemon.say(wire.Count(1, "four"))
    assert daemon.hear() == wire.Ledger(Held(0), Use())
    assert daemon.hear() == wire.Counted(1, 4)
    daemon.say(wire.Warm(2, prompt("")))
    assert daemon.hear() == wire.Ledger(Held(2), USED)
    assert daemon.hear() == wire.Warmed(2, USED)
    daemon.say(wire.Choose(3, prompt(""), ("a", "b"), None))
    assert daemon.hear_final() == wire.Chosen(3, Choice((0.5, 0.5), USED))
    daemon.say(wire.Fill(4, prompt(""), {}, 10, None))
    assert daemon.hear_final() == wire.Written(4, Text("{}", "stop", USED))
    daemon.say(wire.Write(5, prompt("say a b"), 10, (), None))
    assert [daemon.hear() for _ in range(3)] == [
        wire.Chunk(5, "a"),
        wire.Chunk(5, "b"),
        wire.Ledger(Held(8), USED + USED + USED + USED),
    ]
    assert daemon.hear() == wire.Written(5, Text("a b", "stop", USED))


def test_a_refusal_keeps_its_code_and_the_next_request_works(daemon: Daemon) -> None:
    daemon.say(wire.Warm(1, prompt("refuse")), wire.Count(2, "abc"))
    assert daemon.hear_final() == wire.Failed(1, "too_long", "The prompt has 9 tokens; 8 are allowed.")
    assert daemon.hear_final() == wire.Counted(2, 3)


def test_an_unexpected_exception_is_one_sentence_and_a_traceback_in_the_log(
    daemon: Daemon, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR, "muleteer.engine.worker"):
        daemon.say(wire.Warm(1, prompt("raise")))
        failed = daemon.hear_final()
    assert isinstance(failed, wire.Failed)
    assert failed.code == "engine"
    assert "ValueError: the script says so" in failed.message
    assert "Traceback" in caplog.text
    daemon.say(wire.Count(2, "abc"))
    assert daemon.hear_final() == wire.Counted(2, 3)


def test_a_decoder_that_ends_without_a_result_is_an_error(daemon: Daemon) -> None:
    daemon.say(wire.Write(1, prompt("end"), 10, (), None))
    failed = daemon.hear_final()
    assert isinstance(failed, wire.Failed)
    assert "without saying how" in failed.message


def test_a_cancel_ends_the_running_request_only(daemon: Daemon) -> None:
    daemon.say(wire.Write(1, prompt("start spin"), 10, (), None), wire.Warm(2, prompt("")))
    assert daemon.hear() == wire.Chunk(1, "start")
    daemon.say(wire.Cancel(1))
    assert daemon.hear_final() == wire.Failed(1, "cancelled", "The request was cancelled.")
    assert daemon.hear_final() == wire.Warmed(2, USED)


def test_a_cancel_that_arrives_with_its_request_stops_it_before_it_begins(daemon: Daemon) -> None:
    daemon.say(wire.Warm(1, prompt("spin")), wire.Cancel(1))
    assert daemon.hear() == wire.Ledger(Held(0), Use())
    assert isinstance(daemon.hear(), wire.Failed)


def test_a_cancel_that_comes_too_late_changes_nothing(daemon: Daemon) -> None:
    daemon.say(wire.Count(1, "abc"))
    assert daemon.hear_final() == wire.Counted(1, 3)
    daemon.say(wire.Cancel(1), wire.Count(2, "a"))
    assert daemon.hear_final() == wire.Counted(2, 1)


def test_a_long_request_shows_signs_of_life(daemon: Daemon) -> None:
    daemon.say(wire.Warm(1, prompt("spin")))
    assert daemon.hear() == wire.Beat(1)
    daemon.say(wire.Cancel(1))
    assert isinstance(daemon.hear_final(), wire.Failed)


def test_the_number_of_threads_changes_before_the_next_request() -> None:
    loading = Loading()
    with working(loading) as daemon:
        daemon.say(wire.Load("/models/any", LoadSettings(threads=4)), wire.Threads(3), wire.Count(1, "abc"))
        while daemon.hear() != wire.Counted(1, 3):
            pass
        assert loading.decoders[0].threads == 3


def test_a_cancel_for_what_is_over_is_forgotten(daemon: Daemon) -> None:
    daemon.say(wire.Count(7, "abc"))
    assert daemon.hear_final() == wire.Counted(7, 3)
    daemon.say(wire.Cancel(7), wire.Count(5, "a"))
    assert daemon.hear_final() == wire.Counted(5, 1)
    daemon.say(wire.Count(7, "abc"))
    assert daemon.hear_final() == wire.Counted(7, 3)


def test_a_daemon_that_leaves_ends_a_running_request_and_closes_the_model() -> None:
    loading = Loading()
    with working(loading) as daemon:
        daemon.say(wire.Load("/models/any", LoadSettings()), wire.Write(1, prompt("start spin"), 9, (), None))
        while daemon.hear() != wire.Chunk(1, "start"):
            pass
    assert loading.decoders[0].closed


@pytest.mark.parametrize(
    ("name", "code", "words"), [("absent", "model", "There is no model"), ("broken", "engine", "ValueError")]
)
def test_a_failed_load_is_told_and_ends_the_worker(name: str, code: str, words: str, tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        daemon = Daemon(ours)
        daemon.say(wire.Load(str(tmp_path / name), LoadSettings()))
        worker.run(theirs, scripted_worker.load)
        assert isinstance(daemon.hear(), wire.Loading)
        failed = daemon.hear()
    assert isinstance(failed, wire.Failed)
    assert (failed.id, failed.code) == (None, code)
    assert words in failed.message


@pytest.mark.parametrize(
    "line", [b"nonsense\n", wire.to_engine(wire.Count(1, "before Load"))], ids=["garbage", "no load"]
)
def test_a_daemon_that_does_not_speak_the_language_ends_the_worker(line: bytes) -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(line)
        with pytest.raises(wire.WireError):
            worker.run(theirs, scripted_worker.load)


def test_the_program_says_what_it_needs(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["worker"])
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(SystemExit):
        worker.main()
    assert "--fd" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGINT) is before
