"""Conditions of orders: decided by what was read, or said to be undecided; never guessed or overlooked."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.compound import cuts
from muleteer.harness.conditions import SENTENCE, clauses, holds, without
from muleteer.harness.conditions.clauses import MOST
from muleteer.harness.language import language
from muleteer.harness.moods import asks, forbids
from muleteer.harness.orders import orders

WARM = "The greenhouse is 21.5 °C."

COMPARED = [
    ("if the greenhouse has under 25 degrees, turn on the lamp", True),
    ("if the greenhouse has under 5 degrees, turn on the lamp", False),
    ("turn on the lamp if the greenhouse is colder than 21.4 degrees", False),
    ("turn on the lamp if the greenhouse is colder than 21.6 degrees", True),
    ("if the greenhouse is above 20 turn on the fan", True),
    ("unless it is over 20 degrees, turn on the heating", False),
    ("when it is not over 20 degrees, turn on the heating", False),
    ("Should the greenhouse be under 25 degrees, turn on the lamp.", True),
    ("should the greenhouse be under 5 degrees turn on the lamp", False),
    ("turn on the lamp should it be under 25 degrees", True),
    ("in case it has at least 21.5 degrees turn on the fan", True),
    ("if it is 22 degrees or more, turn on the fan", False),
    ("as soon as it is no more than 20 degrees, start the heater", False),
    ("wenn das Gewächshaus unter 5 Grad hat, mach die Lampe an", False),
    ("wenn das Gewächshaus wärmer als 20,5 Grad ist schalte den Lüfter ein", True),
    ("mach die Heizung an, wenn es nicht über 18 Grad ist", False),
    ("sollte das Gewächshaus unter 25 Grad haben, mach die Lampe an", True),
    ("mach die Heizung an, sollte es unter 18 Grad sein", False),
    ("Hat das Gewächshaus weniger als 25 Grad, dann mach die Lampe an.", True),
    ("schalte die Lampe ein, es sei denn, es ist wärmer als 20 Grad", False),
    ("si hay más de 30 grados, enciende el ventilador", False),
    ("si hay menos de 25 grados, enciende la lámpara", True),
    ("enciende la luz a menos que haya más de 20 grados", False),
    ("en caso de que no haya menos de 20 grados, apaga la calefacción", True),
    ("s'il vous plaît, quand il fait plus de 20 degrés, allume la lampe", True),
    ("s'il fait moins de 25 degrés, allume la lampe", True),
    ("allume la lampe à moins qu'il ne fasse plus de 20 degrés", False),
    ("s'il ne fait pas plus de 20 degrés, allume le chauffage", False),
    ("se ci sono meno di 25 gradi, accendi la lampada", True),
    ("quando la serra è sopra i 20 gradi accendi il ventilatore", True),
    ("accendi la luce a meno che non ci siano più di 20 gradi", False),
    ("se non ci sono più di 30 gradi, accendi la lampada", True),
    ("dovesse essere sotto i 25 gradi, accendi la lampada", True),
    ("als het kouder is dan 25 graden, zet de lamp aan", True),
    ("mocht het in de kas kouder dan 25 graden zijn, zet dan de lamp aan", True),
    ("zet de lamp aan tenzij het warmer dan 20 graden is", False),
    ("zet de lamp aan als het niet boven de 20 graden is", False),
    ("se houver menos de 25 graus, acende a luz", True),
    ("caso a estufa esteja abaixo de 25 graus, acende a luz", True),
    ("acende a luz se no jardim houver menos de 25 graus", True),
    ("a não ser que esteja acima de 20 graus, acende a luz", False),
    ("eğer sera 25 derecenin altındaysa lambayı aç", True),
    ("sera 25 dereceden düşükse lambayı aç", True),
    ("sera 20 dereceden yüksek değilse ısıtıcıyı aç", False),
    ("if it is under twenty five degrees, turn on the lamp", True),
    ("if it is under ten degrees, turn on the lamp", False),
    ("wenn es unter zwölf Grad ist, mach die Heizung an", False),
    ("wenn es über fünfzehn Grad ist, mach die Heizung aus", True),
    ("si hay menos de treinta grados, enciende la luz", True),
    ("als het onder de vijfentwintig graden is, zet de lamp aan", True),
    ("se ci sono meno di venti gradi, accendi la lampada", False),
    ("check whether it is under 25 degrees, and if so turn on the lamp", True),
    ("check if the greenhouse is under 5 degrees and if so turn on the lamp", False),
    ("Ist es unter 25 Grad? Wenn ja, mach die Lampe an.", True),
    ("schau ob es unter 5 Grad ist und wenn ja mach die Lampe an", False),
    ("kijk of het onder de 25 graden is en zo ja zet de lamp aan", True),
    ("controlla se ci sono meno di 25 gradi e se sì accendi la lampada", True),
]

UNDECIDED = [
    "if the greenhouse is cold, turn on the lamp",
    "if it is under 70 degrees Fahrenheit, turn on the lamp",
    "when I come home, turn on the lamp",
    "if it is under 25 degrees and the door is open, turn on the lamp",
    "if it is under 5 degrees or the door is open, turn on the lamp",
    "if it is between 20 and 25 degrees turn on the lamp",
    "ist das fenster offen mach die heizung aus",
    "Ist das Fenster offen, mach die Heizung aus",
    "ok, steht die Tür offen, dann mach die Heizung aus",
    "Is het raam open, zet dan de verwarming uit",
    "if so close the window",
    "Is the door open? If so, close it.",
    "indien het regent, sluit het raam",
    "wanneer het donker is doe het licht aan",
    "qualora piovesse, chiudi la finestra",
    "nel caso in cui piova chiudi la finestra",
    "fecha a janela quando chover",
    "quand il pleut ferme la fenêtre",
    "cuando llueva, ¿puedes cerrar la ventana?",
    "hava karanlıksa ışığı aç",
    "pencere açık ise ısıtmayı kapat",
    "hava soguksa isiticiyi ac",
    "yağmur yağınca pencereyi kapat",
    "eve geldiğimde ışığı aç",
]

NONE = [
    "turn on the lamp",
    "turn on the lamp if you can",
    "mach bitte das Licht an",
    "mach das Licht an, wenn du kannst",
    "accendi la luce se puoi",
    "se non ti dispiace accendi la luce",
    "si puedes enciende la luz",
    "s'il te plaît allume la lampe",
    "doe de lamp aan als je kunt",
    "se puderes acende a luz",
    "mümkünse ışığı aç",
    "Should I turn on the lamp?",
    "should i turn on the lamp",
    "Soll ich die Lampe anmachen?",
    "When does it rain?",
    "when is the meeting",
    "what should the temperature be?",
    "quando è la riunione?",
    "wanneer is de afspraak?",
    "cuando es la reunion?",
    "quand est-ce que le train part ?",
    "la luce si accende da sola, spegnila",
    "la luz se enciende sola, apágala",
    "como se liga a luz",
    "come si accende la luce?",
    "il fait si froid, allume le chauffage",
    "Ist das Licht an?",
    "Is the light on, please?",
    "masayı temizle",
    "yüksek sesle oku",
]


@pytest.mark.parametrize(("message", "met"), [*COMPARED, *((each, None) for each in UNDECIDED)])
def test_numbers_are_compared(message: str, met: bool | None) -> None:
    (clause,) = clauses(message)
    assert message[clause.start : clause.end] == clause.text
    assert orders(message)
    assert holds(clause, [WARM]) is met


@pytest.mark.parametrize(
    "message",
    [*(each for each, _ in COMPARED), *UNDECIDED, "mach die Lampe an wenn es nicht hell ist"],
)
def test_an_order_under_a_condition_neither_asks_nor_forbids(message: str) -> None:
    assert not asks(message)
    assert not forbids(message)


@pytest.mark.parametrize(
    ("message", "reading", "met"),
    [
        ("if the door is open, switch on the light", "The back door is open.", True),
        ("if the door is not open, switch on the light", "The back door is open.", False),
        ("if the door is closed, switch on the light", "The back door is open.", None),
        ("in case the door is open turn on the light", "The back door is open.", True),
        ("if the lamp on the wall is off, turn on the fan", "The lamp is on.", None),
        ("wenn die Lampe an ist, mach den Lüfter an", "Die Lampe ist an.", True),
        ("wenn die Lampe an der Wand aus ist, mach den Lüfter an", "Die Lampe ist an.", None),
        ("sollte die Lampe nicht an sein, mach den Lüfter an", "Die Lampe ist an.", False),
        ("als de lamp aan is zet de ventilator aan", "De lamp is aan.", True),
        ("lamba açıksa vantilatörü kapat", "lamba: açık.", True),
        ("lamba açık değilse vantilatörü aç", "lamba: açık.", False),
    ],
)
def test_states_are_compared(message: str, reading: str, met: bool | None) -> None:
    assert holds(clauses(message)[0], [reading]) is met


def test_the_last_thing_found_out_counts_and_nothing_decides_nothing() -> None:
    (clause,) = clauses("if it is under 10 degrees, turn on the lamp")
    assert holds(clause, [WARM, "The cellar is 9 °C."]) is True
    assert holds(clause, ["It is 5 °C inside and 3 °C outside."]) is None
    assert holds(clause, []) is None


@pytest.mark.parametrize("message", NONE)
def test_politeness_and_plain_questions_are_no_conditions(message: str) -> None:
    assert clauses(message) == ()


@pytest.mark.parametrize("message", [*(each for each, _ in COMPARED), *UNDECIDED])
def test_no_order_is_cut_off_its_condition(message: str) -> None:
    assert cuts(message, language(message)) == []


def test_each_of_two_conditions_is_found() -> None:
    assert len(clauses("If so, turn on the lamp if it is dark")) == 2
    first, second = clauses("if it is cold, turn on the lamp unless the window is open")
    assert (first.text, second.text, second.denied) == ("if it is cold", "unless the window is open", True)


@pytest.mark.parametrize("unit", ["if ", "is a? ", "should it turn on ", "se ", "geldiyse ", "please and, "])
def test_no_text_has_many_conditions(unit: str) -> None:
    """What is looked for is bounded, whatever a stranger repeats."""
    text = unit * 1000
    for sentence in SENTENCE.findall(text):
        assert len(clauses(sentence)) <= MOST * 8
    assert len(clauses(text)) <= MOST * 8 * len(SENTENCE.findall(text))


@given(st.text(max_size=200))
def test_clauses_bear_anything(message: str) -> None:
    for clause in clauses(message):
        assert message[clause.start : clause.end] == clause.text
        holds(clause, [message, WARM])
    assert len(without(message)) <= len(message) + len(clauses(message)) * 2
