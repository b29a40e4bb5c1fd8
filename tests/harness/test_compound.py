"""Several requests in one message: each is done, or it is said which one was not."""

from __future__ import annotations

import pytest

from muleteer.harness.compound import Part, cuts
from muleteer.harness.events import Confirm, Event, TurnFinished
from muleteer.harness.language import language
from muleteer.harness.turn import Harness
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue
from muleteer.tool import Result, Services, tool
from muleteer.toolbox import Toolbox
from tests.harness.conftest import anybody
from tests.harness.scripted import Choose, Fill, Scripted, ScriptedBrain


class Home:
    """A switch, a clock, a calculator and a notebook, without examples: plans are what the script says."""

    def __init__(self) -> None:
        self.ran: list[tuple[object, ...]] = []
        self.clock = Result.ok("It is noon.")

        @tool(effect="physical")
        async def switch(name: str, state: str) -> Result:
            """Switch a thing.

            name: what
            state: on or off
            """
            self.ran.append((name, state))
            return Result.ok(f"The {name} is {state}.")

        @tool(effect="read")
        async def clock(place: str = "") -> Result:
            """Tell the time.

            place: a city
            """
            self.ran.append((place,))
            return self.clock

        @tool(effect="read", exact=("expression",))
        async def sums(expression: str) -> Result:
            """Calculate.

            expression: a sum
            """
            self.ran.append((expression,))
            return Result.ok(f"{expression} it is.")

        @tool(effect="write")
        async def keep(note: str) -> Result:
            """Keep a note.

            note: the text
            """
            self.ran.append((note,))
            return Result.ok("Noted.")

        self.catalogue = Catalogue({}, Toolbox.of([switch, clock, sums, keep], Services()))

    async def turn(
        self, message: str, *script: Scripted, confirm: tuple[str, ...] = (), budgets: Budgets | None = None
    ) -> Event:
        self.brain = ScriptedBrain(*script)
        self.harness = Harness(self.brain, self.catalogue, budgets or Budgets(), confirm)
        *_, last = [event async for event in self.harness.run(message)]
        assert not self.brain.script, f"not asked for: {self.brain.script}"
        return last


@pytest.fixture
def home() -> Home:
    return Home()


def parts(message: str, language: str) -> list[Part]:
    """The finest cut."""
    return next(iter(cuts(message, language)), [])


def plan(handle: str) -> Choose:
    return Choose({handle: 1.0})


TIME_AND_SUM = (plan("clock"), plan("sums"), Fill({"place": "Tokyo"}), Fill({"expression": "3*4"}))


async def test_two_different_requests_are_both_done(home: Home) -> None:
    last = await home.turn("what time is it in Tokyo and 3*4", *TIME_AND_SUM)
    assert isinstance(last, TurnFinished)
    assert last.answer == "It is noon.\n3*4 it is."
    assert last.handles == ("clock", "sums")
    assert home.ran == [("Tokyo",), ("3*4",)]


