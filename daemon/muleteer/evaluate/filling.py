"""`fill` against the peer's `json_schema`: realistic calls, and the validity of many generated ones."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from importlib.util import find_spec

from muleteer.engine.client import Engine
from muleteer.engine.protocol import JsonSchema, Text, Use
from muleteer.errors import MuleteerError
from muleteer.evaluate import schemas
from muleteer.evaluate.material import CALLS, Step, said
from muleteer.evaluate.peer import Peer
from muleteer.evaluate.report import Measure, Target, median, numbers, ratio, rounded
from muleteer.evaluate.rig import Rig, opened, run, run_peer

PAIRS = {True: 50, False: 1000}  # by `quick`
PAIR_TOKENS = 512  # more than the longest instance of these schemas takes
SEED = 1
EVENT = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "maxLength": 60},
        "start": {"type": "string", "format": "date-time"},
        "place": {"type": "string", "maxLength": 40},
        "repeat": {"type": "string", "enum": ["never", "daily", "weekly", "monthly", "yearly"]},
        "remind_minutes": {"type": "integer", "minimum": 0, "maximum": 1440},
        "all_day": {"type": "boolean"},
    },
    "required": ["title", "start", "place", "repeat", "remind_minutes", "all_day"],
    "additionalProperties": False,
}
EVENTS = (
    "Make this a calendar entry in JSON: on 14 March 2024 at 19:30 the garden club meets in the clubhouse.",
    "Make this a calendar entry in JSON: the dentist, yearly on 3 May at nine, remind me an hour before.",
)


@dataclass(slots=True)
class Call:
    """One call on both sides: seconds of each sample, and what came out last. `head` counts the tokens before
    the arguments (call syntax and name), which are written for the model and part of the call."""

    step: Step
    tokens: list[int]
    head: int
    ours: list[float] = field(default_factory=list)
    theirs: list[float] = field(default_factory=list)
    use: Use = field(default_factory=Use)
    whole: bool = True
    text: str = ""
    theirs_text: str = ""


async def fill(rig: Rig) -> Measure:
    """Seconds for a basket of calls whose prompts are decoded already: the sum over calls of their medians.
    A call that either side did not end by itself is left out and counted."""
    calls = [_call(rig, step) for step in _steps(rig)]
    async with rig.engine() as engine, rig.peer() as peer:
        for call in calls:
            await _measure(rig, engine, peer, call)
    whole = [call for call in calls if call.whole]
    used = sum((call.use for call in whole), Use())
    ours, theirs = _basket([c.ours for c in whole]), _basket([c.theirs for c in whole])
    share, sampled = ratio(ours, theirs), ratio(used.sampled, used.generated + sum(c.head for c in whole))
    valid, pairs, faults = await _valid(rig)
    return Measure(
        "fill",
        "s",
        ours=ours,
        peer=theirs,
        ratio=share,
        n=rig.n,
        targets=(
            Target("fill: ours / peer", share, 0.8),
            Target("fill: sampled / all tokens of the calls", sampled, 0.6),
            Target(f"fill: valid of {pairs} pairs", ratio(valid, pairs), 1.0, at_least=True),
        ),
        details={
            "sampled_of_arguments": rounded(ratio(used.sampled, used.generated)),
            "calls": [_shown(call) for call in calls],
            "cut": len(calls) - len(whole),
            "pairs": pairs,
            "valid": valid,
            "faults": faults,
        },
    )


def _call(rig: Rig, step: Step) -> Call:
    tokens = rig.tokens.of(step.prompt)
    return Call(step, tokens, len(tokens) - len(rig.tokens.of(replace(step.prompt, begin_call=False))))


def _steps(rig: Rig) -> list[Step]:
    calls = [rig.material.craft(tool, asked) for tool, asked in CALLS]
    events = EVENTS[:1] if rig.quick else EVENTS
    return calls + [Step("event", "fill", said(text), schema=EVENT, limit=160) for text in events]


async def _measure(rig: Rig, engine: Engine, peer: Peer | None, call: Call) -> None:
    """The first request of each side decodes the prompt and compiles the schema, and is not counted."""
    await run(engine, call.step)
    if peer:
        await run_peer(peer, call.tokens, call.step)

    async def mine(_: int) -> None:
        ran = await run(engine, call.step)
        call.ours.append(ran.seconds)
        call.use, call.text, call.whole = ran.use, ran.text, call.whole and ran.finish == "stop"

    async def its(_: int) -> None:
        if peer:
            answer = await run_peer(peer, call.tokens, call.step)
            call.theirs.append(answer.seconds)
            call.theirs_text, call.whole = answer.text, call.whole and answer.whole

    await rig.alternate(f"fill ({call.step.prompt.messages[-1].content[:40]})", mine, its)


def _basket(samples: Sequence[Sequence[float]]) -> float | None:
    medians = [value for each in samples if (value := median(each)) is not None]
    return sum(medians) if medians else None


def _shown(call: Call) -> dict[str, object]:
    return {
        "ours": numbers(call.ours),
        "peer": numbers(call.theirs),
        "head": call.head,
        "generated": call.use.generated,
        "sampled": call.use.sampled,
        "share": rounded(ratio(call.use.sampled, call.use.generated)),
        "whole": call.whole,
        "text": call.text,
        "peer_text": call.theirs_text,
    }


async def _valid(rig: Rig) -> tuple[int, int, list[str]]:
    """Of how many generated pairs the text that the tiny model wrote is valid, ended by its limit or not, and
    what was wrong with the others."""
    missing = "the model tiny" if rig.tiny is None else "" if find_spec("jsonschema") else "jsonschema"
    if rig.tiny is None or missing:
        rig.say(f"fill: {missing} is not here; no generated pairs")
        return 0, 0, [f"{missing} is not here"]
    total, valid, faults = PAIRS[rig.quick], 0, list[str]()
    async with opened(rig.tiny, replace(rig.settings, context=2048)) as engine:
        for i, (schema, prompt) in enumerate(schemas.pairs(total, SEED)):
            if i % 10 == 0:
                rig.say(f"fill: generated pairs, {i} of {total}")
            try:
                text = await engine.fill(said(prompt), schema, limit=PAIR_TOKENS)
            except MuleteerError as error:
                faults.append(f"{error}: {json.dumps(schema)[:200]}")
                continue
            good = _is_valid(schema, text)
            valid += good
            if not good:
                faults.append(f"{text.finish} {text.text[:100]!r}: {json.dumps(schema)[:200]}")
    return valid, total, faults[:20]


def _is_valid(schema: JsonSchema, text: Text) -> bool:
    try:
        return schemas.valid(schema, json.loads(text.text))
    except json.JSONDecodeError:
        return False
