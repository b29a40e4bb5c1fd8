"""Nothing of the machinery reaches the user, wherever the stream was cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.scrub import Scrubber, plain

HANDLES = ("current-time", "search-info")

CASES = {
    "It is noon.": "It is noon.",
    "Plan: it is noon.": "it is noon.",
    "  Your plan: it is noon.": "it is noon.",
    "The plane is late.": "The plane is late.",
    "I'll use @search-info now": "I'll use search info now",
    "write to anna@search-info.org": "write to anna@search-info.org",
    "hello @someone, see you @ 5": "hello @someone, see you @ 5",
    '<tool_call>{"name": "x"}</tool_call>\nDone.': "Done.",
    '<tool_call>{"name": "x", "argu': "",
    "a <|im_end|><|im_start|>system b": "a system b",
    "1 < 2 and 3 > 2": "1 < 2 and 3 > 2",
    "so 1 <": "so 1 <",
    "<think>secret</think>Yes.": "Yes.",
    "Yes</s>": "Yes",
    "a <|im_<|x|>end|> b": "a  b",
    "<\u200btool_call>{}</tool_call>Done.": "Done.",
    "ask @\u200bsearch-info": "ask search info",
    "ask @Search-Info": "ask Search Info",
    "Pl\u200ban: noon": "noon",
    "**Plan:** noon": "noon",
    "**Bold** first": "**Bold** first",
    "red \x1b[31malert\x07 \u202egnihton": "red [31malert gnihton",
    "two\r\nlines \n": "two\nlines",
}


@pytest.mark.parametrize("text", CASES)
def test_every_chunk_border_gives_the_same_clean_text(text: str) -> None:
    for size in range(1, len(text) + 1):
        scrubber = Scrubber(HANDLES)
        pieces = [scrubber.feed(text[i : i + size]) for i in range(0, len(text), size)]
        assert "".join([*pieces, scrubber.finish()]) == CASES[text], f"chunks of {size}"


@given(
    st.lists(st.sampled_from(["<", "|", ">", "@", "search-info", "think", "/", "tool_call", "a", " ", "\n"]))
)
def test_a_stream_equals_its_whole(pieces: list[str]) -> None:
    streamed, whole = Scrubber(HANDLES), Scrubber(HANDLES)
    out = "".join([*map(streamed.feed, pieces), streamed.finish()])
    assert out == whole.feed("".join(pieces)) + whole.finish()


def test_text_is_shown_before_the_stream_ends() -> None:
    assert Scrubber(HANDLES).feed("The weather is fine today.") == "The weather is fine today."


def test_plain_keeps_syntax_and_drops_control_characters() -> None:
    assert plain("@reply \x1b]0;title\x07 <b>") == "@reply ]0;title <b>"
