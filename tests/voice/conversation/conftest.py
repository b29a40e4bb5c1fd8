"""Conversations on scripted parts, in virtual time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from tests.voice.conversation.clock import VirtualLoop


def pytest_asyncio_loop_factories() -> dict[str, Callable[[], asyncio.AbstractEventLoop]]:
    return {"virtual": VirtualLoop}
