"""What was said becomes a turn, and the turn what to say: Wyoming's `transcript` in, `handled` out.

A conversation has a name of the client's; what was said in it since this start is known again, and a
question that a turn ended with is answered by the next yes or no in it. Anything else that is said leaves the
question alone and is a new turn. Knows turns and events; not connections.
"""

from __future__ import annotations

import hmac
import secrets
from collections import OrderedDict
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from functools import cache

from wyoming.event import Event
from wyoming.handle import Handled, HandledChunk, HandledStart, HandledStop, NotHandled

from muleteer.engine.protocol import Message
from muleteer.errors import MuleteerError
from muleteer.gateway.requests import LONGEST_MESSAGE
from muleteer.gateway.running import Turn
from muleteer.gateway.turns import Turns
from muleteer.harness.assent import assent
from muleteer.harness.events import Confirm, Outcome, TextDelta, TurnFailed, TurnFinished
from muleteer.harness.phrases import LANGUAGES, phrases
from muleteer.utterances import Sentences

History = Callable[[str], Awaitable[Sequence[Message]]]
Context = dict[str, str]

CONVERSATION = "conversation_id"  # in the context of a transcript, as Home Assistant has it
LONGEST_CONVERSATION = 256  # characters of such a name
MOST_QUESTIONS = 32  # open ones; as many as the harness keeps
KEY_SIZE = 32  # random bytes
SESSION_DIGITS = 16  # hexadecimal ones: 64 bits, which nobody tries out over a network
SILENCE = "I have heard nothing."
TOO_LONG = f"That is more than {LONGEST_MESSAGE} bytes at once; say less."
# Answers of the harness that say that nothing was done: their beginnings, in every language.
UNDONE = ("floor", "not_done", "no_skill", "no_order", "undecided", "unmet", "no_source")


class Talks:
    """All conversations. `history` is what was said in a session."""

    def __init__(self, turns: Turns, history: History) -> None:
        self._turns, self._history = turns, history
        self._key = secrets.token_bytes(KEY_SIZE)
        self._questions: OrderedDict[str, str] = OrderedDict()  # the turn that asked, by session

    def session_of(self, peer: str, conversation: str) -> str:
        """The session of a client's conversation. Only this service can work it out, since a session's name
        is all that is needed to read it or go on with it: it is keyed with a secret of this start, and so
        nobody goes on with a conversation from before. It looks like that of a conversation without a name,
        which `muleteer sessions` does not list."""
        told = f"{peer}\0{conversation}".encode(errors="replace")
        return hmac.digest(self._key, told, "sha256").hex()[:SESSION_DIGITS]

    async def answer(self, said: str, session: str, context: Context) -> AsyncGenerator[Event, None]:
        """What to say to what was said, within this session, which must have begun. Ends the turn when it is
        closed early."""
        said = said.encode(errors="replace").decode().replace("\0", " ").strip()
        if not said or len(said.encode()) > LONGEST_MESSAGE:
            yield NotHandled(TOO_LONG if said else SILENCE, context).event()
            return
        try:
            async with await self._begin(said, session) as turn:
                async for event in self._spoken(turn, session, context):
                    yield event
        except MuleteerError as error:
            yield NotHandled(str(error), context).event()

    async def _begin(self, said: str, session: str) -> AbstractAsyncContextManager[Turn]:
        asked = self._questions.pop(session, "")
        if asked and (yes := assent(said)) is not None:
            return self._turns.confirm(asked, yes)
        return self._turns.start(said, await self._history(session))

    async def _spoken(self, turn: Turn, session: str, context: Context) -> AsyncGenerator[Event, None]:
        """Sentence by sentence, and in the end whole, for clients that do not stream."""
        sentences, spoken = Sentences(), ""
        while not isinstance(event := await turn.next(), Outcome):
            for sentence in sentences.feed(event.text) if isinstance(event, TextDelta) else ():
                if not spoken:
                    yield HandledStart(context).event()
                spoken += sentence
                yield HandledChunk(sentence).event()
        if isinstance(event, Confirm):
            self._ask(session, event.turn)
        text, handled = _ending(event, turn.text)
        if handled and text.startswith(spoken) and (rest := text.removeprefix(spoken)):
            if not spoken:
                yield HandledStart(context).event()
            spoken += rest
            yield HandledChunk(rest).event()
        yield Handled(text, context).event() if handled else NotHandled(text, context).event()
        if spoken:
            yield HandledStop().event()

    def _ask(self, session: str, turn: str) -> None:
        self._questions[session] = turn
        if len(self._questions) > MOST_QUESTIONS:
            self._questions.popitem(last=False)


def _ending(outcome: Outcome, before: str) -> tuple[str, bool]:
    """What to say of it, and whether anything came of what was said. `before` is what the turn said itself,
    such as of the requests before the one it asks about."""
    match outcome:
        case TurnFinished():
            found = not outcome.calls or any(call.status in ("ok", "empty") for call in outcome.calls)
            return outcome.answer, found and not outcome.answer.startswith(_undone())
        case Confirm():
            gap = "" if not before or before[-1].isspace() else " "
            return f"{before}{gap}{outcome.question}", True
        case TurnFailed():
            return outcome.message, False


@cache
def _undone() -> tuple[str, ...]:
    spoken = [phrases(language) for language in LANGUAGES]
    return tuple(getattr(each, name).partition("{")[0] for each in spoken for name in UNDONE)
