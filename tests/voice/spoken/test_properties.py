"""What holds for every text, number and stream."""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files
from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muleteer.voice.spoken.reading import aloud
from muleteer.voice.spoken.words import LANGUAGES, words
from tests.voice.spoken.answers import Spoken

WRITTEN = st.text(
    alphabet=st.one_of(
        st.sampled_from("abEß ,.;:!?'\"()[]{}<>|/\\*_#`~-+=%°€$@&\n\t0123456789äışñ²½…🎉"), st.characters()
    ),
    max_size=60,
)
MARKED = st.lists(
    st.sampled_from(
        ["<think>", "</think>", "```", "\n", "~~~\n", "**", "- ", "14:05 ", "3. Mai ", "5 km", "Hello. ", "<"]
    ),
    max_size=12,
).map("".join)  # fmt: skip
LANGUAGE = st.sampled_from(LANGUAGES)


@given(st.one_of(WRITTEN, MARKED), LANGUAGE)
@settings(deadline=None)
def test_nothing_is_left_but_words_and_pauses(text: str, language: str) -> None:
    said = aloud(text, language)
    assert all(each in " .,;:!?'-" or category(each)[0] in "LM" for each in said)
    assert not re.search(r"[0-9*_#`~<>|\[\]{}/\\()@&%°€$+=\n]|  ", said)


@given(st.one_of(WRITTEN, MARKED), LANGUAGE)
@settings(deadline=None)
def test_what_was_read_is_read_the_same_again(text: str, language: str) -> None:
    said = aloud(text, language)
    assert aloud(said, language) == said


@given(MARKED, st.lists(st.integers(1, 7), min_size=1), LANGUAGE)
@settings(deadline=None)
def test_what_is_heard_does_not_depend_on_the_pieces(text: str, cuts: list[int], language: str) -> None:
    whole, pieces = Spoken(language), Spoken(language)
    expected = [*whole.feed(text), *whole.rest()]
    heard: list[str] = []
    start = 0
    while start < len(text):
        step = cuts[start % len(cuts)]
        heard += pieces.feed(text[start : start + step])
        start += step
    assert " ".join([*heard, *pieces.rest()]) == " ".join(expected)


@given(st.lists(st.text("ab .\n<`", max_size=6), min_size=1, max_size=4), st.integers(1, 5), LANGUAGE)
@settings(deadline=None)
def test_thinking_is_never_heard(around: list[str], step: int, language: str) -> None:
    text = "<think>zzsecret</think>".join([*around, ""]) + "<thinking>zzsecret"
    spoken = Spoken(language)
    heard = [said for start in range(0, len(text), step) for said in spoken.feed(text[start : start + step])]
    assert "zzsecret" not in " ".join([*heard, *spoken.rest()])


@pytest.mark.parametrize("language", LANGUAGES)
def test_numbers_stay_apart(language: str) -> None:
    numbers = [*range(200), *range(990, 1021), *range(2000, 2030), 10_000, 10**5, 10**6, 10**9, 10**12]
    assert len({words(language).spell(number) for number in numbers}) == len(numbers)
    assert len({aloud(f"{number} km", language) for number in numbers}) == len(numbers)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_minute_of_the_day_stays_apart(language: str) -> None:
    times = [f"{hour}:{minute:02}" for hour in range(24) for minute in range(60)]
    assert len({aloud(time, language) for time in times}) == len(times)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_day_of_a_year_stays_apart(language: str) -> None:
    days = [f"2026-{month:02}-{day:02}" for month in range(1, 13) for day in range(1, 29)]
    assert len({aloud(day, language) for day in days}) == len(days)


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_word_of_a_fixed_sentence_is_lost(language: str) -> None:
    """So "I could not look" and "there is none" stay as different as they were written."""
    for sentence in _sentences(language):
        sentence = re.sub(r"`[^`]*`|\{\w*(?::,)?\}|\[[\w.]+\]|\w+/\w+", "", sentence)
        known = words(language)
        if any(short in sentence for short in (*known.abbreviations, *known.before_numbers)):
            continue
        told = re.findall(r"[^\W\d_]+", re.sub(r"\S*\d\S*|\S*[*+^/]\S*|%", "", sentence))
        said = re.findall(r"[^\W\d_]+", aloud(sentence, language))
        assert [word for word in told if word not in said] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_could_not_look_and_there_is_none_sound_different(language: str) -> None:
    table = {} if language == "en" else _table(language)
    pairs = [
        ("I could not look into the calendar: {why}", "Nothing is in the calendar {when}."),
        ("I could not look at the timers: {why}", "No timer or alarm is set."),
        ("I could not open the notebook: {why}", "The notebook is empty."),
        ("I could not look through the files: {why}", "There are no files."),
    ]
    for unknown, none in pairs:
        both = [re.sub(r"\s?\{\w+\}", "", table.get(each, each)) for each in (unknown, none)]
        first, second = (set(re.findall(r"\w+", aloud(each, language).lower())) for each in both)
        assert len(first ^ second) >= 4


def _sentences(language: str) -> list[str]:
    phrases = files("muleteer.harness.phrases").joinpath(f"{language}.toml").read_text(encoding="utf-8")
    return [*tomllib.loads(phrases).values(), *(_table(language).values() if language != "en" else ())]


def _table(language: str) -> dict[str, str]:
    text = files("muleteer.harness.phrases").joinpath("tools", f"{language}.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
