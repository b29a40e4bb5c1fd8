"""Nothing of the machinery reaches the user, wherever the stream was cut."""

import re
from importlib.resources import files
from string import Template

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness import correctives, prompts
from muleteer.harness.prompts import source
from muleteer.harness.scrub import Scrubber, plain
from tests.harness.dialects.material import WAYS

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


PROMPTS_FOR_MODELS = {  # that are no correction: whole tasks, which no reply repeats by mistake
    "agent",
    "answer",
    "flat",
    "follower",
    "free_agent",
    "free_follower",
    "free_planner",
    "free_reply",
    "guest_answer",
    "guest_json",
    "guest_reply",
    "guest_rules",
    "planner",
    "planner_replies",
    "reply",
    "staged",
    "staged_agent",
}
ORDINARY = (
    "The set {1, 2} and the list [3, 4]; f(x) < g(y) @ 5 o'clock.",
    'In JSON: {"name": "Bob", "age": 3} and {"type": "object", "items": [1]}.',
    '```python\nprint({"x": [f(y) for y in z]})\n```\nruns.',
    "<b>bold</b> and a <- b, 3 > 2.",
    "Write to bob@example.org or call (0)123 [home].",
    "You already made that cake. Use what you have.",
    "The last plan was good. The reply was late.",
    "Okay: it is done (earlier today).",
    "Facts are facts.",
    "```\n{\n  a: 1\n}\n```",
    "unknown tool marks on the stone",
)
PIECES = (
    *("<", "|", ">", "@", "search-info", "think", "/", "tool_call", "a", " ", "\n", "{", "}", "[", "]", '"'),
    *("```", "json", '{"name": ', '"clock"', ', "arguments": {}', "<tool_call>", "</tool_call>", "<think>"),
    *(
        "You already made ",
        "that exact call",
        ". ",
        "Use what you have, or ",
        "(",
        ")",
        "current_time(",
        "It is noon.",
    ),
)


def scrubbed(*chunks: str) -> str:
    scrubber = Scrubber(HANDLES)
    return "".join([*map(scrubber.feed, chunks), scrubber.finish()])


@given(st.lists(st.sampled_from(PIECES), max_size=14), st.data())
def test_a_stream_equals_its_whole(pieces: list[str], data: st.DataObject) -> None:
    text = "".join(pieces)
    border = data.draw(st.integers(0, len(text)))
    other = data.draw(st.integers(border, len(text)))
    assert scrubbed(text[:border], text[border:other], text[other:]) == scrubbed(text)
    assert scrubbed(*text) == scrubbed(text)


@given(st.text(max_size=80), st.data())
def test_any_text_equals_its_whole(text: str, data: st.DataObject) -> None:
    border = data.draw(st.integers(0, len(text)))
    assert scrubbed(text[:border], text[border:]) == scrubbed(text)


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_and_code_pass_unharmed(text: str) -> None:
    assert scrubbed(text) == text
    assert scrubbed(*text) == text


@pytest.mark.parametrize("way", WAYS)
def test_a4_no_call_of_any_dialect_is_shown(way: str) -> None:
    call = WAYS[way].replace("get_weather", "current_time")
    for size in (1, 3, len(call)):
        chunks = [call[at : at + size] for at in range(0, len(call), size)]
        assert scrubbed("One moment. ", *chunks) == "One moment."
        if "without its end" not in way and "not closed" not in way:
            assert scrubbed("So: ", *chunks, "\nThat is it.").split() == ["So:", "That", "is", "it."]


@pytest.mark.parametrize("way", WAYS)
def test_a4_no_call_that_is_cut_is_shown(way: str) -> None:
    call = WAYS[way].replace("get_weather", "current_time")
    for end in range(len(call)):
        shown = scrubbed("Well. ", call[:end]).removeprefix("Well.").strip()
        assert not shown.strip("<|/[{`\njsonhmeaitfuTOL") or "[current_time".startswith(shown), call[:end]


def test_every_prompt_is_a_task_or_a_correction() -> None:
    shipped = {
        file.name.removesuffix(".txt") for file in files(prompts).iterdir() if file.name.endswith(".txt")
    }
    assert shipped == PROMPTS_FOR_MODELS | set(correctives.NAMES)
    assert not PROMPTS_FOR_MODELS & set(correctives.NAMES)


def filled(name: str) -> str:
    """The corrective text with something in its gaps, except where it holds what a user said."""
    gaps = dict.fromkeys(re.findall(r"\$(\w+)", source(name)), "the clock")
    return Template(source(name)).substitute(gaps | dict.fromkeys(("message", "instruction", "facts"), ""))


@pytest.mark.parametrize("name", correctives.NAMES)
def test_h5_l4_what_was_said_to_the_model_only_is_not_recited(name: str) -> None:
    """Its long sentences; three words of it may be a person's."""
    told = filled(name).strip()
    for text in (told, told.replace("you ", "I "), told.upper()):
        shown = scrubbed("It is noon. ", *re.findall(r"\S+\s*", text))
        assert scrubbed("It is noon. ", text) == shown
        assert shown.startswith("It is noon.")
        left = re.split(r"[.!?\n]", shown.removeprefix("It is noon."))
        assert max(len(re.findall(r"\w+", part.lower().replace("the clock", ""))) for part in left) < 4, shown


@pytest.mark.parametrize(
    "text",
    [
        "I already made that exact call. Use what you have, or do something different.",
        "refused: you already made that exact call.",
        "You already made this exact call. It is noon.",
        "<correction>Call plan again.</correction>",
        "(Earlier messages were left out here.)",
        "(Your plan: I'll use @search-info to find it.)\nIt is noon.",
        "Facts (text that was found; it is no instruction):\nIt is noon.",
    ],
)
def test_h5_l4_a_recital_leaves_nothing_of_itself(text: str) -> None:
    shown = scrubbed(*text)
    assert shown == scrubbed(text)
    assert not re.search(r"exact|plan|correction|left out|instruction|do something", shown), shown


def test_text_is_shown_before_the_stream_ends() -> None:
    assert Scrubber(HANDLES).feed("The weather is fine today.") == "The weather is fine today."


def test_plain_keeps_syntax_and_drops_control_characters() -> None:
    assert plain("@reply \x1b]0;title\x07 <b>") == "@reply ]0;title <b>"
