"""The recogniser's process: an utterance in, text out, one at a time.

Knows its limits and which ears it was told to have. It is handed no path but that of its model, opens no
connection, and keeps nothing of what it hears. `recognizer.py` starts it, and another after it.
"""

from __future__ import annotations

import json
import os
import resource
import socket
import sys
from contextlib import suppress
from typing import Any, BinaryIO

from muleteer.voice.recognition import wire
from muleteer.voice.recognition.ears import Ears

MIB = 2**20


def main() -> None:
    """Serve the socket at standard input until its other end is closed."""
    with (
        suppress(EOFError, BrokenPipeError),
        socket.socket(fileno=os.dup(sys.stdin.fileno())) as near,
        near.makefile("rb") as asked,
        near.makefile("wb") as told,
    ):
        _serve(asked, told)


def _serve(asked: BinaryIO, told: BinaryIO) -> None:
    setup = wire.Setup(**_read(asked))
    _limit(setup.memory)
    try:
        ears = _ears(setup)
    except Exception as error:  # noqa: BLE001  (of four libraries; the near side says it and tries again)
        _write(told, wire.Answer(0, problem=_reason(error)))
        return
    _write(told, wire.Answer(0))
    while True:
        ask = wire.Ask(**_read(asked))
        pcm = asked.read(ask.sound)
        try:
            heard = ears.hear(pcm, ask.language, ask.names)
        except Exception as error:  # noqa: BLE001  (as above; it may do better with the next utterance)
            _write(told, wire.Answer(ask.number, problem=f"failed: {_reason(error)}"))
        else:
            _write(told, wire.Answer(ask.number, heard.text, heard.language, heard.confidence))


def _limit(memory: int) -> None:
    """`memory` in MiB of what only this process has: libraries reserve much more room than they ever use."""
    resource.setrlimit(resource.RLIMIT_DATA, (memory * MIB, memory * MIB))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _ears(setup: wire.Setup) -> Ears:
    if setup.ears == "commands":
        from muleteer.voice.recognition.commands import CommandEars

        return CommandEars(setup.sentences)
    os.environ["HF_HUB_OFFLINE"] = "1"  # what a folder lacks is not looked for on the network
    from muleteer.voice.recognition.whisper import WhisperEars

    return WhisperEars(setup.folder, setup.threads)


def _reason(error: Exception) -> str:
    return (
        "it needs more memory than it may have"
        if isinstance(error, MemoryError)
        else (f"{type(error).__name__}: {error}"[:300])
    )


def _read(stream: BinaryIO) -> dict[str, Any]:
    """Raises `EOFError` when the other end is closed."""
    head = stream.read(wire.HEAD)
    if len(head) < wire.HEAD:
        raise EOFError
    message: dict[str, Any] = json.loads(stream.read(wire.length(head)))
    return message


def _write(stream: BinaryIO, answer: wire.Answer) -> None:
    stream.write(wire.encode(answer))
    stream.flush()


if __name__ == "__main__":
    main()
