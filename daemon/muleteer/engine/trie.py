"""Options as a trie of tokens, so that what they share is decoded once. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A point where options part: `chain` leads here from the point above; `branches` maps the next token to
    the node below, or to the index of the only option left."""

    chain: tuple[int, ...]
    branches: dict[int, Node | int]

    @property
    def inner(self) -> list[tuple[int, Node]]:
        """The branches that part again: (token, node)."""
        return [(token, below) for token, below in self.branches.items() if isinstance(below, Node)]

    def members(self) -> list[int]:
        """The options below this node."""
        return [
            index
            for below in self.branches.values()
            for index in ([below] if isinstance(below, int) else below.members())
        ]

    def cost(self) -> int:
        """Tokens to decode for this node and all below."""
        return len(self.chain) + sum(node.cost() for _, node in self.inner)


def build(options: Sequence[tuple[int, ...]]) -> Node | int:
    """The trie of two or more different options, none a prefix of another (each ends with the same closing
    token); the index 0 for a single option."""
    return _node(options, list(range(len(options))), 0)


def _node(options: Sequence[tuple[int, ...]], members: list[int], start: int) -> Node | int:
    if len(members) == 1:
        return members[0]
    depth = start
    while len({options[i][depth] for i in members}) == 1:
        depth += 1
    groups: dict[int, list[int]] = {}
    for i in members:
        groups.setdefault(options[i][depth], []).append(i)
    branches = {token: _node(options, group, depth) for token, group in groups.items()}
    return Node(options[members[0]][start:depth], branches)
