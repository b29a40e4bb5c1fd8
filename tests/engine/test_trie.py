from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.trie import Node, build

END = 99
options = st.lists(st.lists(st.integers(0, 3), max_size=6), min_size=2, max_size=12, unique_by=tuple)


def paths(node: Node | int, before: tuple[int, ...] = ()) -> dict[int, tuple[int, ...]]:
    """For every option the tokens on its way down, as far as the trie spells them."""
    if isinstance(node, int):
        return {node: before}
    here = before + node.chain
    found: dict[int, tuple[int, ...]] = {}
    for token, below in node.branches.items():
        found |= paths(below, (*here, token) if isinstance(below, int) else here)
    return found


@given(options)
def test_every_option_is_found_along_its_own_tokens(some: list[list[int]]) -> None:
    closed = [(*option, END) for option in some]
    root = build(closed)
    assert isinstance(root, Node)
    found = paths(root)
    assert sorted(found) == list(range(len(closed))) == sorted(root.members())
    for index, path in found.items():
        assert closed[index][: len(path)] == path


@given(options)
def test_nothing_is_decoded_twice(some: list[list[int]]) -> None:
    closed = [(*option, END) for option in some]
    root = build(closed)
    assert isinstance(root, Node)
    prefixes = {option[:n] for option in closed for n in range(1, len(option) + 1)}
    shared = [p for p in prefixes if sum(option[: len(p)] == p for option in closed) > 1]
    assert root.cost() == len(shared)


def test_a_single_option_needs_no_trie() -> None:
    assert build([(1, 2, END)]) == 0
