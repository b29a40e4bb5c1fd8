"""A simulated household with two devices of one image, `ORIGINAL` and `COPY`: the same id, memory and key.

Each other device has one connection with that id: with whichever of the two dialed last. Who was replaced
dials again, and who is seen to come back is found out, as `peers` and `twins` do it. Knows connections; the
claims of such a household are not simulated.
"""

from __future__ import annotations

from functools import partial

from muleteer.seat.claiming import Saying
from muleteer.seat.election import Election
from muleteer.seat.membership import Voter
from muleteer.seat.messages import Message
from muleteer.seat.twins import Twins
from tests.seat.host import Host
from tests.seat.household import Household

ORIGINAL, COPY = "a", "a'"
BOOTS_OF_THE_COPY = 1000
AGAIN = (5, 100)  # ticks until one that was replaced has dialed again
TRY = (56, 84)  # ticks between tries


class Copied(Household):
    """Of these devices; the copy starts after `start_copy`, and dials the others after `plug_in`."""

    def __init__(self, names: str, seed: int, machine: type[Election]) -> None:
        self.linked: dict[str, str] = dict.fromkeys(names.replace(ORIGINAL, ""), ORIGINAL)
        self._twins = {peer: Twins() for peer in self.linked}
        super().__init__(tuple(map(Voter, names)), seed, machine=machine)
        for peer, twins in self._twins.items():
            twins.shows(ORIGINAL, self.linked[peer], self.now)

    def start_copy(self) -> None:
        """From the original's disk as it is."""
        original = self.hosts[ORIGINAL]
        copy = Host(ORIGINAL, original.rate, self.random.randrange(100_000), original.disk)
        copy.boots = BOOTS_OF_THE_COPY
        self.hosts[COPY] = copy
        self.start(copy)

    def plug_in(self, longest: float) -> None:
        """The copy reaches each of the others within so many ticks."""
        for peer in self.linked:
            self.at(self.random.uniform(1, longest), partial(self._dial, COPY, peer))

    def _dial(self, key: str, peer: str) -> None:
        twins, seconds = self._twins[peer], self.now / 100
        before = self.linked.get(peer)
        if before == key:
            return
        found_out = twins.shows(ORIGINAL, key, seconds)
        if found_out or twins.refuses(ORIGINAL, seconds):
            self.linked.pop(peer, None)
            self.at(self.random.uniform(*TRY), partial(self._dial, key, peer))
        else:
            self.linked[peer] = key
        if before:
            self.at(self.random.uniform(*AGAIN), partial(self._dial, before, peer))

    def transmit(self, message: Message | Saying) -> None:
        if isinstance(message, Saying):
            return
        sender = COPY if message.boot > BOOTS_OF_THE_COPY else message.source
        if message.source == ORIGINAL and self.linked.get(message.target) != sender:
            return
        receiver = self.linked.get(message.source) if message.target == ORIGINAL else message.target
        if receiver and not self._chance(self.network.loss):
            delay = self.random.uniform(self.network.shortest, self.network.longest)
            self.at(delay, partial(self._arrive, self.hosts[receiver], message))

    def _arrive(self, host: Host, message: Message) -> None:
        self.feed(host, lambda election: election.step(message, host.clock(self.now)))
