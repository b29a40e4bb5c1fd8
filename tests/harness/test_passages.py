"""Of a long text the passages that a question is about, exactly as they stand."""

from __future__ import annotations

import pytest

from muleteer.harness.answer import FACT_CHARACTERS, PASSAGE_CHARACTERS, facts
from muleteer.harness.passages import GAP, passages
from muleteer.tool import Document, Result

FILLER = [f"Paragraph {n} is about the weather and the garden of the neighbours.\n" for n in range(400)]
LONG = "\n".join([*FILLER[:300], "The boiler was serviced on 14 March 2024, number B-77/3.\n", *FILLER[300:]])


def test_the_passage_that_answers_is_found_wherever_it_stands() -> None:
    found = passages(LONG, "When was the boiler serviced?", 1000)
    assert "The boiler was serviced on 14 March 2024, number B-77/3." in found
    assert len(found) <= 1000
    assert found.startswith(GAP)
    assert found.endswith(GAP)


def test_other_forms_of_a_word_count() -> None:
    assert "B-77/3" in passages(LONG, "boilers servicing", 1000)


def test_passages_keep_the_order_of_the_text() -> None:
    text = "\n\n".join([f"{n} " + "x " * 150 + ("boiler" if n in (3, 7) else "") for n in range(10)])
    found = passages(text, "boiler", 2_000)
    assert found.index("3 x") < found.index("7 x")


def test_nothing_in_common_gives_nothing() -> None:
    assert passages(LONG, "quantum physics", 1000) == ""
    assert passages("", "boiler", 1000) == ""


@pytest.mark.parametrize("limit", [0, 10, 80, 500])
def test_the_limit_is_kept(limit: int) -> None:
    assert len(passages(LONG, "the boiler of the neighbours", limit)) <= max(limit, 0)


def test_facts_of_a_long_document_are_its_passages_and_of_a_short_one_all_of_it() -> None:
    long = facts([Result.ok("Found.", Document("book", LONG))], question="When was the boiler serviced?")
    assert "14 March 2024" in long
    assert len(long) <= PASSAGE_CHARACTERS + 20
    short = facts([Result.ok("Found.", Document("note", "The boiler is old."))], question="what is new")
    assert short == "[note]\nThe boiler is old."
    unrelated = facts([Result.ok("Found.", Document("book", LONG))], question="quantum physics")
    assert len(unrelated) <= FACT_CHARACTERS + 40
    assert "characters cut]" in unrelated
