"""The shortlist finds the lines that share words with the message, and cuts only long menus."""

from muleteer.harness.shortlist import SCORE_ALL, Shortlist, words
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
    menu = [MenuLine(f"tool-{i}", f"Does thing number {i}.", ()) for i in range(SCORE_ALL)]
    assert len(Shortlist(menu).pick("thing")) == SCORE_ALL
    longer = [*menu, MenuLine("wanted", "Waters the tomatoes.", ())]
    picked = Shortlist(longer).pick("water the tomato")
    assert len(picked) == SCORE_ALL
    assert picked[0] == "wanted"


def test_an_empty_menu_picks_nothing() -> None:
    assert Shortlist([]).pick("anything") == ()


def test_words_meet_across_case_and_plural() -> None:
    assert words("Timers, ÄPFEL and gas") == ["timer", "äpfel", "and", "gas"]
