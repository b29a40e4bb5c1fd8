"""Who listens hears what is published from then on, within limits, until the end."""

from __future__ import annotations

import pytest

from muleteer.broadcast import MOST_LISTENERS, MOST_WAITING, Broadcast, Notice, TooManyListenersError


async def test_everyone_hears_what_is_published_while_they_listen() -> None:
    broadcast = Broadcast()
    broadcast.publish("before", {})
    with broadcast.listen() as one, broadcast.listen() as two:
        broadcast.publish("ring", {"id": 1})
        assert await one.next() == await two.next() == Notice("ring", {"id": 1})
    broadcast.publish("after", {})


async def test_a_slow_listener_loses_the_oldest_and_is_told() -> None:
    broadcast = Broadcast()
    with broadcast.listen() as listener:
        for number in range(MOST_WAITING + 3):
            broadcast.publish("ring", {"id": number})
        assert await listener.next() == Notice("ring", {"id": 3}, dropped=3)
        assert await listener.next() == Notice("ring", {"id": 4})


async def test_listeners_are_bounded_and_a_place_is_free_again() -> None:
    broadcast = Broadcast()
    blocks = [broadcast.listen() for _ in range(MOST_LISTENERS)]
    for block in blocks:
        block.__enter__()
    with pytest.raises(TooManyListenersError), broadcast.listen():
        pass
    blocks[0].__exit__(None, None, None)
    with broadcast.listen():
        pass


async def test_closing_lets_everyone_go_also_those_who_come_later() -> None:
    broadcast = Broadcast()
    with broadcast.listen() as listener:
        broadcast.publish("last", {})
        broadcast.close()
        broadcast.close()
        assert await listener.next() == Notice("last", {})
        assert await listener.next() is None
    with broadcast.listen() as late:
        assert await late.next() is None
