"""The page in a headless Chromium: people's ways through it, and what it must not do."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from muleteer.harness.events import (
    CallFinished,
    CallStarted,
    CallUse,
    Confirm,
    LevelFinished,
    LevelUse,
    Planned,
    TextDelta,
    TurnFailed,
    TurnFinished,
    TurnStarted,
)
from tests.gateway.forwarding import forwarded
from tests.gateway.networked import Networked
from tests.gateway.page.conftest import PHONE, Seen, opened
from tests.gateway.scripted import PENDING, within

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = pytest.mark.asyncio(loop_scope="module")  # one browser for all of them

EVIL = "It is <img src=x onerror=alert(1)> 12:00 & “noon”."
PLANNER = LevelUse("planner", 612, 590, 22, 1, 310.0)
AGENT = LevelUse("agent:current_time", 240, 200, 40, 12, 820.0)
SCRIPT = (
    TurnStarted("t1"),
    LevelFinished(PLANNER),
    Planned(("current-time",), 0.94, 1),
    LevelFinished(AGENT),
    CallStarted("current_time", {"place": "Istanbul"}),
    CallFinished("current_time", "ok", "In Istanbul it is 12:00.", 4.0),
    TextDelta(EVIL[:10]),
    TextDelta(EVIL[10:]),
    TurnFinished(
        "t1", EVIL, ("current-time",), (CallUse("current_time", "ok", 4.0),), (PLANNER, AGENT), 1300.0, 1200.0
    ),
)
ASKED = Confirm(
    "t1", "switch", "physical", {"device": "lamp", "on": True}, "Shall I use switch (lamp, on)? It acts.",
    300.0, ("switch",), (), (PLANNER,), 400.0,
)  # fmt: skip


async def sign_in(net: Networked, seen: Seen) -> None:
    """As people do: by the code that the device shows."""
    assert net.listening.pairing
    code = net.listening.pairing.show("", frozenset({"chat"}))
    await seen.page.goto(net.url)
    await seen.page.get_by_label("Code").fill(code.digits)
    await seen.page.get_by_label("A name for this browser").fill("my phone")
    await seen.page.get_by_role("button", name="Go on").click()
    await seen.page.get_by_text("Ready", exact=True).wait_for()


async def say(seen: Seen, message: str) -> None:
    await seen.page.get_by_label("Message").fill(message)
    await seen.page.keyboard.press("Enter")


async def test_chat_over_the_network_with_a_code(net: Networked, browser: Browser) -> None:
    net.harness.script = SCRIPT
    async with opened(browser) as seen:
        page = seen.page
        await sign_in(net, seen)
        assert [token.name for token in net.tokens] == ["my-phone"]
        await say(seen, "What time is it in <b>Istanbul</b>?")
        answer = page.locator(".answer")
        await page.get_by_text("Answered in 1.3 s").wait_for()
        assert await answer.text_content() == EVIL
        assert await page.locator(".mine").text_content() == "What time is it in <b>Istanbul</b>?"
        assert await page.locator(".log img, .log b").count() == 0
        assert await page.locator("#spoken").text_content() == EVIL
        assert net.harness.asked[0][0] == "What time is it in <b>Istanbul</b>?"
        assert (seen.complaints, seen.left(net.url)) == ([], [])
        assert await page.evaluate("document.cookie") == ""


async def test_the_trace_shows_levels_tokens_and_results(net: Networked, browser: Browser) -> None:
    net.harness.script = SCRIPT
    async with opened(browser) as seen:
        await sign_in(net, seen)
        await say(seen, "What time is it in Istanbul?")
        summary = seen.page.get_by_text("Answered in 1.3 s · 1 tool call · 93 % of 852 tokens reused")
        await summary.click()
        trace = await seen.page.locator(".steps").inner_text()
        for told in (
            "Chose @current-time", "94 % sure", "Model: planner",
            "590 reused, 22 read anew, 1 written (tokens)",
            "Model: agent for current_time", "820 ms", "Uses current_time", 'place: "Istanbul"', "found",
            "In Istanbul it is 12:00.",
        ):  # fmt: skip
            assert told in trace
        widths = await seen.check("bars")
        assert [[round(each, 2) for each in bar] for bar in widths] == [[0.96, 0.04, 0.0], [0.79, 0.16, 0.05]]
        assert seen.complaints == []


async def test_a_question_is_answered_by_its_buttons(net: Networked, browser: Browser) -> None:
    net.harness.script, net.harness.open = (TurnStarted("t1"), LevelFinished(PLANNER), ASKED), {"t1": PENDING}
    async with opened(browser) as seen:
        await sign_in(net, seen)
        await say(seen, "lamp on")
        no = seen.page.get_by_role("button", name="No")
        await no.wait_for()
        assert await no.evaluate("element => element === document.activeElement")
        assert ASKED.question in (await seen.page.locator("#spoken").text_content() or "")
        net.harness.script = SCRIPT
        await seen.page.get_by_role("button", name="Yes, do it").click()
        await seen.page.get_by_text("Answered in").wait_for()
        assert net.harness.answered == [("t1", True)]
        assert await seen.page.get_by_role("button", name="Yes, do it").count() == 0
        assert seen.complaints == []


async def test_stop_frees_the_engine_and_says_so(net: Networked, browser: Browser) -> None:
    net.harness.script = (TurnStarted("t1"), TextDelta("Once upon"), asyncio.Event())
    async with opened(browser) as seen:
        await sign_in(net, seen)
        await say(seen, "tell me a story")
        await seen.page.get_by_text("Once upon").wait_for()
        await seen.page.get_by_role("button", name="Stop").click()
        await within(net.harness.freed)
        await seen.page.locator(".turn").get_by_text("The turn was stopped, as somebody asked.").wait_for()
        assert await seen.page.get_by_role("button", name="Send").is_visible()
        assert net.turns.counts()["cancelled"] == 1
        assert seen.complaints == []


async def test_without_a_token_on_the_unix_socket_and_what_went_wrong(
    net: Networked, browser: Browser
) -> None:
    net.harness.script = (
        TurnStarted("t1"),
        TurnFailed("t1", "engine", "The engine broke: ask again.", 503, ()),
    )
    async with forwarded(net.unix) as url, opened(browser) as seen:
        await seen.page.goto(url)
        await seen.page.get_by_text("Ready", exact=True).wait_for()
        await say(seen, "hello")
        await seen.page.locator(".turn").get_by_text("The engine broke: ask again.").wait_for()
        assert not await seen.page.get_by_role("button", name="Forget me").is_visible()
        assert (seen.complaints, seen.left(url)) == ([], [])


async def test_the_device_tells_of_itself(net: Networked, browser: Browser) -> None:
    async with opened(browser) as seen:
        await sign_in(net, seen)
        device = seen.page.get_by_role("complementary", name="This device")
        await device.get_by_text("attic <b>").wait_for()
        told = await device.inner_text()
        for each in ("54 °C", "kitchen", "this one, drives", "away", "used here", "no: so chosen"):
            assert each in told
        assert await seen.page.get_by_text("Offline", exact=True).is_visible()


async def test_a_wrong_code_and_a_revoked_token_are_told_in_a_sentence(
    net: Networked, browser: Browser
) -> None:
    async with opened(browser) as seen:
        await seen.page.goto(net.url)
        await seen.page.get_by_label("Code").fill("000000")
        await seen.page.get_by_role("button", name="Go on").click()
        alert = seen.page.get_by_role("alert")
        await alert.get_by_text("code").wait_for()
        await seen.page.get_by_text("I have a token").click()
        await seen.page.get_by_label("Token", exact=True).fill("made-up")
        await seen.page.get_by_role("button", name="Go on").click()
        await alert.get_by_text("does not know that token").wait_for()
        await seen.page.get_by_label("Token", exact=True).fill(await net.token("chat", name="old"))
        await seen.page.get_by_role("button", name="Go on").click()
        await seen.page.get_by_text("Ready", exact=True).wait_for()
        await seen.page.get_by_label("Message").fill("hello")
        net.tokens.cut("old")
        await seen.page.keyboard.press("Enter")  # unless the page has found out by itself by then
        await seen.page.get_by_role("heading", name="Who are you?").wait_for()


async def test_it_is_usable_by_keyboard_and_named_for_screen_readers(
    net: Networked, browser: Browser
) -> None:
    async with opened(browser) as seen:
        page = seen.page
        await sign_in(net, seen)
        assert await seen.check("nameless") == []
        for role in ("banner", "main", "complementary"):
            assert await page.get_by_role(role).count() == 1
        assert await page.locator("[aria-live=polite], [role=status], [role=alert]").count() >= 2
        await page.get_by_label("Message").fill("x")
        order = []
        for _ in range(4):
            order.append(
                await page.evaluate("document.activeElement.id || document.activeElement.textContent")
            )
            await page.keyboard.press("Tab")
        assert order[:3] == ["message", "send", "leave"]
        await page.get_by_role("button", name="Send").focus()
        outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_a_phone_scrolls_only_down_and_text_has_contrast(
    net: Networked, browser: Browser, scheme: str, tmp_path: Path
) -> None:
    net.harness.script = SCRIPT
    async with opened(browser, PHONE, scheme) as seen:
        page = seen.page
        await sign_in(net, seen)
        await say(seen, "What time is it in Istanbul? " + "Longwordwithoutanyspace" * 10)
        await page.get_by_text("Answered in").click()
        assert await seen.check("wider") == []
        assert await seen.check("faint") == []
        await page.get_by_role("button", name="Device").click()
        await page.get_by_text("54 °C").wait_for()
        assert await seen.check("wider") == []
        assert await seen.check("faint") == []
        assert len(await page.screenshot(path=tmp_path / f"{scheme}.png")) > 10_000


async def test_its_policy_allows_nothing_else(net: Networked, browser: Browser) -> None:
    async with httpx.AsyncClient(base_url=net.url) as client:
        reply = await client.get("/", headers={"accept": "text/html"})
    policy = reply.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "set-cookie" not in reply.headers
    async with opened(browser) as seen:
        await sign_in(net, seen)
        blocked = await seen.check("injected")
        assert blocked == "script-src-elem"
        assert await seen.page.evaluate("window.ran") is None
