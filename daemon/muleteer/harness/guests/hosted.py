"""A turn over a guest's own tools, or under a guest's own schema: none of ours is run.

    decide (staged.py): calls for the guest to make, or none
      none, and results are there -> an answer from them      none at all -> a reply
      a schema for the answer     -> the answer, filled under it

Nothing is claimed that no function returned, and no call is shown as text: one that a reply holds is made
properly. Knows one request; what was said in it is not kept.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncGenerator, Coroutine, Sequence

from muleteer.engine.protocol import Conversation, Message
from muleteer.harness import landing
from muleteer.harness.claims import Guard
from muleteer.harness.clip import clipped
from muleteer.harness.confirmation import Pending
from muleteer.harness.events import Emit, Event
from muleteer.harness.exact import ExactLane
from muleteer.harness.guests.ask import Ask, CallsWanted, Finish, Finishing, Wanted
from muleteer.harness.guests.cutting import Stops
from muleteer.harness.guests.room import Room, instructions
from muleteer.harness.guests.several import left
from muleteer.harness.guests.talk import Talk
from muleteer.harness.guests.values import SAYABLE, Values, readable, shortened
from muleteer.harness.guests.writing import Check, Pen, Written
from muleteer.harness.language import language
from muleteer.harness.phrases import phrases
from muleteer.harness.prompts import render
from muleteer.harness.record import Record
from muleteer.harness.sameness import form
from muleteer.harness.signals import ConfirmSignal
from muleteer.harness.staged import ARGUMENTS, Called, Staged
from muleteer.harness.turn import Harness, stream_of

# Seconds of one request: as long as the usual clients wait. A cold prompt of 2,000 tokens alone takes two
# minutes on a slow board, and the next request finds it decoded.
SECONDS = 600.0

# What a request may spend, in contexts: a choice, a call and an answer, each with a prompt that fills one.
CONTEXTS = 3

# Replies with calls for one message; whoever asks for a ninth goes in circles, and gets an answer.
MOST_ROUNDS = 8

# The guest's instructions may take this share of the context: tools and conversation must have room as well.
INSTRUCTIONS = 3

# A menu of many tools may take this share of it, where it is shown whole.
MENU = 3

# Characters of all results together that an answer is written from: about 1,200 tokens.
RESULTS = 5000

REGENERATIONS = 2


def host(
    harness: Harness, staged: Staged, ask: Ask, talk: Talk, context: int, marks: Sequence[str] = ()
) -> AsyncGenerator[Event, None]:
    """The turn's events, as `Harness.run` has them, with `CallsWanted` where it ends in calls, and one
    `Finishing`. `context` in tokens; `marks` are the model's own for calls."""

    def work(emit: Emit) -> Coroutine[None, None, None]:
        return _Hosted(harness, staged, ask, talk, context, marks, emit).run()

    return stream_of(work)