async def test_one_order_for_two_things_does_both(home: Home) -> None:
    last = await home.turn(
        "switch on the fan and the light",
        plan("switch"),
        plan("reply"),
        plan("switch"),
        Fill({"name": "fan", "state": "on"}),
        Fill({"name": "light", "state": "on"}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "The fan is on.\nThe light is on."
    said = [prompt.messages[-1].content for prompt in home.brain.asked]
    assert said[2] == "switch on the light", "what it leans on comes along"


async def test_what_cannot_be_done_is_said(home: Home) -> None:
    last = await home.turn(
        "what time is it in Rome and order a large pizza",
        plan("clock"),
        plan("reply"),
        Fill({"place": "Rome"}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "It is noon.\nI cannot do this part: order a large pizza. I have no skill for it."


@pytest.mark.parametrize(
    ("message", "wish", "said"),
    [
        (
            "call my mother and tell me the time",
            "call my mother",
            "I cannot do this part: call my mother. I have no skill for it.",
        ),
        (
            "Bestell mir eine Pizza und sag mir die Uhrzeit in New York",
            "Bestell mir eine Pizza",
            "Diesen Teil kann ich nicht tun: Bestell mir eine Pizza. Dafür habe ich keine Fähigkeit.",
        ),
        (
            "Order a pizza. What time is it in Rome?",
            "Order a pizza",
            "I cannot do this part: Order a pizza. I have no skill for it.",
        ),
    ],
)
async def test_a_wish_that_nobody_can_do_does_not_lose_the_request_after_it(
    home: Home, message: str, wish: str, said: str
) -> None:
    last = await home.turn(message, plan("reply"), plan("clock"), Fill({"place": ""}))
    assert isinstance(last, TurnFinished)
    assert last.answer == f"{said}\nIt is noon."
    assert home.brain.asked[0].messages[-1].content == wish


async def test_three_orders_with_a_comma_between_are_three_requests(home: Home) -> None:
    last = await home.turn(
        "Setz Milch und Brot auf die Einkaufsliste, rechne 3 mal 4 und sag mir, wie spaet es ist",
        plan("keep"),
        plan("sums"),
        plan("clock"),
        Fill({"note": "Milch und Brot"}),
        Fill({"expression": "3*4"}),
        Fill({"place": ""}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "Noted.\n3*4 it is.\nIt is noon."


async def test_what_is_empty_and_what_could_not_be_checked_stay_apart_in_a_compound_answer(
    home: Home,
) -> None:
    home.clock = Result.unavailable("The clock does not answer.")
    last = await home.turn("what time is it in Tokyo and 3*4", *TIME_AND_SUM)
    assert isinstance(last, TurnFinished)
    assert last.answer == "The clock does not answer.\n3*4 it is."


async def test_a_spent_budget_says_which_part_was_left_out(home: Home) -> None:
    last = await home.turn(
        "what time is it in Tokyo and 3*4",
        plan("clock"),
        plan("sums"),
        Fill({"place": "Tokyo"}),
        budgets=Budgets(turn=28),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "It is noon.\nI did not do this part: 3*4. Ask for it alone."


async def test_one_sum_stays_one(home: Home) -> None:
    last = await home.turn(
        "How many grams are 3 pounds and 4 ounces?",
        plan("sums"),
        plan("sums"),
        plan("sums"),
        Fill({"expression": "3 pounds + 4 ounces in grams"}),
    )
    assert isinstance(last, TurnFinished)
    assert home.ran == [("3 pounds + 4 ounces in grams",)]


async def test_one_note_stays_one(home: Home) -> None:
    await home.turn(
        "remember the milk and the eggs",
        plan("keep"),
        plan("reply"),
        plan("keep"),
        plan("keep"),
        Fill({"note": "the milk and the eggs"}),
    )
    assert home.ran == [("the milk and the eggs",)]


async def test_after_a_yes_the_other_parts_follow_and_may_ask_too(home: Home) -> None:
    last = await home.turn(
        "switch on the fan and the light",
        plan("switch"),
        plan("switch"),
        plan("switch"),
        Fill({"name": "fan", "state": "on"}),
        confirm=("physical",),
    )
    assert isinstance(last, Confirm)
    assert home.ran == []
    home.brain.script.append(Fill({"name": "light", "state": "on"}))
    pending = home.harness.take(last.turn, anybody)
    *_, last = [event async for event in home.harness.confirmed(pending, True)]
    assert isinstance(last, Confirm), "the second is asked about as well"
    assert home.ran == [("fan", "on")]
    *_, done = [event async for event in home.harness.confirmed(home.harness.take(last.turn, anybody), True)]
    assert isinstance(done, TurnFinished)
    assert home.ran == [("fan", "on"), ("light", "on")]


async def test_a_sentence_that_wants_nothing_is_no_part(home: Home) -> None:
    last = await home.turn(
        "good morning to you all. what time is it in Rome",
        plan("reply"),
        plan("clock"),
        Fill({"place": "Rome"}),
        plan("clock"),  # and that is what the message as a whole was planned to be
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "It is noon."


async def test_an_and_within_a_request_does_not_lose_the_other_request(home: Home) -> None:
    last = await home.turn(
        "3 pounds and 4 ounces in grams, and what time is it in Tokyo",
        plan("sums"),  # 3 pounds
        plan("sums"),  # 4 ounces in grams: the same, so that is no cut
        plan("sums"),  # 3 pounds and 4 ounces in grams
        plan("clock"),
        Fill({"expression": "3 pounds + 4 ounces in grams"}),
        Fill({"place": "Tokyo"}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "3 pounds + 4 ounces in grams it is.\nIt is noon."


async def test_a_note_and_a_question_are_two_requests(home: Home) -> None:
    last = await home.turn(
        "put milk and eggs on the list, and what is 3 pounds in kg",
        plan("keep"),
        plan("sums"),
        Fill({"note": "milk and eggs"}),
        Fill({"expression": "3 pounds in kg"}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "Noted.\n3 pounds in kg it is."
    assert home.ran == [("milk and eggs",), ("3 pounds in kg",)]


async def test_a_request_that_the_one_plan_does_not_cover_is_named(home: Home) -> None:
    last = await home.turn(
        "put milk on the list, and what time is it",
        plan("reply"),  # put milk on the list, alone: so that is no cut
        plan("keep"),  # the message as a whole
        Fill({"note": "milk"}),
        plan("clock"),  # its other part
    )
    assert isinstance(last, TurnFinished)
    assert home.ran == [("milk",)]
    assert last.answer == "Noted.\nI did not do this part: what time is it. Ask for it alone."


async def test_what_only_tells_more_is_no_request_that_was_left_out(home: Home) -> None:
    last = await home.turn(
        "remember that Anna likes tea and Bob likes coffee",
        plan("keep"),
        plan("reply"),
        plan("keep"),
        Fill({"note": "Anna likes tea and Bob likes coffee"}),
    )
    assert isinstance(last, TurnFinished)
    assert last.answer == "Noted."


@pytest.mark.parametrize(
    "message",
    [
        "what time is it",
        "if it is cold, turn on the heater and the fan",
        "turn on the fan and not the light",
        "the time difference between London and Tokyo",
        "salt and pepper",
        "a and b and c and d and e and f",
        "what is 3.5 times 2.5",
        "qué hay en el sótano de mi casa",
        "est-ce qu'il y a des rendez-vous",
        "remember: the milk, the set of keys, the bread",
        "note: feed the cat, turn off the light",
        "remember that Anna said, set the table at noon",
    ],
)
def test_what_may_be_one_request_is_not_cut(message: str) -> None:
    assert parts(message, language(message)) == []


@pytest.mark.parametrize(
    ("message", "first"),
    [
        ("schalte die Lampe und den Ventilator an", "schalte die Lampe an"),
        ("turn the fan and the light off", "turn the fan off"),
        ("turn on the fan and the heater off", "turn on the fan"),
        ("doe de lamp en de ventilator uit", "doe de lamp uit"),
    ],
)
def test_a_particle_at_the_end_belongs_to_all(message: str, first: str) -> None:
    assert parts(message, language(message))[0].said == first


@pytest.mark.parametrize(
    ("message", "said", "leaning"),
    [
        ("switch on the fan and the light", "the light", "switch on the light"),
        ("schalte die Lampe und den Ventilator an", "den Ventilator an", ""),
        ("schalte die Lampe an und die Pumpe", "die Pumpe", "schalte die Pumpe an"),
        ("turn the fan off and the light", "the light", "turn the light off"),
        ("what time is it in Rome and what is 12 times 8?", "what is 12 times 8", ""),
        ("schalte die Lampe und die Pumpe an", "die Pumpe an", "schalte die Pumpe an"),
        ("what time is it in Tokyo and in Rome", "in Rome", "what time is it in Rome"),
        ("time in Tokyo and Rome", "Rome", "time in Rome"),
        ("turn off the lamp. what is 3 * 4?", "what is 3 * 4", ""),
        ("wake me at 7:30, tell me the time", "tell me the time", ""),
        (
            "Setz Eier auf die Liste, stell einen Timer auf 5 Minuten",
            "stell einen Timer auf 5 Minuten",
            "",
        ),
    ],
)
def test_a_part_that_leans_takes_what_it_leans_on(message: str, said: str, leaning: str) -> None:
    found = parts(message, language(message))
    assert [(part.said, part.leaning) for part in found[1:]] == [(said, leaning)]


@pytest.mark.parametrize(
    ("message", "language"),
    [
        ("Put milk and eggs on the shopping list", "en"),
        ("add milk, eggs and bread to my list", "en"),
        ("Write bread and butter in the notes", "en"),
        ("Add to the shopping list milk and eggs", "en"),
        ("Setz Milch und Eier auf die Einkaufsliste", "de"),
        ("Schreib Brot und Butter auf den Einkaufszettel", "de"),
        ("pon leche y huevos en la lista de la compra", "es"),
        ("mets du lait et des œufs sur la liste de courses", "fr"),
        ("metti latte e uova sulla lista della spesa", "it"),
        ("zet melk en eieren op de boodschappenlijst", "nl"),
        ("põe leite e ovos na lista de compras", "pt"),
        ("alışveriş listesine süt ve yumurta ekle", "tr"),
    ],
)
def test_things_that_go_to_one_place_are_one_request(message: str, language: str) -> None:
    assert cuts(message, language) == []


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "Put milk and eggs on the shopping list and switch on the fan",
            ["Put milk and eggs on the shopping list", "switch on the fan"],
        ),
        (
            "put milk on the shopping list and what time is it",
            ["put milk on the shopping list", "what time is it"],
        ),
        ("put the lamp and the fan in the hall on", ["put the lamp on", "the fan in the hall on"]),
    ],
)
def test_another_request_beside_a_list_is_one_of_its_own(message: str, said: list[str]) -> None:
    assert [part.said for part in parts(message, "en")] == said
