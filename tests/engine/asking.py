"""What the tests of decoding ask, and how they look at the answers."""

from __future__ import annotations

from collections.abc import Callable

from muleteer.engine.decode import Decoder
from muleteer.engine.protocol import Conversation, Message, Text, ToolSpec

MENU = "Pick a handle.\n@clock: the time\n@check: a check\n@check-notebook: notes\n@reply: anything else"
HANDLES = ("clock", "check", "check-notebook", "check-calendar", "reply")
PLACE = {
    "type": "object",
    "properties": {"place": {"type": "string"}, "utc": {"type": "boolean"}},
    "required": ["place", "utc"],
}
CLOCK = ToolSpec("clock", "Tells the time somewhere.", PLACE)


class CancelledError(Exception):
    """What this test's `check` raises."""


def go_on() -> None:
    """A `check` that never cancels."""


def cancel_after(looks: int) -> Callable[[], None]:
    """A `check` that cancels when it is called once more than `looks` times."""
    left = iter(range(looks))

    def check() -> None:
        if next(left, None) is None:
            raise CancelledError

    return check


def say(*words: str, system: str = "Be brief.", constant: int = 0, begin: str = "") -> Conversation:
    roles = ("user", "assistant")
    messages = [Message(roles[i % 2], text) for i, text in enumerate(words)]  # type: ignore[arg-type]  # roles
    return Conversation((Message("system", system), *messages), (), constant, begin)


def write(decoder: Decoder, prompt: Conversation, limit: int, *stop: str) -> tuple[list[str], Text]:
    *chunks, text = decoder.write(prompt, limit, stop, go_on)
    assert isinstance(text, Text)
    assert "".join(str(chunk) for chunk in chunks) == text.text
    return [str(chunk) for chunk in chunks], text


def assert_exact(decoder: Decoder) -> None:
    """The ledger equals what llama_decode was given."""
    totals = decoder.totals
    assert totals.prompt == totals.reused + totals.decoded
    assert decoder.evaluated == totals.decoded + totals.generated + totals.rejected - decoder.unevaluated
