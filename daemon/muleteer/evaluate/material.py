"""What a benchmark asks: the harness's own prompts over the shipped skills and tools, and texts to read and
to copy.

Knows the harness and no engine. Texts are made from numbered parts, so that a prompt can be new to every
cache, or the same again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from muleteer import paths
from muleteer.engine.protocol import Conversation, JsonSchema, Message
from muleteer.harness import constants, follower, tool_agent
from muleteer.harness.dispatcher import control_line
from muleteer.harness.planner import REPLY, Planner
from muleteer.settings.sections import Budgets
from muleteer.skills import Catalogue, load_catalogue
from muleteer.store.notebook import SqliteNotebook
from muleteer.tool import Result, Services
from muleteer.toolbox import Toolbox

SKILL = "home-control"
"""The shipped skill that needs a follower: a turn that takes every level."""

REQUESTS = (
    "If the greenhouse is colder than ten degrees, turn on its heater.",
    "Please look whether the cellar is damp, and start the fan if so.",
    "Should the soil of the tomatoes be dry, open the water for them.",
    "When it is dark in the hall already, switch on the light there.",
    "Check the garage door, and if it stands open, turn on the lamp.",
    "Is the living room over 24 degrees? Then switch off the heating.",
    "I think the pond is low; if it is, let the pump in it run, please.",
    "If nobody has switched on the porch light so far, do it now.",
)
NEXT = (
    "What time is it in Istanbul?",
    "How much is 18.5 percent of 249?",
    "Remember that the spare key is under the blue pot.",
    "What is my brother's phone number?",
    "Why do cats purr?",
    "What is 17 times 23?",
    "What time is it here?",
    "Where did I put the passport?",
)
CALLS = (
    ("current_time", "What time is it in Istanbul?"),
    ("current_time", "Tell me the local time in New York and Tokyo, please."),
    ("calculator", "How much is 18.5 percent of 249?"),
    ("calculator", "Add 1200, 350 and 89 and divide the sum by 7."),
    ("remember", "Remember that the spare key is under the blue pot in the garden."),
    ("check_notebook", "What did I say about the plumber's phone number?"),
)
WORDS = (
    "river stone market window letter garden silver morning engine winter table forest paper lantern bridge "
    "copper island kitchen thunder basket harbour meadow pencil mountain candle station orchard blanket"
)
DOCUMENT = """Minutes of the garden club, Thursday 14 March 2024.
Present: Maria Lindqvist, Tomas Okafor, Ines Haddad, Peter van Dijk (by telephone).
1. The water butt behind shed 7 leaks. Tomas orders part BX-4471 (18.90 euros) and mounts it before 22 March.
2. The seed order goes to Green & Sons on Monday: 12 bags of rye grass, 5 bags of clover, 40 tulip bulbs.
3. The key of the tool room is now with Ines, telephone 0151 2345678; a copy hangs in the kitchen cupboard.
4. The summer party is on Saturday 29 June at 15:30. Peter asks the band; the fee may be 250 euros at most.
5. The bill of the electrician, number 2024-0311 over 412.60 euros, is paid from the reserve.
The next meeting is on Thursday 11 April at 19:00 in the clubhouse."""
CONDITION = (
    "Greenhouse: 8.5 °C. Cellar: 71 %. Soil: 18 %. Hall: 40 lx. Garage door: open. Living room: "
    "24.5 °C. Pond: 34 cm. Porch light: off. I could not read the gate: it did not answer in 2 s."
)


@dataclass(frozen=True, slots=True)
class Step:
    """One request of a turn: `choose` among `options`, or `fill` a `schema` with at most `limit` tokens."""

    level: str
    kind: Literal["choose", "fill"]
    prompt: Conversation
    options: tuple[str, ...] = ()
    schema: JsonSchema | None = None
    limit: int = 0


class Material:
    """The prompts over one catalogue."""

    def __init__(self, catalogue: Catalogue, budgets: Budgets) -> None:
        self.catalogue, self.budgets = catalogue, budgets
        self.planner = Planner(catalogue.menu(), budgets.planner_prompt)

    @classmethod
    def shipped(cls, scratch: Path) -> Material:
        """Over what is shipped, and nothing that this user has added; no tool is run. The notebook that tools
        are given is a file in `scratch` that is never opened."""
        share, notebook = paths.share_dir(), SqliteNotebook(scratch / "notebook.db")
        toolbox = Toolbox.load([share / "tools"], Services(notebook=notebook))
        return cls(load_catalogue([share / "skills"], toolbox), Budgets())

    def constants(self) -> list[Conversation]:
        """Every prompt with a constant part that is asked for here, in the order that the daemon decodes
        them: the planner's is that of the whole menu, whatever else is shipped costs no benchmark time."""
        known = constants.prompts(self.catalogue, self.planner)
        tools = {tool.name for tool in self.catalogue.expand([SKILL])} | {tool for tool, _ in CALLS}
        asked = {"planner", f"follower:{SKILL}", *(f"agent:{tool}" for tool in tools), "reply", "answer"}
        return [prompt for name, prompt in known.items() if name in asked]

    def plan(self, message: str) -> Step:
        """L1."""
        options = tuple(f"@{handle}" for handle in (*self.planner.handles, REPLY))
        return Step("L1", "choose", self.planner.prompt(message), options)

    def follow(self, request: str) -> Step:
        """L2, its first step."""
        tools = self.catalogue.expand([SKILL])
        skill = self.catalogue.skills[SKILL]
        prompt = follower.opening(tools, skill.steps, request)
        return self._step(prompt, [tools[0].name])

    def agent(self, call: str) -> Step:
        """L3: the call that L2 wrote."""
        asked = json.loads(call)
        return self.craft(asked["tool"], asked["instruction"])

    def craft(self, tool: str, instruction: str) -> Step:
        """L3 for a tool by name."""
        known = self.catalogue.toolbox.tools[tool]
        prompt = tool_agent.prompt(known, instruction)
        return Step("L3", "fill", prompt, schema=known.parameters, limit=self.budgets.agent_output)

    def follow_on(self, before: Step, call: str) -> Step:
        """L2 again, after the call's result: the same prompt, grown."""
        told = control_line(Result.ok(CONDITION))
        grown = (Message("assistant", "", (("call_tool", call),)), Message("tool", told))
        prompt = before.prompt
        longer = Conversation((*prompt.messages, *grown), prompt.tools, prompt.constant, begin_call=True)
        names = [tool.name for tool in self.catalogue.expand([SKILL])]
        return self._step(longer, [*names, follower.FINISH])

    def _step(self, prompt: Conversation, names: Sequence[str]) -> Step:
        limit = self.budgets.follower_output
        return Step("L2", "fill", prompt, schema=follower.schema(names), limit=limit)


def fresh(number: int, words: int) -> Conversation:
    """A prompt of about `words` words and a question, of which no cache has seen more than the template."""
    known = WORDS.split()
    length = len(known)
    listed = (known[(number * 11 + i * (number % 5 + 3) + i // length) % length] for i in range(words))
    return said(f"Note {number}: {' '.join(listed)}. Tell a long story with these words.")


def copying() -> Conversation:
    """A prompt whose answer repeats most of its source."""
    return said(f"Repeat this text word for word, and nothing else:\n\n{DOCUMENT}")


def said(text: str) -> Conversation:
    return Conversation((Message("system", "You are a helpful assistant."), Message("user", text)))
