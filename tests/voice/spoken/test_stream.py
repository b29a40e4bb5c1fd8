"""An answer as it comes."""

from __future__ import annotations

from muleteer.voice.conversation.cutter import LONGEST_SENTENCE
from tests.voice.spoken.answers import Spoken


def test_a_sentence_is_there_as_soon_as_the_next_one_begins() -> None:
    spoken = Spoken("en")
    assert [spoken.feed(piece) for piece in ("It is ", "14:05", ". ", "The lamp")] == [
        [],
        [],
        ["It is two oh five p.m."],
        [],
    ]
    assert spoken.rest() == ["The lamp"]


def test_a_list_is_heard_item_by_item() -> None:
    spoken = Spoken("de")
    assert spoken.feed("Das sind:\n- 1 Liter Milch\n- 2 kg Mehl\n") == [
        "Das sind:",
        "ein Liter Milch",
        "zwei Kilogramm Mehl",
    ]


def test_what_has_no_end_is_heard_in_parts() -> None:
    spoken = Spoken("en")
    heard = spoken.feed("milk and bread, " * 40)
    assert heard
    assert all(len(said) <= LONGEST_SENTENCE for said in heard)
    assert all(said.endswith(("bread", "bread,")) for said in heard)


def test_thinking_and_code_hold_nothing_else_back() -> None:
    spoken = Spoken("en")
    assert spoken.feed("Yes. <think>Why? Because. ") == ["Yes."]
    assert spoken.feed("</think>Now.\n```\nx = 1. \n") == ["Now."]
    assert spoken.rest() == ["I leave out the code."]


def test_code_is_said_to_be_left_out() -> None:
    spoken = Spoken("de")
    heard = [*spoken.feed("So geht es.\n```\nx = 1\n```\nFertig. "), *spoken.rest()]
    assert heard == ["So geht es.", "Den Code lasse ich aus.", "Fertig."]
