"""Two devices with one id, as two cards of one image are, are found out and neither takes part."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from muleteer.doctor.service import seat
from muleteer.seat import peers, twins
from muleteer.seat.link import Address
from muleteer.seat.twins import REST_SECONDS, Twins
from tests.seat.neighbours import Neighbour, household, together, until


def test_a_start_that_comes_back_belongs_to_a_second_device() -> None:
    found = Twins()
    assert [found.shows("x", start, 0.0) for start in "aaabbbccc"] == [False] * 9, "it was started again"
    assert not found.refuses("x", 0.0)
    assert found.shows("x", "b", 1.0)
    assert not found.shows("x", "c", 2.0), "told once"
    assert found.refuses("x", 3.0)
    assert not found.refuses("y", 3.0)


def test_both_are_refused_until_only_one_is_heard() -> None:
    found = Twins()
    for start in "aba":
        found.shows("x", start, 0.0)
    now = 0.0
    while now < 3 * REST_SECONDS:
        now += 5.0
        found.shows("x", "a", now)
        found.shows("x", "b", now)
        assert found.refuses("x", now)
    last = now
    while found.refuses("x", now):
        now += 5.0
        found.shows("x", "a", now)
    assert now - last == REST_SECONDS
    assert found.shows("x", "b", now), "the second is back"


async def test_neither_of_two_with_one_id_takes_part_and_everybody_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(twins, "REST_SECONDS", 5.0)
    monkeypatch.setattr(peers, "REFUSED_SECONDS", 3.0)
    async with household(tmp_path, 3) as devices:
        original, *rest = devices
        shutil.copytree(original.folder, tmp_path / "copy")
        copy = Neighbour(tmp_path / "copy")
        await copy.seat.open()
        for other in rest:
            copy.seat.peers.found(other.id, [Address("127.0.0.1", other.seat.peers.port)])

        async def found(holds: Callable[[], bool]) -> None:
            def looked() -> bool:
                assert not (original.drives() and copy.drives()), "both drive"
                return holds()

            await until(looked)

        await found(lambda: all(each.seat.peers.is_doubled(original.id) for each in rest))
        await found(lambda: original.seat.peers.is_refused and copy.seat.peers.is_refused)
        await found(lambda: sum(each.drives() for each in rest) == 1)
        assert not original.drives()
        assert not copy.drives()
        assert all(original.id not in each.seat.peers.links for each in rest)
        for device in (*rest, original, copy):
            assert device.seat.view.report()["doubled"] == [f"{twins.advice(original.id)}."]
            finding = seat(device.seat.view.report())
            assert "Two devices" in finding.said
            assert "device-key and household.json" in finding.advice
        assert f"Two devices have the id {original.id}; on the copy stop Muleteer" in caplog.text
        await copy.seat.close()
        await until(lambda: together(devices))
        await until(lambda: all(each.seat.view.report()["doubled"] == [] for each in devices))
