"""What is private stays: in its session, in a history that a client tells, in the memory, over a restart."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from muleteer import privacy as module
from muleteer import session
from muleteer.engine.protocol import Message
from muleteer.harness.events import Outcome, TurnFinished
from muleteer.harness.turn import Harness
from muleteer.privacy import HomeMemory, Privacy, leaving
from muleteer.services import PastTurn
from muleteer.session import LOOKED_UP
from muleteer.settings.sections import Budgets
from tests.harness.conftest import House, house
from tests.harness.free.scripted import FreeBrain
from tests.harness.free.scripted import call as called
from tests.harness.free.test_turn import Desk, keep_private
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain, Write

__all__ = ["house"]  # the fixture

SAID = ("what did I write about Anna", "You wrote that she is kind.")


def history(message: str, answer: str) -> list[Message]:
    return [Message("user", message), Message("assistant", answer)]


async def test_a_session_and_a_history_are_recognised() -> None:
    privacy = Privacy()
    await privacy.note("evening", *SAID)
    assert privacy.concerns("evening", ())
    assert privacy.concerns("", history(*SAID))
    assert privacy.concerns("", history("hm", SAID[1]))
    assert privacy.concerns("", [Message("user", f" {SAID[0]}\n")])
    assert not privacy.concerns("morning", history("hello", "Hello to you, and a good day."))


async def test_what_is_said_everywhere_is_private_only_together() -> None:
    privacy = Privacy()
    await privacy.note("", "yes", "It is 4711.")
    assert privacy.concerns("", history("yes", "It is 4711."))
    assert not privacy.concerns("", history("yes", "Fine."))


async def test_it_is_kept_over_a_restart_and_holds_no_words(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        privacy = Privacy(tmp_path / "private")
        await privacy.open()
        await privacy.note(name, *SAID)
    later = Privacy(tmp_path / "private")
    await later.open()
    assert all(later.concerns(name, ()) for name in ("one", "two", "three"))
    text = (tmp_path / "private").read_text()
    assert "Anna" not in text
    assert len(text.split()) == 6, "what is known is not written again"
    assert (tmp_path / "private").stat().st_mode & 0o777 == 0o600


async def test_the_oldest_goes_first_and_the_file_stays_small(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST", 6)
    monkeypatch.setattr(module, "LARGEST_FILE", 600)
    privacy = Privacy(tmp_path / "private")
    for number in range(40):
        await privacy.note(f"s{number}", "no", "no")
    assert privacy.concerns("s39", ())
    assert not privacy.concerns("s1", ())
    assert (tmp_path / "private").stat().st_size <= 600


async def test_a_file_that_cannot_be_used_is_told(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.ERROR)
    (tmp_path / "private").mkdir()
    privacy = Privacy(tmp_path / "private")
    await privacy.open()
    await privacy.note("evening", *SAID)
    assert privacy.concerns("evening", ())
    assert len(caplog.messages) == 2
    await privacy.close()
    assert "Anna" not in caplog.text


@pytest.mark.parametrize("fault", ["gone", "garbled", "torn", "too large", "unreadable", "marker"])
async def test_where_what_was_private_is_lost_everything_before_is(
    fault: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "private"
    before = await opened(path)
    await before.note("evening", *SAID)
    if fault == "gone":
        path.unlink()
    elif fault == "garbled":
        path.write_bytes(b"\xff" + path.read_bytes()[1:])
    elif fault == "torn":
        path.write_bytes(path.read_bytes()[:-30])
    elif fault == "too large":
        monkeypatch.setattr(module, "LARGEST_FILE", 10)
    elif fault == "unreadable":
        path.unlink()
        path.mkdir()
    else:
        (tmp_path / "private-kept").write_bytes(b"")
    caplog.set_level(logging.ERROR)
    later = await opened(path)
    assert "no earlier conversation goes to a brain elsewhere" in caplog.messages[0]
    assert later.concerns("", history(*SAID))
    assert later.concerns("", history("hello", "Hello."))
    assert later.holds(PastTurn("hi", "Hello.", datetime.now(UTC), 1.0, "", "", 2, True))
    assert not later.concerns("noon", ()), "a new conversation may leave"
    later.passed("good day", "A good day to you.")
    assert not later.concerns("noon", history("good day", "A good day to you."))
    assert not later.concerns("noon", history("good day", LOOKED_UP))
    assert later.concerns("noon", [*history("good day", "A good day to you."), Message("user", "hello")])
    await later.close()
    monkeypatch.undo()
    again = await opened(path)
    assert again.concerns("", history("hello", "Hello.")), "after one more restart, too"
    await again.close()


async def test_a_first_start_and_the_file_of_an_older_version_are_whole(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        assert not (await opened(tmp_path / "private")).concerns("", history(*SAID))
    (tmp_path / "private-kept").unlink()
    for _ in range(2):
        assert not (await opened(tmp_path / "private")).concerns("", history(*SAID))
    assert not caplog.messages


async def test_what_a_full_disk_does_not_take_is_private_at_once_and_kept_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(module, "RETRY_SECONDS", 0.01)
    path = tmp_path / "private"
    privacy = await opened(path)
    path.unlink()
    path.mkdir()  # as a full disk does: every write fails
    await privacy.note("evening", *SAID)
    assert privacy.concerns("evening", ())
    crashed = await opened(path)
    assert crashed.concerns("", history("hello", "Hello.")), "it is not known what was said"
    await crashed.close()
    assert (tmp_path / "private-kept").read_bytes() == b"l"
    path.rmdir()
    assert privacy._retrying
    await privacy._retrying
    later = await opened(path)
    assert later.concerns("evening", ())
    assert not later.concerns("", history("hello", "Hello."))


async def opened(path: Path) -> Privacy:
    privacy = Privacy(path)
    await privacy.open()
    return privacy


class Kept:
    async def search(self, query: str, limit: int = 8, when: str = "") -> list[PastTurn]:
        now = datetime.now(UTC)
        return [
            PastTurn(*SAID, now, 1.0, "", "", 1, True),
            PastTurn("hi", "Hello.", now, 1.0, "", "", 2, True),
        ]


async def test_the_memory_shows_a_brain_elsewhere_nothing_private() -> None:
    privacy = Privacy()
    await privacy.note("", *SAID)
    memory = HomeMemory(Kept(), privacy)
    assert len(await memory.search("")) == 2
    token = leaving.set(True)
    try:
        assert [turn.message for turn in await memory.search("")] == ["hi"]
    finally:
        leaving.reset(token)


async def ask(
    harness: Harness,
    home: ScriptedBrain,
    script: Sequence[Scripted],
    message: str,
    told: Sequence[Message] = (),
) -> TurnFinished:
    home.script.extend(script)
    last = [event async for event in harness.run(message, told)][-1]
    assert isinstance(last, Outcome)
    assert isinstance(last, TurnFinished), last
    assert not home.script
    return last


async def test_the_conversation_that_followed_never_leaves(house: House) -> None:
    keep_private(house)
    home, far = ScriptedBrain(), FreeBrain("Hello.")
    harness = Harness(home, house.catalogue, Budgets(), brains=Desk(far))
    private = Choose({"look-up": 1.0})
    calls: list[Scripted] = [
        Fill({"tool": "find_note", "instruction": "x"}),
        Fill({"query": "x"}),
        Fill({"tool": "finish"}),
    ]
    session.begin("evening")
    first = await ask(harness, home, [private, private, *calls], "where are my keys today")
    told = history("where are my keys today", first.answer)
    reply: list[Scripted] = [Choose({"reply": 1.0}), Write(("Fine.",))]
    second = await ask(harness, home, reply, "thanks")
    session.begin("morning")
    third = await ask(harness, home, reply, "and what does that mean for me", told)
    fourth = await ask(harness, home, reply, "go on", history("and what does that mean for me", third.answer))
    assert [turn.brains[-1].brain for turn in (first, second, third, fourth)] == ["local"] * 4
    assert not far.asked
    session.begin("noon")
    fifth = await ask(harness, home, [Choose({"reply": 1.0})], "hello")
    assert [each.brain for each in fifth.brains] == ["desk"]


async def test_a_tool_knows_that_it_works_for_a_brain_elsewhere(house: House) -> None:
    seen: list[bool] = []
    catalogue = house.catalogue
    original = catalogue.toolbox.call

    async def call(name: str, arguments: object) -> object:
        seen.append(leaving.get())
        return await original(name, arguments)  # type: ignore[arg-type]

    catalogue.toolbox.call = call  # type: ignore[method-assign,assignment]

    far = FreeBrain(called("clock", place="Rome"), "Noon.")
    desk = Desk(far, flat=True)
    home = ScriptedBrain(Choose({"clock": 1.0}), Fill({"place": "Rome"}))
    harness = Harness(home, catalogue, Budgets(), brains=desk)
    [event async for event in harness.run("what time is it in Rome")]
    [event async for event in harness.run("what time is it in Rome", brain="local")]
    assert seen == [True, False]
