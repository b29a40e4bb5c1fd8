"""L1 on a free brain: every way to get a plan, to correct one, and to refuse to take words for deeds."""

from __future__ import annotations

import pytest

from muleteer.engine.protocol import Message
from muleteer.harness.events import Event
from muleteer.harness.free.listening import Listener
from muleteer.harness.free.planner import CORRECTIONS, FreePlanner
from muleteer.harness.free.speech import HELD, Speech
from muleteer.harness.ledger import Ledger
from muleteer.harness.signals import Plan, PlanSignal
from muleteer.settings.sections import Budgets
from muleteer.skills import MenuLine
from tests.harness.free.scripted import FreeBrain, Line, Say, plan

MENU = (
    MenuLine("search-info", "find what the user told", ()),
    MenuLine("timer", "set a timer", ()),
    MenuLine("fetch-file", "find a file", ()),
)
HANDLES = tuple(line.handle for line in MENU)
DENIED = "That was not done."


class Heard:
    def __init__(self, *script: Line, menu: tuple[MenuLine, ...] = MENU, budget: int = 100_000) -> None:
        self.brain = FreeBrain(*script)
        self.events: list[Event] = []
        self.said = ""
        self.speech = Speech(self._say, [line.handle for line in menu], DENIED)
        self.ledger = Ledger(budget, self.events.append)
        self.planner = FreePlanner(Listener(self.brain, self.ledger), Budgets(), menu)

    def _say(self, piece: str) -> None:
        self.said += piece

    async def plan(self, message: str = "where are my keys", **more: object) -> Plan:
        with pytest.raises(PlanSignal) as signal:
            await self.planner.plan(message, self.speech, **more)  # type: ignore[arg-type]
        assert not self.said
        assert not self.brain.script, "something was not asked"
        return signal.value.plan

    async def reply(self, message: str = "hello", **more: object) -> str:
        if await self.planner.plan(message, self.speech, **more):  # type: ignore[arg-type]
            self.speech.finish()
        assert not self.brain.script, "something was not asked"
        return self.said

    def corrections(self) -> list[str]:
        return [m.content for m in self.brain.asked[-1].messages if m.content.startswith("<correction>")]


async def test_a_plan_is_a_call_and_its_sentence_goes_down() -> None:
    heard = Heard(plan("I'll use @search-info to find   their keys."))
    assert await heard.plan() == Plan(("search-info",), 1.0, "I'll use @search-info to find their keys.")
    (asked,) = heard.brain.asked
    assert [tool.name for tool in asked.tools] == ["plan"]
    assert all(f"- @{handle}: " in asked.messages[0].content for handle in HANDLES)
    assert heard.brain.closed == 1


async def test_several_handles_keep_their_order() -> None:
    heard = Heard(plan("@timer, then @search-info and @timer"))
    assert (await heard.plan()).handles == ("timer", "search-info")


async def test_what_names_nothing_is_the_reply() -> None:
    heard = Heard("Good morning! It is nice to hear from you.")
    assert await heard.reply() == "Good morning! It is nice to hear from you."


async def test_a_long_reply_is_said_as_it_comes() -> None:
    told = "Bread is made from flour and water. " * 30
    heard = Heard(told)
    pieces: list[str] = []
    heard.speech = Speech(pieces.append, HANDLES, DENIED)
    assert await heard.planner.plan("how is bread made", heard.speech)
    before = "".join(pieces)
    heard.speech.finish()
    assert len(before) > len(told) - HELD
    assert "".join(pieces) == told.strip()


@pytest.mark.parametrize(
    "near", ["@search-infos", "@searchinfo", "@search", "@kanban-list", "@find-file", "@plan", "@reply"]
)
async def test_a_near_miss_is_corrected_with_the_real_handles_and_never_dropped(near: str) -> None:
    """Field report C5."""
    heard = Heard(plan(f"I'll use {near} and @timer."), plan("@search-info"))
    assert (await heard.plan()).handles == ("search-info",)
    (told,) = heard.corrections()
    assert near in told
    assert all(f"@{handle}" in told for handle in HANDLES)


@pytest.mark.parametrize(
    "form", ["@Search-Info", "@search_info", "@SEARCH_INFO", "**@search-info**", "(@search-info)."]
)
async def test_form_is_repaired(form: str) -> None:
    """Field report C6."""
    assert (await Heard(plan(f"use {form}")).plan()).handles == ("search-info",)


async def test_three_corrections_and_no_more() -> None:
    heard = Heard(*[plan("@nothing")] * (CORRECTIONS + 1))
    assert await heard.reply() == ""
    assert len(heard.brain.asked) == CORRECTIONS + 1


@pytest.mark.parametrize("name", ["@" + "x" * 5000, "@a " * 3000, "@\N{SNOWMAN}", ""])
async def test_a_correction_stays_short(name: str) -> None:
    heard = Heard(plan(name or "nothing at all"), plan("@timer"))
    await heard.plan()
    assert len(heard.corrections()[0]) < 900


