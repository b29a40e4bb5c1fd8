"""What the daemon and the engine process say to each other, as plain data.

Knows nothing of llama.cpp, sockets or the harness. Both sides import it; `codec` functions turn it into
single JSON lines and back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Role = Literal["system", "user", "assistant", "tool"]
JsonSchema = Mapping[str, object]

CALL_MARKS = ("<tool_call>", "<|tool_call|>", "<|tool_call_start|>", "<|python_tag|>", "[TOOL_CALLS]")
"""What the models of several families write before a tool call: Qwen and Hermes, Granite, LFM2, Llama 3,
Mistral."""
CALL_ENDS = ("</tool_call>", "<|/tool_call|>", "<|tool_call_end|>")
"""What some of them write after it."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message. Its content is always plain text: no part of it can become a control token.

    `calls` (assistant only) are the tool calls this message made: `(tool name, arguments as JSON text)`. The
    `tool` messages that follow it are their results, in the same order.
    """

    role: Role
    content: str
    calls: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool of those a prompt shows: what the chat template renders."""

    name: str
    description: str
    parameters: JsonSchema


@dataclass(frozen=True, slots=True)
class Conversation:
    """A prompt before the chat template: messages, the tools it shows, and the beginning of the reply.

    `constant` is how many leading messages (and the tools) never change between turns; the engine keeps
    their tokens decoded. `begin` is text that the assistant's reply starts with, decoded and not returned.
    `begin_call` starts the reply, in the model's own call syntax, with a call of the only tool up to its
    arguments; `fill` then writes the arguments.
    """

    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    constant: int = 0
    begin: str = ""
    begin_call: bool = False


@dataclass(frozen=True, slots=True)
class Use:
    """Tokens and time of one engine request. `prompt == reused + decoded`, always.

    `decoded` counts prompt tokens that llama.cpp evaluated now, `reused` those it already held.
    `generated` counts tokens after the prompt: scored options (`choose`); forced, sampled and drafted tokens
    (`fill`, `write`). `sampled` is the part of `generated` that cost an evaluation each; tokens that a schema
    forces and drafted tokens that were right are evaluated in the batch of the sampled one before them.
    `rejected` counts drafted tokens that were evaluated and thrown away; they are in no other count. `ms` is
    wall time in the engine, without queueing.
    """

    prompt: int = 0
    reused: int = 0
    decoded: int = 0
    generated: int = 0
    sampled: int = 0
    ms: float = 0.0
    rejected: int = 0

    def __add__(self, other: Use) -> Use:
        return Use(
            self.prompt + other.prompt,
            self.reused + other.reused,
            self.decoded + other.decoded,
            self.generated + other.generated,
            self.sampled + other.sampled,
            self.ms + other.ms,
            self.rejected + other.rejected,
        )


@dataclass(frozen=True, slots=True)
class Choice:
    """The distribution over the options of `choose`, in the order they were given; sums to 1."""

    probabilities: tuple[float, ...]
    use: Use

    def less(self, priors: Sequence[float]) -> Choice:
        """The same choice with a prior subtracted from each option's log-probability (natural logarithm, any
        common offset): what the model would rather say whatever is asked, measured on messages without
        content (contextual calibration, arXiv 2102.09690)."""
        weights = [p * math.exp(-prior) for p, prior in zip(self.probabilities, priors, strict=True)]
        return Choice(tuple(weight / sum(weights) for weight in weights), self.use)


@dataclass(frozen=True, slots=True)
class Text:
    """What `fill` or `write` produced. `finish` is `stop` (ended by itself), `length` (token limit) or
    `repetition` (a guard ended a loop). The text of `fill` is valid JSON under its schema; with `length` it
    was ended the short way, and is cut where even that did not fit."""

    text: str
    finish: Literal["stop", "length", "repetition"]
    use: Use


@dataclass(frozen=True, slots=True)
class LoadSettings:
    """How the engine loads a model.

    `context`: tokens that may be resident at once (shared ones count once). `sequences`: token sequences
    resident at once. `batch`: prompt tokens decoded at most between two looks for a cancel (`pace.py` takes
    fewer where that would be slow). `threads`: 0 means one per physical core. `extra_buffers`: repacked
    weights, faster on most CPUs (never used when the library was built with AMX, whose kernels crash on some
    virtual machines). `states`: the folder of saved prefixes; empty for none. `parked_memory` and
    `parked_disk`: bytes that prefixes outside the context may take in memory and in that folder;
    `parked_talks`: whether conversations may be in that folder, too. `drafts`: whether `write` proposes what
    a text copies and verifies it in batches.
    """

    context: int = 4096
    sequences: int = 16
    batch: int = 128
    threads: int = 0
    extra_buffers: bool = True
    states: str = ""
    parked_memory: int = 128 * 2**20
    parked_disk: int = 512 * 2**20
    parked_talks: bool = False
    drafts: bool = True


@dataclass(frozen=True, slots=True)
class Properties:
    """What the loaded model is and can do, found at load by a self-test and not assumed.

    Sizes in bytes, `context` and `trained_context` in tokens. `build` names the CPU features compiled in.
    `partial_reuse`: a prefix can be cut anywhere; without it only whole saved prefixes are reused.
    `end_tokens`: the texts of the tokens that end a reply. `thinks`: the template or the vocabulary has
    thinking tags. `call_marks`: those of `CALL_MARKS` that the template or the vocabulary has.
    `architecture`, `size_label` and `file_type` (llama.cpp's number of how weights are stored) are what the
    file says of itself; empty and -1 where it says nothing.
    """

    name: str
    path: str
    size: int
    context: int
    trained_context: int
    vocabulary: int
    template_knows_tools: bool
    partial_reuse: bool
    kv_bytes: int
    threads: int
    build: str
    extra_buffers: bool
    load_ms: float
    end_tokens: tuple[str, ...] = ()
    thinks: bool = False
    call_marks: tuple[str, ...] = ()
    architecture: str = ""
    size_label: str = ""
    file_type: int = -1


@dataclass(frozen=True, slots=True)
class Held:
    """The prefixes that the engine keeps, by tier. `resident_tokens` counts a shared token once; `memory` and
    `disk` are bytes. `restored` prefixes came back from memory or disk since load instead of being decoded;
    `ignored` state files were damaged or of another model or build."""

    resident_tokens: int = 0
    resident_prefixes: int = 0
    memory: int = 0
    memory_prefixes: int = 0
    disk: int = 0
    disk_prefixes: int = 0
    restored: int = 0
    ignored: int = 0


@dataclass(frozen=True, slots=True)
class EngineStatus:
    """The supervisor's view. `state` is one of starting, loading, ready, restarting, failed, stopped, and
    unloaded: nobody used it for a while, and the next request loads it. `properties` are the model's as it
    was last loaded. `deferred` says why background requests wait; empty when they do not. `queued_background`
    of the `queued` are such requests."""

    state: Literal["starting", "loading", "ready", "restarting", "failed", "stopped", "unloaded"]
    reason: str = ""
    restarts: int = 0
    queued: int = 0
    pid: int | None = None
    properties: Properties | None = None
    held: Held = field(default_factory=Held)
    totals: Use = field(default_factory=Use)
    threads: int = 0
    deferred: str = ""
    queued_background: int = 0
