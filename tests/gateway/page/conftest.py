"""The page behind the real listeners, with a scripted harness, and a headless Chromium in front of it."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from muleteer.gateway import replies
from muleteer.gateway.app import Report
from muleteer.gateway.page import page_route
from muleteer.gateway.seat import seat_routes
from muleteer.gateway.sessions import Conversations
from muleteer.skills import Catalogue
from muleteer.store.memory import TurnMemory
from tests.gateway.networked import Networked, networked

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
CHECKS = (Path(__file__).parent / "checks.js").read_text().partition("\n\n")[2].rstrip()
WIDE, PHONE = {"width": 1200, "height": 800}, {"width": 360, "height": 740}

TOLD: dict[str, Report] = {
    "heat": lambda: {"celsius": 54.2, "throttled": False, "undervoltage": False},
    "offline": lambda: {"mode": "on", "offline": True, "reason": "so chosen with `muleteer offline on`"},
}
ME, OTHER = "3f7a" * 8, "9c01" * 8


class Household:
    """A driver with one more device."""

    def report(self) -> Mapping[str, object]:
        return {
            "role": "driver",
            "drives": True,
            "driver": {"id": ME, "name": "kitchen"},
            "reason": "this device drives.",
            "device": {"id": ME, "name": "kitchen"},
            "peers": [{"id": OTHER, "name": "attic <b>", "connected": False}],
        }

    def members(self) -> list[dict[str, object]]:
        return []

    async def take(self) -> None: ...
    async def give(self) -> None: ...
    async def invite(self) -> Mapping[str, object]:
        return {}

    async def join(self, code: str, address: str = "") -> None: ...
    async def forget(self, device: str) -> str:
        return device


@pytest_asyncio.fixture(loop_scope="module")
async def net(folder: Path, catalogue: Catalogue) -> AsyncIterator[Networked]:
    async def nothing() -> None: ...

    memory = TurnMemory(folder / "memory.db", 0, 10, ME)
    household = Household()

    async def devices(request: Request) -> Response:
        return replies.Json({"devices": [{"id": "77aa" * 8, "name": "77aa77aa"}], "mdns": ""})

    routes = [
        page_route(),
        *seat_routes(household, household),
        *Conversations(memory, 1, nothing).routes(),
        Route("/v1/devices", devices),
    ]
    async with networked(folder, catalogue, more=routes, told=TOLD) as net:
        yield net


@dataclass
class Seen:
    """A page, and everything that it complained about or asked for."""

    page: Page
    complaints: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on(
            "console",
            lambda message: self.complaints.append(f"{message.type}: {message.text} {message.location}"),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.asked.append(request.url))

    async def check(self, name: str) -> Any:
        """What one of `checks.js` finds."""
        return await self.page.evaluate(f"{CHECKS}.{name}()")

    def left(self, origin: str) -> list[str]:
        """What was asked of anybody else."""
        return [url for url in self.asked if not url.startswith((f"{origin}/", "data:"))]


@pytest.fixture(scope="module")
def chromium() -> str:
    pytest.importorskip("playwright", reason="pip install -e '.[proof]' brings the driver of the browser")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: sudo apt install chromium")
    return CHROMIUM


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser(chromium: str) -> AsyncIterator[Browser]:
    from playwright.async_api import async_playwright

    sandbox = [] if os.geteuid() else ["--no-sandbox"]  # it has none for root
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=chromium, args=sandbox)
        yield browser
        await browser.close()


@asynccontextmanager
async def opened(
    browser: Browser, width: dict[str, int] = WIDE, scheme: str = "light"
) -> AsyncIterator[Seen]:
    context = await browser.new_context(
        viewport={"width": width["width"], "height": width["height"]},
        color_scheme="dark" if scheme == "dark" else "light",
    )
    context.set_default_timeout(10_000)
    try:
        yield Seen(await context.new_page())
    finally:
        await context.close()