@pytest.mark.parametrize(
    "told",
    [
        "I'll use search-info to locate your keys.",
        "Plan: @search-info",
        "Let me check with `search_info` first.",
        "I'll use @search-info to find the user's keys. One moment please.",
    ],
)
async def test_a_plan_that_is_told_is_carried_out(told: str) -> None:
    """Field reports A: narrates instead of calling."""
    made = await Heard(told).plan()
    assert made.handles == ("search-info",)
    assert made.rationale == told


@pytest.mark.parametrize(
    "words",
    ["I can set a timer for you if you like.", "Search info is power.", "See fetch-files.org for that."],
)
async def test_ordinary_words_are_no_handles(words: str) -> None:
    assert await Heard(words).reply() == words


async def test_a_claimed_deed_is_a_failed_plan() -> None:
    """Field report A1: "I've turned off the kitchen light", and nothing ran."""
    heard = Heard("I've turned off the kitchen light.", plan("@timer"))
    assert (await heard.plan("lights off")).handles == ("timer",)
    assert "Nothing was done" in heard.corrections()[0]


async def test_a_deed_that_is_claimed_to_the_end_is_never_said() -> None:
    heard = Heard(*["I have switched off the light."] * (CORRECTIONS + 1))
    assert await heard.reply("lights off") == ""


async def test_without_skills_there_is_no_tool_and_no_claim() -> None:
    """Field report A2: "all covers opened", zero tools bound."""
    heard = Heard("I have turned the lights on.", "I have no skill for that.", menu=())
    assert await heard.reply("lights on") == "I have no skill for that."
    assert all(not asked.tools for asked in heard.brain.asked)


async def test_a_claim_late_in_a_long_reply_ends_it() -> None:
    heard = Heard(
        "Light is a wave and a particle, says physics. " * 8 + "I have turned off the lamp. And more."
    )
    said = await heard.reply("tell me about light")
    assert said.startswith("Light is a wave")
    assert "turned off" not in said
    assert said.endswith(DENIED)


@pytest.mark.parametrize(
    "written",
    [
        Say(calls=(("plan", "{broken"),)),
        Say(calls=(("plan", {}),)),
        Say(calls=(("plan", {"text": ["@timer"]}),)),
        Say(calls=(("plan", {"text": " "}),)),
    ],
)
async def test_a_plan_that_cannot_be_read_is_asked_for_again(written: Say) -> None:
    heard = Heard(written, plan("@timer"))
    assert (await heard.plan()).handles == ("timer",)
    assert "could not be read" in heard.corrections()[0]


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "plan", "arguments": {"text": "@timer"}}',
        '```json\n{"name": "plan", "parameters": {"text": "@timer"}}\n```',
        '[plan(text="@timer")]',
        '<functioncall {"name": "plan", "arguments": {"text": "@timer"}}>',
        '{"arguments": {"text": "@timer"}, "name": "plan"}',
    ],
)
async def test_a_plan_written_as_text_is_a_plan(text: str) -> None:
    """Field reports A3, A4, A7, A8, A11."""
    assert (await Heard(text).plan()).handles == ("timer",)


async def test_a_handle_called_by_its_own_name_is_a_plan() -> None:
    heard = Heard(Say(calls=(("timer", {"text": "ten minutes"}),)))
    assert (await heard.plan()).handles == ("timer",)


async def test_a_failed_plan_is_told_and_its_handles_are_not_offered_again() -> None:
    heard = Heard(plan("@timer"))
    await heard.plan(failed=[Plan(("search-info",), 1.0)])
    (asked,) = heard.brain.asked
    assert "- @search-info:" not in asked.messages[0].content
    assert "@search-info" in asked.messages[-1].content


async def test_forty_skills_stay_in_the_budget() -> None:
    """Field report C8: the menu comes ranked, and its end goes first."""
    menu = tuple(MenuLine(f"skill-{n}", "does many things " * 40, ()) for n in range(40))
    heard = Heard(plan("@skill-0"), menu=menu)
    await heard.plan()
    (asked,) = heard.brain.asked
    assert await heard.brain.count(asked) <= Budgets().planner_prompt
    assert "- @skill-0:" in asked.messages[0].content
    assert "- @skill-39:" not in asked.messages[0].content


async def test_what_was_cut_from_the_menu_is_no_handle() -> None:
    menu = tuple(MenuLine(f"skill-{n}", "does many things " * 40, ()) for n in range(40))
    heard = Heard(plan("@skill-39"), plan("@skill-1"), menu=menu)
    assert (await heard.plan()).handles == ("skill-1",)


async def test_the_oldest_messages_go_first() -> None:
    history = [Message("user", f"message {n} " + "long " * 200) for n in range(30)]
    heard = Heard("Hello.")
    await heard.reply(history=history)
    (asked,) = heard.brain.asked
    assert await heard.brain.count(asked) <= Budgets().planner_prompt
    assert asked.messages[-2] == history[-1]
    assert history[0] not in asked.messages
    assert all(f"- @{handle}: " in asked.messages[0].content for handle in HANDLES)
