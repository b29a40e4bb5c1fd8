"""How like a message is to examples: words and their pieces, deterministic, whatever is said."""

from __future__ import annotations

import os
import subprocess
import sys

from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.likeness import MOST, Likeness

EXAMPLES = {
    "switch": ("turn on the light", "switch the heater off", "mach das Licht an"),
    "timer": ("set a timer for ten minutes", "wake me at seven", "Wecker auf halb acht"),
    "reply": ("tell me a joke", "who was Napoleon"),
}


def best(scores: dict[str, float]) -> str:
    return max(scores, key=scores.__getitem__)


def test_every_example_is_most_like_its_own() -> None:
    likeness = Likeness(EXAMPLES)
    for handle, examples in EXAMPLES.items():
        assert [best(likeness.scores(said)) for said in examples] == [handle] * len(examples)


def test_other_forms_and_numbers_are_alike() -> None:
    likeness = Likeness(EXAMPLES)
    assert best(likeness.scores("Timers for 15 minute")) == "timer"
    assert best(likeness.scores("die Lichter anmachen")) == "switch"


def test_what_shares_nothing_says_nothing() -> None:
    scores = Likeness(EXAMPLES).scores("\u4f60\u597d")
    assert len(set(scores.values())) == 1


def test_without_examples_nothing_is_like_anything() -> None:
    assert Likeness({}).scores("hello") == {}
    assert Likeness({"a": ()}).scores("hello") == {"a": -1.0}


def test_of_very_many_examples_the_first_of_each_count() -> None:
    known = [chr(97 + n // 26) * 3 + chr(97 + n % 26) * 3 for n in range(MOST // 4)]
    likeness = Likeness(
        {word: (word, f"a {word}", f"{word} now", f"{word} there", "late " * 9) for word in known}
    )
    assert best(likeness.scores("bbbccc")) == "bbbccc"
    assert len(set(likeness.scores("late").values())) == 1, "the fifth is not known"


@given(st.text(max_size=200))
def test_scores_are_finite_and_repeatable(message: str) -> None:
    likeness = Likeness(EXAMPLES)
    scores = likeness.scores(message)
    assert scores == likeness.scores(message)
    assert all(-10 < score < 10 for score in scores.values())


FIT = """
import os
from muleteer.harness.likeness import Likeness
fitted = Likeness({str(label): [f"say {label} {each}" for each in range(10)] for label in range(60)})
fitted.scores("say 7")
print(len(os.listdir("/proc/self/task")), os.environ.get("OPENBLAS_NUM_THREADS"))
"""


def test_fitting_has_no_threads_of_its_own_which_could_wait_for_each_other() -> None:
    """And what the daemon starts may have as many as it likes."""
    for told in (None, "3"):
        environment = os.environ | ({"OPENBLAS_NUM_THREADS": told} if told else {})
        done = subprocess.run(
            [sys.executable, "-c", FIT], env=environment, stdout=subprocess.PIPE, check=True
        )
        assert done.stdout.decode().split() == ["1", str(told)]
