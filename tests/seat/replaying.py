"""Transcripts: what one device hears, and below it, indented, everything it does. `answered` writes the
second for the first; a transcript is right when nothing changes.

    device a of a b:2 c       (priorities after a colon; `one` at the end: one of two suffices)
    disk term 3 vote b
    at 290                    (the clock, in ticks)
    b: vote term 2 clock 7    (further words: granted, released N, stamp T.V, successor X, members a b c)
    restart; drives?; take; give; unwilling; change a b c d
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from muleteer.seat.election import Election
from muleteer.seat.membership import Membership, Rule, Voter
from muleteer.seat.messages import Durable, Kind, Message, Output
from muleteer.seat.timing import Timing

TIMING = Timing(heartbeat=150, promise=290)  # what the transcripts count with, whatever the devices do


class Device:
    """The device of one transcript."""

    def __init__(self, machine: type[Election] = Election) -> None:
        self._machine = machine
        self.me, self.now = "", 0
        self.disk = Durable(Membership(()))
        self.election: Election | None = None

    def do(self, line: str) -> Iterator[str]:
        """Carry out one line; yields what the device does."""
        word, _, rest = line.partition(" ")
        if word == "device":
            self.me, _, names = rest.partition(" of ")
            one = names.endswith(" one")
            voters = tuple(_voter(name) for name in names.removesuffix(" one").split())
            self.disk = Durable(Membership(voters, rule=Rule.ONE if one else Rule.MAJORITY))
        elif word == "disk":
            term, vote = rest.removeprefix("term ").split(" vote ")
            self.disk = Durable(
                self.disk.membership.stamped(int(term)), int(term), vote.replace("nobody", "")
            )
        elif word == "restart":
            self.election = None
        else:
            yield from self._feed(word, rest)

    def _feed(self, word: str, rest: str) -> Iterator[str]:
        if self.election is None:
            self.election = self._machine(self.me, self.disk, seed=1, now=self.now, timing=TIMING)
        election = self.election
        if word == "at":
            self.now = int(rest)
            yield from self._tell(election.tick(self.now))
        elif word == "drives?":
            yield "yes" if election.drives(int(rest or self.now)) else "no"
        elif word == "take":
            yield from self._tell(election.take(self.now))
        elif word == "give":
            yield from self._tell(election.give("a person wants it", self.now))
        elif word == "unwilling":
            yield from self._tell(election.set_reluctance("it is hot, on battery or busy", self.now))
        elif word == "change":
            try:
                yield from self._tell(election.change(tuple(map(_voter, rest.split())), self.now))
            except ValueError as refusal:
                yield str(refusal)
        else:
            yield from self._tell(election.step(self._message(word.removesuffix(":"), rest), self.now))

    def _message(self, source: str, words: str) -> Message:
        def number(name: str, default: int = 0) -> int:
            found = re.search(rf"\b{name} (\d+)", words)
            return int(found[1]) if found else default

        stamp, successor = re.search(r"stamp (\d+)\.(\d+)", words), re.search(r"successor (\w+)", words)
        members, term = re.search(r"members (.*)", words), number("term")
        own = self.disk.membership.stamp
        told = (int(stamp[1]), int(stamp[2])) if stamp else own
        offered = (
            Membership(tuple(map(_voter, members[1].split())), *told, Rule.MAJORITY) if members else None
        )
        return Message(
            Kind(words.split()[0]),
            source,
            self.me,
            term,
            told,
            number("clock"),
            "granted" in words,
            number("released"),
            successor[1] if successor else "",
            "unwilling" not in words,
            number("boot"),
            offered,
        )

    def _tell(self, output: Output) -> Iterator[str]:
        if output.durable is not None:
            self.disk = output.durable
            yield f"saves term {self.disk.term}, vote {self.disk.vote or 'nobody'}"
            if self.election is not None:
                self.election.saved()
        for message in output.messages:
            words = [f"-> {message.target}: {message.kind} term {message.term} clock {message.clock}"]
            words += ["granted"] if message.granted else []
            words += [f"released {message.released}"] if message.released else []
            words += [f"successor {message.successor}"] if message.successor else []
            if message.membership:
                rule = " one" if message.membership.rule is Rule.ONE else ""
                words += [f"members {' '.join(message.membership.ids)}{rule}"]
            yield " ".join(words)
        for change in output.changes:
            yield change.line()
        yield from (f"warning: {warning}" for warning in output.warnings)


def _voter(text: str) -> Voter:
    name, _, priority = text.partition(":")
    return Voter(name, int(priority or 0))


def answered(transcript: str, machine: type[Election] = Election) -> str:
    """The transcript with what the device does now in place of what stands there."""
    device, lines = Device(machine), list[str]()
    for line in transcript.splitlines():
        if line.startswith("    "):
            continue
        lines.append(line)
        if line and not line.startswith("#"):
            lines += [f"    {done}" for done in device.do(line)]
    return "\n".join(lines) + "\n"
