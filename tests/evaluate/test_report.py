from __future__ import annotations

import pytest

from muleteer.evaluate import plot, report
from muleteer.evaluate.report import Measure, Target


def test_a_comparison_takes_medians_and_divides_ours_by_the_peers() -> None:
    measure = report.compared(Measure("hops", "s"), [1.0, 9.0, 2.0], [4.0, 5.0, 3.0], 0.5)
    assert (measure.ours, measure.peer, measure.ratio, measure.n) == (2.0, 4.0, 0.5, 3)
    assert [(target.value, target.reached) for target in measure.targets] == [(0.5, True)]
    assert measure.details["peer_samples"] == [4.0, 5.0, 3.0]


def test_the_comparison_stands_before_the_targets_that_a_measure_had() -> None:
    measure = Measure("hops", "s", targets=(Target("twice", 1, 0),))
    found = report.compared(measure, [2.0], [4.0], 0.4)
    assert [target.reached for target in found.targets] == [False, False]
    assert found.targets[1].what == "twice"


def test_without_a_peer_the_ratio_is_unknown_and_nothing_is_reached_or_missed() -> None:
    measure = report.compared(Measure("decode", "tokens/s"), [20.0, 30.0], [], 0.97, at_least=True)
    assert measure.ours == 25.0
    written = measure.as_dict()
    assert (written["peer"], written["ratio"]) == (None, None)
    assert [target.reached for target in measure.targets] == [None]
    assert [report.verdict(target) for target in measure.targets] == ["not measured"]


@pytest.mark.parametrize(
    ("value", "at_least", "reached"),
    [(0.97, True, True), (0.969, True, False), (0.97, False, True), (0.971, False, False)],
)
def test_a_limit_itself_is_reached(value: float, at_least: bool, reached: bool) -> None:
    assert Target("t", value, 0.97, at_least).reached is reached


def test_no_ratio_to_nothing() -> None:
    assert report.ratio(1.0, 0.0) is None
    assert report.ratio(1.0, None) is None
    assert report.ratio(None, 1.0) is None
    assert report.median([]) is None


def test_the_json_form_has_every_field_that_readers_expect_and_the_details_beside() -> None:
    measure = Measure("copy", "tokens/s", 30.123456, None, 2.0, 3, "plain", details={"sampled": 7})
    written = measure.as_dict()
    assert {"name", "ours", "peer", "ratio", "unit", "n"} <= set(written)
    assert (written["ours"], written["sampled"], written["against"]) == (30.12, 7, "plain")


def test_the_table_has_one_row_a_target_and_the_medians_once() -> None:
    measure = report.compared(Measure("hops", "s", targets=(Target("twice", 0, 0),)), [1234.5], [2000.0], 0.5)
    first, second = report.rows([measure])
    assert first == ("hops", "1,234", "2,000", "s", "1", "hops: ours / peer", "0.617", "<= 0.5", "missed")
    assert second == ("", "", "", "", "", "twice", "0", "<= 0", "reached")


def test_a_failed_measure_is_shown_with_its_reason() -> None:
    row = report.rows([report.failed("fill", "The peer failed.")])[0]
    assert row[0] == "fill"
    assert "The peer failed." in row
    assert row[-1] == "not measured"


def test_bars_end_at_one_where_the_target_is_just_met() -> None:
    assert plot.goodness(Target("t", 0.5, 0.5)) == 1
    assert plot.goodness(Target("t", 0.25, 0.5)) == 2
    assert plot.goodness(Target("t", 1.0, 0.5)) == 0.5
    assert plot.goodness(Target("t", 0.9, 1.8, at_least=True)) == 0.5
    assert plot.goodness(Target("t", 0, 0)) == 1
    assert plot.goodness(Target("t", 3, 0)) == 0
