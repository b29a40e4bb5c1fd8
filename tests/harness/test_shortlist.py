"""The shortlist finds the lines that share words with the message, and cuts only long menus."""

from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.shortlist import KEEP, Shortlist, words
from muleteer.skills import MenuLine

LIGHT = MenuLine("switch", "Turn a device on or off.", ("turn on the lamp",))
TIME = MenuLine("current-time", "The time or date, here or in a city.", ("what day is it",))
NOTES = MenuLine("search-info", "Find what the user told earlier.", ())


def test_the_line_with_the_words_comes_first() -> None:
    assert Shortlist([LIGHT, TIME, NOTES]).pick("please turn the lamps off")[0] == "switch"


def test_a_rare_word_counts_more_than_a_common_one() -> None:
    menu = [MenuLine(f"tool-{i}", "Show the list of things.", ()) for i in range(5)]
    menu.append(MenuLine("tides", "Show the tide.", ()))
    assert Shortlist(menu).pick("show the tide of the list")[0] == "tides"


def test_ties_keep_the_order_of_the_menu() -> None:
    assert Shortlist([LIGHT, TIME, NOTES]).pick("xyzzy") == ("switch", "current-time", "search-info")


def test_only_a_menu_longer_than_the_limit_is_cut() -> None:
    menu = [MenuLine(f"tool-{i}", f"Does thing number {i}.", ()) for i in range(KEEP)]
    assert len(Shortlist(menu).pick("thing")) == KEEP
    longer = [*menu, MenuLine("wanted", "Waters the tomatoes.", ())]
    picked = Shortlist(longer).pick("water the tomato")
    assert len(picked) == KEEP
    assert picked[0] == "wanted"


def test_an_empty_menu_picks_nothing() -> None:
    assert Shortlist([]).pick("anything") == ()


def test_words_meet_across_case_accent_and_plural() -> None:
    assert words("Timers, ÄPFEL and gas") == ["timer", "apfel", "and", "gas"]


def test_pieces_of_words_meet_across_inflection_and_compounds() -> None:
    menu = [LIGHT, TIME, MenuLine("garden", "Bewässerung der Tomatenpflanzen.", ())]
    assert Shortlist(menu).pick("Tomaten wässern")[0] == "garden"


def test_what_only_a_parameter_says_counts() -> None:
    menu = [LIGHT, TIME, MenuLine("order", "Buy.", (), words="isbn the number of a book")]
    assert Shortlist(menu).pick("get me that book")[0] == "order"


lines = st.builds(
    MenuLine, st.uuids().map(str), st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3).map(tuple)
)


@given(st.lists(lines, max_size=40, unique_by=lambda line: line.handle), st.text(max_size=60))
def test_a_pick_is_of_the_menu_without_doubles_and_the_same_each_time(
    menu: list[MenuLine], said: str
) -> None:
    shortlist = Shortlist(menu)
    picked = shortlist.pick(said)
    assert len(picked) == len(set(picked)) == min(KEEP, len(menu))
    assert set(picked) <= {line.handle for line in menu}
    assert picked == Shortlist(menu).pick(said)


@given(st.lists(lines, min_size=KEEP + 1, max_size=40, unique_by=lambda line: line.handle))
def test_a_line_whose_own_words_are_said_is_never_cut(menu: list[MenuLine]) -> None:
    wanted = MenuLine("wanted", "Zymurgy quixotic.", ())
    assert Shortlist([*menu, wanted]).pick("zymurgy quixotic")[0] == "wanted"


def test_what_is_much_less_like_than_the_best_is_left_out_beyond_the_second() -> None:
    lines = [
        MenuLine(f"h{i}", text, ())
        for i, text in enumerate(("garden pump", "pump", "lamp", "garden pump on"))
    ]
    shortlist = Shortlist(lines)
    assert set(shortlist.pick("garden pump", 0.9)) >= {"h0", "h3"}
    assert len(shortlist.pick("garden pump", 0.9)) == 2
    assert len(shortlist.pick("garden pump")) == 4
