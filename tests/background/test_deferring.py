from __future__ import annotations

from muleteer.background.deferring import Decision, Look, decide

LIMIT = 1800.0


def test_with_nothing_against_it_a_turn_runs() -> None:
    assert decide(Look(), 0.0, LIMIT) == (Decision.RUN, "")


def test_talk_delays_a_turn_and_does_not_stop_it() -> None:
    look = Look(talk="somebody is talking")
    assert decide(look, 0.0, LIMIT) == (Decision.WAIT, "somebody is talking")
    assert decide(look, LIMIT, LIMIT) == (Decision.RUN, "")


def test_heat_is_waited_for_and_then_given_up() -> None:
    look = Look(strain="the processor is hot (85 °C)", talk="somebody is talking")
    assert decide(look, LIMIT - 1, LIMIT) == (Decision.WAIT, "the processor is hot (85 °C)")
    assert decide(look, LIMIT, LIMIT) == (Decision.SKIP, "the processor is hot (85 °C)")


def test_a_device_that_does_not_drive_waits_for_the_seat_first() -> None:
    look = Look(driver="kitchen drives", strain="hot")
    assert decide(look, 0.0, LIMIT) == (Decision.WAIT, "kitchen drives")
    assert decide(look, 0.0, 0.0) == (Decision.SKIP, "kitchen drives")
