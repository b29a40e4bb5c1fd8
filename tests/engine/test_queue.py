from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from muleteer.engine.queue import Place, Queue

kinds = st.lists(st.tuples(st.booleans(), st.integers(1, 5)), max_size=20)


def filled(waiting: list[tuple[bool, int]]) -> tuple[Queue[int], list[Place]]:
    queue: Queue[int] = Queue()
    places = [Place(background, lane, number) for number, (background, lane) in enumerate(waiting)]
    for place in places:
        queue.add(place, place.number)
    return queue, places


@given(kinds)
def test_direct_goes_first_then_the_older_lane_then_the_earlier_request(
    waiting: list[tuple[bool, int]],
) -> None:
    queue, places = filled(waiting)
    taken = [queue.take(background=True) for _ in places]
    expected = sorted(places, key=lambda place: (place.background, place.lane, place.number))
    assert taken == [place.number for place in expected]
    assert queue.take(background=True) is None


@given(kinds)
def test_without_the_background_only_direct_ones_are_taken_and_the_rest_stays(
    waiting: list[tuple[bool, int]],
) -> None:
    queue, places = filled(waiting)
    direct = sum(not place.background for place in places)
    assert (queue.count(False), queue.count(True), len(queue)) == (direct, len(places), len(places))
    taken = [queue.take(background=False) for _ in range(direct)]
    assert not any(places[number].background for number in taken if number is not None)
    assert None not in taken
    assert queue.take(background=False) is None
    assert len(queue) == len(places) - direct


@given(kinds, st.data())
def test_nobody_is_lost_whoever_leaves_and_comes_back(
    waiting: list[tuple[bool, int]], data: st.DataObject
) -> None:
    queue, places = filled(waiting)
    leavers = data.draw(st.sets(st.sampled_from(places))) if places else set()
    for place in leavers:
        assert queue.remove(place)
        assert not queue.remove(place)
    if (first := queue.take(background=True)) is not None:
        queue.add(places[first], first)
    assert queue.clear() == [place.number for place in sorted(set(places) - leavers)]
    assert len(queue) == 0


@given(kinds, st.booleans(), st.integers(1, 5))
def test_while_a_lane_is_expected_nobody_behind_it_is_taken(
    waiting: list[tuple[bool, int]], background: bool, lane: int
) -> None:
    queue, places = filled(waiting)
    queue.expected = Place(background, lane, 99)
    first = min(places, default=None)
    taken = queue.take(background=True)
    if first is not None and (first.background, first.lane) <= (background, lane):
        assert taken == first.number
        assert queue.expected is None
    else:
        assert taken is None
        assert queue.expected
        assert len(queue) == len(places)