class _Hosted:
    def __init__(
        self,
        harness: Harness,
        staged: Staged,
        ask: Ask,
        talk: Talk,
        context: int,
        marks: Sequence[str],
        emit: Emit,
    ) -> None:
        budgets = harness.budgets.model_copy(update={"turn": CONTEXTS * context})
        self._language = language(talk.message, harness.language)
        words = phrases(self._language)
        self._staged, self._ask, self._talk, self._context = staged, ask, talk, context
        self._record = Record(secrets.token_hex(8), budgets, emit, words)
        self._lane = ExactLane(harness.brain.lane(), self._record.id, harness.audit)
        self._output = min(budgets.answer_output if ask.limit is None else ask.limit, context // 2)
        self._room = Room(self._lane, context - max(self._output, min(ARGUMENTS, context // 4)))
        self._pen = Pen(self._lane, self._record.ledger, tuple(staged.tools.values()), marks)
        self._finish: Finish = "length"  # if a limit stops the work before it says otherwise
        self._warnings = [f"{name} was left out. {why}" for name, why in staged.refused.items()]
        self._told = ""

    async def run(self) -> None:
        await landing.land(self._record, self._within_limits(), _no_question)

    async def _within_limits(self) -> None:
        await landing.within(SECONDS, self._record, self._work())
        self._record.dropped = self._talk.dropped + self._room.dropped
        self._record.emit(Finishing(self._finish, tuple(self._warnings)))

    async def _work(self) -> None:
        limit = self._context // INSTRUCTIONS
        self._told, warning = await instructions(self._lane, self._talk.system, limit)
        self._warnings += [warning] if warning else []
        if await self._calls(self._ask.named):
            return
        if self._must:
            return  # the arguments did not come to an end
        if self._ask.schema is not None:
            await self._json()
        elif self._talk.made:
            await self._answer()
        else:
            await self._reply()

    @property
    def _must(self) -> bool:
        return self._ask.choice == "required" or bool(self._ask.named)

    async def _calls(self, named: str = "") -> bool:
        """Whether the turn ends with calls, which the guest is told."""
        talk, going = self._talk, self._talk.rounds < MOST_ROUNDS
        if not self._staged.tools or self._ask.choice == "none" or not (going or self._must):
            return False
        calls = await self._decide(talk.message, self._must, named)
        if calls and not (named or talk.made):
            for part in left(talk.message, self._language, calls)[: self._ask.calls - 1]:
                calls += [call for call in await self._decide(part) if call not in calls]
        if calls:
            self._record.emit(CallsWanted(tuple(calls)))
            self._finish = "tool_calls"
        return bool(calls)

    async def _decide(self, message: str, must: bool = False, named: str = "") -> list[Wanted]:
        """The call for a message, or for a part of it; none where no tool fits."""
        decision = await self._staged.decide(
            self._lane,
            self._record.ledger,
            self._messages(message),
            must=must,
            named=named,
            results=[(Called(made.name, made.arguments), made.result) for made in self._talk.made],
            limit=self._ask.limit,
            wide=self._context // MENU,
            fit=self._room.fit,
        )
        wanted = [Wanted(call.name, call.arguments) for call in decision.calls]
        return [call for call in wanted if must or not self._answered(call)]

    def _answered(self, call: Wanted) -> bool:
        """Whether the call was made already, and well: one more or one less argument asks the same again."""
        return any(
            made.name == call.name
            and not made.failed
            and all(made.arguments.get(name, value) == value for name, value in call.arguments.items())
            for made in self._talk.made
        )

    async def _reply(self) -> None:
        """Without any function: nothing may be claimed."""
        record, talk = self._record, self._talk
        told = " ".join((self._told, *(each.content for each in talk.history), talk.message))
        message = talk.message
        for _ in range(1 + REGENERATIONS):
            written = await self._write("reply", "guest_reply", message, [Guard(told)])
            if await self._written_call(written):
                return
            if written.tripped:
                record.say(record.words.not_done)
            if record.said or written.cut or self._ask.stop:
                return
            message = f"{talk.message}\n(Answer in one sentence.)"
        record.say(record.words.floor)

    async def _answer(self) -> None:
        """From what the functions returned; where that is short, each value in it is checked. Deeds are told
        only where one of them succeeded."""
        record, talk = self._record, self._talk
        results = [made.result for made in talk.made]
        done = any(not made.failed for made in talk.made)
        short = len(readable(results)) <= SAYABLE
        checks: list[Check] = [] if done else [Guard()]
        checks += [Values(self._source())] if short else []
        written = await self._write("answer", "guest_answer", self._with_results(), checks)
        if not written.tripped and await self._written_call(written):
            return
        if written.tripped or not (record.said or written.cut or self._ask.stop):
            said = readable(results) if short else "\n".join(map(shortened, results))
            record.say(f"\n{said}" if record.said else said or record.words.floor)

    async def _json(self) -> None:
        schema = self._ask.schema or {}
        message = self._with_results() if self._talk.made else self._talk.message
        rules = render("guest_json", schema=json.dumps(schema, ensure_ascii=False))
        prompt = await self._prompt(rules, message)
        limit = self._record.ledger.allow_answer(self._output)
        text = await self._lane.fill(prompt, schema, limit=limit)
        self._record.ledger.book("answer", text.use)
        stops = Stops(self._ask.stop)
        self._record.say(stops.feed(text.text) + stops.finish())
        self._finish = "stop" if text.finish == "stop" or stops.stopped else "length"

    async def _write(self, level: str, rules: str, message: str, checks: Sequence[Check]) -> Written:
        prompt = await self._prompt(render(rules), message)
        limit = self._record.ledger.allow_answer(self._output)
        written = await self._pen.write(level, prompt, limit, self._ask.stop, checks, self._record.say)
        self._finish = "length" if written.cut else "stop"
        return written

    async def _written_call(self, written: Written) -> bool:
        """Whether the text held the call of a function there is, which then is made under its schema."""
        withheld = self._staged.withheld(self._talk.message, [made.name for made in self._talk.made])
        names = {form(name): name for name in self._staged.tools if name not in withheld}
        named = next((names[form(call.name)] for call in written.calls if form(call.name) in names), "")
        return bool(named) and await self._calls(named)

    async def _prompt(self, rules: str, message: str) -> Conversation:
        if self._told:
            rules = render("guest_rules", rules=rules, told=self._told)

        def build(messages: Sequence[Message]) -> Conversation:
            return Conversation((Message("system", rules), *messages))

        return await self._room.fit(build, (*self._talk.history, Message("user", message)))

    def _messages(self, message: str) -> tuple[Message, ...]:
        told = (Message("system", self._told),) if self._told else ()
        return (*told, *self._talk.history, Message("user", message))

    def _with_results(self) -> str:
        """The message with what was returned for it."""
        made = self._talk.made
        each = RESULTS // len(made)
        lines = (
            f"- {one.name}({json.dumps(one.arguments, ensure_ascii=False)}): {clipped(one.result, each)}"
            for one in made
        )
        return render("guest_results", results="\n".join(lines), message=self._talk.message)

    def _source(self) -> str:
        """Everything that a value in an answer may be from."""
        talk = self._talk
        said = (each.content for each in talk.history)
        returned = (
            f"{json.dumps(made.arguments)} {made.result} {readable([made.result])}" for made in talk.made
        )
        return " ".join((self._told, *said, talk.message, *returned))


def _no_question(signal: ConfirmSignal) -> Pending:
    raise AssertionError("none of our tools is run") from signal
