"""What a model writes must have been said: times that nobody named are left out, numbers are asked for."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.events import TurnFinished
from muleteer.harness.phrases import LANGUAGES, phrases
from muleteer.harness.provenance import invented, unsaid, unused
from muleteer.harness.sourced import TOLD, told_before
from muleteer.harness.turn import Harness
from muleteer.paths import share_dir
from muleteer.services import Services
from muleteer.session import LOOKED_UP
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, tool
from muleteer.toolbox import Toolbox
from tests.harness.scripted import Choose, Fill, ScriptedBrain


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("yesterday", "what did I ask yesterday"),
        ("gestern", "was habe ich gestern gefragt"),
        ("yesterday", "was habe ich gestern gefragt"),
        ("last week", "what did I tell you last week about Ben"),
        ("tomorrow morning", "what is on tomorrow morning"),
        ("Friday afternoon", "am I free on friday afternoon?"),
        ("this evening", "was ist heute Abend"),
        ("tonight", "was steht heute Abend an"),
        ("weekend", "was steht am Wochenende an"),
        ("next Monday", "was ist nächsten Montag"),
        ("in May", "qué dije en mayo"),
        ("24 December", "is anything on 24 December"),
        ("", "what is on"),
        ("mañana", "¿qué tengo mañana?"),
    ],
)
def test_a_time_that_was_named_in_any_words_stays(when: str, message: str) -> None:
    assert not unsaid(when, [message])


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("vorher", "Wo ist der Ersatzschlüssel?"),
        ("since Monday", "where is the spare key"),
        ("yesterday", "what did I say about the boiler"),
        ("last week", "what did I tell you this week"),
        ("Friday", "when is yoga"),
        ("today", "when is the dentist"),
    ],
)
def test_a_time_that_nobody_named_does_not(when: str, message: str) -> None:
    assert unsaid(when, [message])


@pytest.mark.parametrize(
    ("when", "message"),
    [
        ("6:30", "Wecker auf halb sieben"),
        ("19:00", "wake me at 7 in the evening"),
        ("7:45", "alarm at quarter to eight"),
        ("90 minutes", "timer for an hour and a half"),
        ("7:00", "saat yedide beni uyandır"),
        ("6:00", "maak me wakker om zes uur"),
        ("5 dakika", "beş dakikaya alarm kur"),
        ("12:00", "remind me at noon"),
        ("15 minutes", "in a quarter of an hour"),
        ("half an hour", "in half an hour"),
    ],
)
def test_a_time_of_day_may_be_written_in_digits(when: str, message: str) -> None:
    assert invented({"when": when}, ["when"], [message]) == []


def test_a_length_that_nobody_said_is_made_up() -> None:
    assert invented({"when": "10 minutes"}, ["when"], ["set a timer"]) == ["10"]
    assert invented({"note": "milk and 3 pounds"}, ["note"], ["put milk on the list"]) == ["3"]


@pytest.mark.parametrize(("name", "exact", "said", "words"), [
    ("remember", ("note",), (), ("note",)),
    ("calculator", ("expression",), (), ()),
    ("timer", ("when",), (), ()),
    ("grep_memory", (), ("when",), ()),
    ("check_calendar", (), ("day",), ()),
])  # fmt: skip
def test_the_shipped_tools_declare_it(
    name: str, exact: tuple[str, ...], said: tuple[str, ...], words: tuple[str, ...]
) -> None:
    shipped = Toolbox.load([share_dir() / "tools"], Services()).tools[name]
    assert (shipped.exact, shipped.said, shipped.words) == (exact, said, words)


def test_only_an_optional_parameter_can_be_left_out() -> None:
    @tool(effect="read", said=("when",))
    async def look(when: str) -> Result:
        """Look.

        when: a time
        """
        return Result.ok(when)

    disabled = Toolbox.of([look]).disabled["look"]
    assert disabled.endswith("its said names when, which is no optional parameter.")


class Searched:
    """One search with a time, and a calculator."""

    def __init__(self) -> None:
        self.ran: list[tuple[str, ...]] = []

        @tool(effect="read", said=("when",))
        async def search(query: str, when: str = "") -> Result:
            """Search what was said.

            query: words
            when: a time
            """
            self.ran.append((query, when))
            return Result.ok("Found.")

        @tool(effect="read", exact=("expression",))
        async def sums(expression: str) -> Result:
            """Calculate.

            expression: a sum
            """
            self.ran.append((expression,))
            return Result.ok("3")

        self.catalogue = Catalogue({}, Toolbox.of([search, sums]))

    async def turn(self, message: str, handle: str, *fills: dict[str, object], language: str = "en") -> str:
        brain = ScriptedBrain(Choose({handle: 1.0}), *map(Fill, fills))
        run = Harness(brain, self.catalogue, Budgets(), language=language).run(message)
        *_, last = [event async for event in run]
        assert isinstance(last, TurnFinished)
        return last.answer


async def test_a_search_is_not_narrowed_by_a_time_that_nobody_named() -> None:
    searched = Searched()
    await searched.turn("Wo ist der Ersatzschlüssel?", "search", {"query": "Schlüssel", "when": "vorher"})
    await searched.turn("what about the key since Monday", "search", {"query": "key", "when": "since Monday"})
    assert searched.ran == [("Schlüssel", ""), ("key", "since Monday")]


async def test_what_a_model_translates_from_a_language_without_known_times_is_let_be() -> None:
    searched = Searched()
    await searched.turn("dün ne dedim, lütfen söyle", "search", {"query": "x", "when": "yesterday"})
    assert searched.ran == [("x", "yesterday")]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_missing_number_is_asked_for_where_it_is_missing(language: str) -> None:
    searched = Searched()
    made_up: list[dict[str, object]] = [{"expression": f"{number} * 3 + 2"} for number in (6, 7, 8)]
    answer = await searched.turn("pizzas, times three?", "sums", *made_up, language=language)
    assert searched.ran == []
    assert answer == phrases(language).invented.format(given="? * 3 + ?")


def test_what_was_told_is_what_no_tool_was_called_for_and_no_question() -> None:
    history = [
        Message("user", "What time is it?"),
        Message("assistant", LOOKED_UP),
        Message("user", "Remember the milk"),
        Message("assistant", LOOKED_UP),
        Message("user", "We are six"),
        Message("assistant", "Good to know."),
        Message("user", "How are you?"),
        Message("assistant", "Fine."),
    ]
    assert told_before(history) == ("We are six",)
    assert told_before([]) == ()
    many = [Message("user", f"We are {number}") for number in range(9)]
    assert len(told_before(many)) == TOLD


async def test_a_number_that_a_call_forgot_is_asked_for_once() -> None:
    searched = Searched()
    said = "how much is 3 pounds 4 ounces in grams"
    answer = await searched.turn(
        said, "sums", {"expression": "3 pounds in g"}, {"expression": "3 pounds + 4 ounces in g"}
    )
    assert (searched.ran, answer) == ([("3 pounds + 4 ounces in g",)], "3")
    await searched.turn(said, "sums", {"expression": "3 pounds in g"}, {"expression": "3 lb in g"})
    assert searched.ran[1:] == [("3 lb in g",)], "who insists may be right"


@pytest.mark.parametrize(
    ("message", "arguments", "left"),
    [
        ("3 pounds and 4 ounces", {"expression": "3 pounds + 4 ounces"}, []),
        ("3 pounds and 4 ounces", {"expression": "3 pounds"}, ["4"]),
        ("timer for 5 minutes for the 2 eggs", {"when": "5 minutes", "label": "2 eggs"}, []),
        ("wake me at 7 pm", {"when": "19:00"}, []),
        ("1,234.5 + 1", {"expression": "1234.5+1"}, []),
        ("the time please", {"place": ""}, []),
    ],
)
def test_which_numbers_a_call_leaves_out(message: str, arguments: dict[str, object], left: list[str]) -> None:
    assert unused(message, arguments) == left
