"""The flat loop: every tool shown with its whole schema, in one conversation, without a plan.

    reply -> its calls, through the dispatcher -> their results -> reply -> ... -> prose

For a house without skills, for few tools, and for brains that need no help. Knows the conversation; what a
call may do is the dispatcher's business, and what is answered from the results is the attempt's.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from muleteer.engine.protocol import Conversation, Message, ToolSpec
from muleteer.harness.answer import spoken
from muleteer.harness.brains import Said
from muleteer.harness.claims import any_claim
from muleteer.harness.dispatcher import Dispatcher
from muleteer.harness.free.listening import Heard, Listener, corrected
from muleteer.harness.free.speech import Speech
from muleteer.harness.ledger import Ledger
from muleteer.harness.prompts import render
from muleteer.harness.signals import ConfirmSignal
from muleteer.settings.sections import Budgets
from muleteer.toolbox import Tool

# Replies in one turn. Three calls and an answer are the most that people ask for at once; the fifth is for a
# correction, and what goes on after it goes in circles.
ROUND_TRIPS = 5

# Replies that are empty, or not carried out, before the loop gives up.
REGENERATIONS = 2

# Calls of one reply; more is a list of everything that there is.
MOST_CALLS = 4


def opening(
    tools: Sequence[Tool], message: str, history: Sequence[Message] = (), dropped: int = 0
) -> Conversation:
    """The first prompt: preamble and tools are constant. Without the first `dropped` messages of the history,
    which is said."""
    first, *rest = [*history[dropped:], Message("user", message)]
    if dropped:
        first = Message(first.role, f"{render('left_out')}\n{first.content}", first.calls)
    shown = tuple(ToolSpec(t.name, t.description, t.parameters) for t in tools if not t.hidden)
    return Conversation((Message("system", render("flat")), first, *rest), shown, constant=1)


class Flat:
    """One turn's loop over a brain that talks freely."""

    def __init__(self, listener: Listener, ledger: Ledger, budgets: Budgets) -> None:
        self._listener, self._ledger, self._budgets = listener, ledger, budgets
        self.dropped = 0

    async def follow(
        self,
        dispatcher: Dispatcher,
        tools: Sequence[Tool],
        message: str,
        history: Sequence[Message] = (),
        speech: Speech | None = None,
    ) -> str:
        """Calls until the brain answers in prose, which is returned; what the tools said where it did not,
        within its round trips and its tokens. As long as nothing was called, `speech` hears the prose as it
        comes. Raises `ToolLoopHalt` when a limit trips, and as the lane does."""
        return await self._follow(dispatcher, tools, await self._fitting(tools, message, history), speech)

    async def go_on(self, dispatcher: Dispatcher, heard: Heard, control: str) -> str:
        """`follow` from a call on that had to wait for a yes; `control` is what it gave."""
        heard = replace(heard, results=(*heard.results, control))
        results = await self._call(dispatcher, heard)
        prompt = _grown(heard.prompt, heard.said, results, self._ledger.note())
        return await self._follow(dispatcher, heard.tools, prompt)

    async def _follow(
        self,
        dispatcher: Dispatcher,
        tools: Sequence[Tool],
        prompt: Conversation,
        speech: Speech | None = None,
    ) -> str:
        wrong = 0
        for _ in range(ROUND_TRIPS):
            hears = speech if speech and not dispatcher.asked else None
            said = await self._reply(prompt, hears)
            if hears and hears.begun and not said.calls:
                return said.text
            if hears:
                hears.drop()
            if fault := _fault(said, dispatcher.asked):
                wrong += 1
                if wrong > REGENERATIONS:
                    return said.text if not said.calls else spoken(dispatcher.bridge.results)
                prompt = corrected(prompt, said, fault)
            elif not said.calls:
                return said.text
            else:
                results = await self._call(dispatcher, Heard(prompt, said, (), tuple(tools)))
                if set(results) == {render("repeated")}:
                    break  # it has what it asks for, and goes in circles
                prompt = _grown(prompt, said, results, self._ledger.note())
            if self._ledger.withdrawn or await self._listener.lane.count(prompt) > self._budgets.flat_prompt:
                break
        return spoken(dispatcher.bridge.results)

    async def _reply(self, prompt: Conversation, speech: Speech | None) -> Said:
        limit = max(self._budgets.agent_output, self._budgets.answer_output)
        if speech is None:
            return await self._listener.hear("flat", prompt, limit)
        return await self._listener.hear("flat", prompt, limit, speech.feed)

    async def _fitting(self, tools: Sequence[Tool], message: str, history: Sequence[Message]) -> Conversation:
        """The oldest whole messages go where the prompt exceeds its budget."""
        self.dropped = 0
        while True:
            prompt = opening(tools, message, history, self.dropped)
            tokens = await self._listener.lane.count(prompt)
            if tokens <= self._budgets.flat_prompt or self.dropped == len(history):
                return prompt
            self.dropped += 1

    async def _call(self, dispatcher: Dispatcher, heard: Heard) -> list[str]:
        """Every call of the reply that was not made yet, one after the other: what each gave."""
        results = list(heard.results)
        for call in heard.said.calls[len(results) : MOST_CALLS]:
            try:
                results.append(await dispatcher.made(call.name, call.arguments or {}, whole=not call.closed))
            except ConfirmSignal as signal:
                signal.heard = replace(heard, results=tuple(results))
                raise
        return results


def _grown(prompt: Conversation, said: Said, results: Sequence[str], note: str) -> Conversation:
    """The conversation with a reply's calls and their results; the `note` to wind down stands in the last."""
    if note:
        results = [*results[:-1], f"{results[-1]}\n{note}"]
    made = [(call.name, json.dumps(call.arguments, ensure_ascii=False)) for call in said.calls]
    asked = Message("assistant", said.text, tuple(made[: len(results)]))
    told = [Message("tool", each) for each in results]
    return Conversation((*prompt.messages, asked, *told), prompt.tools, prompt.constant)


def _fault(said: Said, asked: bool) -> str:
    """Why this reply neither calls nor answers; nothing where it does. After a call, what that returned is an
    answer. None of its calls is made where one cannot be read, since the others may build on it."""
    for call in said.calls:
        if call.fault or call.arguments is None:
            return render("flat_call", fault=call.fault or "its arguments could not be read.")
    if not said.calls and not asked and not said.text.strip():
        return render("flat_empty")
    if not said.calls and not asked and any_claim(said.text):
        return render("flat_claim")
    return ""
