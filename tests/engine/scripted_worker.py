"""The real engine process around a decoder that does what the prompt says.

Run as a program it is `muleteer.engine.worker` with `ScriptedDecoder` in place of the model. The last
message of a prompt is the script: `say a b`, `crash 11`, `spin`, ... (see `_act`); the name of the model
file says how loading goes (see `load`).
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from muleteer.engine import wire, worker
from muleteer.engine.protocol import (
    Choice,
    Conversation,
    Held,
    JsonSchema,
    LoadSettings,
    Message,
    Properties,
    Text,
    Use,
)
from muleteer.errors import ModelError, TooLongError

Check = worker.Check


def prompt(script: str) -> Conversation:
    return Conversation((Message("user", script),))


class ScriptedDecoder:
    def __init__(self, path: Path, settings: LoadSettings) -> None:
        self.properties = Properties(
            name=path.name,
            path=str(path),
            size=1,
            context=settings.context,
            trained_context=8192,
            vocabulary=256,
            template_knows_tools=False,
            partial_reuse=True,
            kv_bytes=1,
            threads=1,
            build="scripted",
            extra_buffers=settings.extra_buffers,
            load_ms=1.0,
        )
        self.totals = Use()
        self.held = Held()
        self.closed = False
        self.threads = settings.threads
        self.lingers = False
        self.spun = False

    def set_threads(self, number: int) -> None:
        self.threads = number

    def count(self, prompt: Conversation | str) -> int:
        return len(prompt) if isinstance(prompt, str) else len(prompt.messages)

    def warm(self, prompt: Conversation, check: Check) -> Use:
        return self._act(prompt, check)

    def forget_talks(self) -> bool:
        self.held = replace(self.held, resident_tokens=0)
        return True

    def choose(
        self, prompt: Conversation, options: Sequence[str], check: Check, prompt_limit: int | None
    ) -> Choice:
        use = self._act(prompt, check)
        return Choice(tuple(1 / len(options) for _ in options), use)

    def fill(
        self, prompt: Conversation, schema: JsonSchema, limit: int, check: Check, prompt_limit: int | None
    ) -> Text:
        return Text("{}", "stop", self._act(prompt, check))

    def write(
        self, prompt: Conversation, limit: int, stop: Sequence[str], check: Check, prompt_limit: int | None
    ) -> Iterator[str | Text]:
        words = prompt.messages[-1].content.split()
        if words[0] == "say":
            yield from words[1:]
            yield Text(" ".join(words[1:]), "stop", self._used())
        elif words[0] == "start":  # a word, and then whatever else the script says
            yield words[0]
            rest = Conversation((Message("user", " ".join(words[1:])),))
            yield Text(words[0], "stop", self._act(rest, check))
        elif words[0] != "end":
            yield Text("", "stop", self._act(prompt, check))

    def close(self) -> None:
        if self.lingers:
            threading.Event().wait()
        self.closed = True

    def _used(self) -> Use:
        self.totals += Use(prompt=2, decoded=2, ms=1.0)
        self.held = replace(self.held, resident_tokens=self.held.resident_tokens + 2)
        return Use(prompt=2, decoded=2, ms=1.0)

    def _spin(self, check: Check) -> None:
        self.spun = True
        print("spinning", file=sys.stderr, flush=True)
        while True:
            check()

    def _act(self, prompt: Conversation, check: Check) -> Use:
        match prompt.messages[-1].content.split():
            case ["crash", number]:
                os.kill(os.getpid(), int(number))
                signal.pause()
            case ["exit", code]:
                print("so long", file=sys.stderr, flush=True)
                os._exit(int(code))
            case ["hang"]:
                print("hanging", file=sys.stderr, flush=True)
                ctypes.PyDLL(None).pause()  # one native call, which does not even let other threads run
            case ["spin"]:
                self._spin(check)
            case ["spin", "once"]:
                if not self.spun:
                    self._spin(check)
            case ["wait", pipe]:
                print("waiting", file=sys.stderr, flush=True)
                Path(pipe).read_bytes()  # a named pipe: goes on when the test opens and closes it
            case ["toil", seconds]:
                until = time.monotonic() + float(seconds)
                while time.monotonic() < until:
                    check()
            case ["raise"]:
                raise ValueError("the script says so")
            case ["refuse"]:
                raise TooLongError("The prompt has 9 tokens; 8 are allowed.")
            case ["print", text]:
                print(text, file=sys.stderr, flush=True)
            case ["threads"]:
                print(f"{self.threads} threads", file=sys.stderr, flush=True)
            case ["keep"]:
                self.held = Held(disk=7, disk_prefixes=1)
            case ["linger"]:
                self.lingers = True
            case ["garbage"]:
                os.write(DESCRIPTOR, b'{"kind": "gossip"}\n')
                threading.Event().wait()
            case ["answer", id]:
                os.write(DESCRIPTOR, wire.from_engine(wire.Counted(int(id), 7)))
        return self._used()


def load(path: Path, settings: LoadSettings) -> ScriptedDecoder:
    match path.name:
        case "absent" if not path.exists():
            raise ModelError(f"There is no model at {path}; run `muleteer model pull`.")
        case "broken":
            raise ValueError("the script says so")
        case "crash":
            os.kill(os.getpid(), signal.SIGILL)
        case "crash-with-extra-buffers" if settings.extra_buffers:
            os.kill(os.getpid(), signal.SIGSEGV)
        case "kill-with-extra-buffers" if settings.extra_buffers:
            os.kill(os.getpid(), signal.SIGKILL)
        case "endless":
            threading.Event().wait()
        case "gate":
            path.read_bytes()  # a named pipe: goes on when the test opens it
    return ScriptedDecoder(path, settings)


if __name__ == "__main__":
    DESCRIPTOR = int(sys.argv[-1])
    worker.main(load)
