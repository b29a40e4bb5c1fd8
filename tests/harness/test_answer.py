"""The answer comes from what the tools returned; exact values are copied or the tool's words stand."""

from collections.abc import AsyncIterator

from muleteer.engine.protocol import Message
from muleteer.harness.answer import FACT_CHARACTERS, Writer, facts, listed, needs_writing, spoken, values
from muleteer.harness.dispatcher import Bridge
from muleteer.harness.events import Event, LevelFinished
from muleteer.harness.ledger import Ledger
from muleteer.settings.sections import Budgets
from muleteer.tool import Data, Document, Notes, Result
from tests.harness.scripted import ScriptedBrain, Write

NOTED = Result.ok(
    'I have 2 notes on that: "Anna, 4 May 1990"; "Anna likes tea".',
    Notes(("Anna, 4 May 1990", "Anna likes tea")),
)


def writer(brain: ScriptedBrain, events: list[Event] | None = None) -> Writer:
    heard: list[Event] = [] if events is None else events
    return Writer(brain, Ledger(1000, heard.append), Budgets(), ("search-info",))


async def joined(pieces: AsyncIterator[str]) -> str:
    return "".join([piece async for piece in pieces])


def test_empty_and_unavailable_stay_what_they_are() -> None:
    assert spoken([Result.empty("There is no note.")]) == "There is no note."
    assert spoken([Result.unavailable("I could not look.")]) == "I could not look."


def test_an_error_is_said_unless_its_tool_has_made_it_good() -> None:
    bridge = Bridge()
    bridge.add("clock", Result.error("Wrong place."))
    bridge.add("sensor", Result.ok("It is cold."))
    assert spoken(bridge.results) == "Wrong place. It is cold."
    bridge.add("clock", Result.error("Still wrong."))
    assert spoken(bridge.results) == "It is cold. Still wrong."
    bridge.add("clock", Result.ok("It is noon."))
    assert spoken(bridge.results) == "It is cold. It is noon."
    assert spoken([]) == ""


def test_what_was_asked_for_together_is_said_line_by_line() -> None:
    assert (
        listed([Result.ok("It is noon."), Result.empty("No note is due.")]) == "It is noon.\nNo note is due."
    )


def test_the_same_sentence_is_said_once() -> None:
    assert spoken([Result.ok("Noon."), Result.ok("Noon.")]) == "Noon."


def test_only_documents_and_several_notes_are_worth_a_level() -> None:
    assert not needs_writing([Result.ok("x", Data({"a": 1})), Result.ok("y", Notes(("one",)))])
    assert needs_writing([NOTED])
    assert needs_writing([Result.ok("Found it.", Document("bill.txt", "42"))])


def test_facts_are_cut_with_a_mark() -> None:
    text = facts([Result.ok("Found it.", Document("long.txt", "x" * 10_000))])
    assert len(text) < FACT_CHARACTERS + 50
    assert text.endswith("characters cut]")


def test_values_are_numbers_addresses_and_links() -> None:
    found = values("Call 555-0199 or a.b@c.org by 4 May, see https://x.org/a. Code: B17.")
    assert found == {"555-0199", "a.b@c.org", "4", "https://x.org/a", "b17"}


async def test_an_answer_whose_values_stand_in_the_facts_is_streamed() -> None:
    events: list[Event] = []
    brain = ScriptedBrain(Write(("Anna was born on ", "4 May 1990. ", "She likes tea.")))
    assert await joined(writer(brain, events).from_facts("When is Anna's birthday?", [NOTED])) == (
        "Anna was born on 4 May 1990. She likes tea."
    )
    assert [type(event) for event in events] == [LevelFinished]
    assert "Anna likes tea" in brain.asked[0].messages[-1].content


async def test_an_invented_value_makes_way_for_the_tools_own_words() -> None:
    brain = ScriptedBrain(Write(("Anna likes tea. ", "She was born on 5 May 1990. ", "Surely.")))
    said = await joined(writer(brain).from_facts("When is Anna's birthday?", [NOTED]))
    assert said == f"Anna likes tea. {NOTED.text}"
    assert brain.closed == 1


async def test_the_oldest_whole_messages_leave_first() -> None:
    brain = ScriptedBrain(Write(("Hello.",)))
    history = [Message("user", "word " * 800), Message("assistant", "old " * 800), Message("user", "recent")]
    assert await joined(writer(brain).reply("hi", history)) == "Hello."
    assert [m.content for m in brain.asked[0].messages[1:]] == [
        f"(Earlier messages were left out here.)\n{'old ' * 800}",
        "recent",
        "hi",
    ]
