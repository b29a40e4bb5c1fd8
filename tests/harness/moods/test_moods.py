"""What a sentence is: questions and prohibitions in eight languages, and orders that look like them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muleteer.harness.moods import asks, deletes, forbids, negated
from muleteer.harness.orders import orders

QUESTIONS = [
    "is the garage door closed?",
    "the garage door is closed?",
    "should i turn on the lamp",
    "shall we close the window?",
    "can you tell me whether the door is locked?",
    "what is on when it is dark?",
    "if it is cold, should I turn on the heater?",
    "ist das Garagentor zu?",
    "Das Fenster ist offen?",
    "kannst du mir sagen, ob die Tür zu ist",
    "muss ich die Pumpe anmachen",
    "¿está cerrada la puerta del garaje?",
    "la puerta está abierta?",
    "puedes decirme si la luz está encendida",
    "cuántas luces hay encendidas",
    "la porte du garage est-elle fermée ?",
    "la porte est fermée ?",
    "peux-tu me dire si la lampe est allumée",
    "combien de lampes sont allumées",
    "è chiusa la porta del garage?",
    "la porta del garage è chiusa?",
    "puoi dirmi se la luce è accesa?",
    "quanti gradi ci sono in cucina",
    "devo accendere la lampada?",
    "come si accende la luce?",
    "is de garagedeur dicht?",
    "de garagedeur is dicht?",
    "kun je me zeggen of het licht aan is",
    "moet ik de lamp aandoen",
    "hoe warm is het in de kas",
    "wanneer is de afspraak?",
    "a porta da garagem está fechada?",
    "está fechada a porta da garagem",
    "pode dizer se a luz está acesa",
    "quantos graus estão na cozinha",
    "que horas são",
    "devo acender a luz?",
    "garaj kapısı kapalı mı?",
    "garaj kapısı kapalı mı acaba",
    "hangi ışıklar açık",
    "mutfak kaç derece",
    "ışığı açayım mı",
]

ORDERS = [
    "close the garage door",
    "can you close the garage door?",
    "is it dark, turn on the light",
    "what a mess, turn off the lamp",
    "come on, turn on the light",
    "Schließ das Garagentor",
    "Machst du bitte das Licht an?",
    "Ist es dunkel, mach das Licht an",
    "hay mucha luz, apaga la lámpara",
    "tengo frío enciende la calefacción",
    "¿puedes cerrar la puerta?",
    "peux-tu allumer la lampe ?",
    "il fait noir, allume la lampe",
    "è buio, accendi la luce",
    "è buio accendi la luce",
    "puoi chiudere la porta del garage?",
    "doe het licht aan",
    "kun je de garagedeur sluiten?",
    "waarschuw me als de deur open is",
    "está escuro, acende a luz",
    "podes fechar a porta da garagem?",
    "acende a luz no corredor",
    "no, turn on the lamp",
    "non, allume la lampe",
    "ışığı açar mısın?",
    "garaj kapısını kapat",
    "ısıtma",
]

PROHIBITIONS = [
    "don't open the garage door",
    "Öffne das Garagentor nicht",
    "no abras la puerta",
    "no encienda la luz",
    "n'ouvre pas la porte",
    "non aprire la porta",
    "doe het licht niet aan",
    "niet het licht aandoen",
    "não abras a porta",
    "não acenda a luz",
    "ışığı açma",
    "kapıyı kapatma lütfen",
]


@pytest.mark.parametrize("message", QUESTIONS)
def test_a_question_orders_nothing(message: str) -> None:
    assert asks(message)
    assert not orders(message)


@pytest.mark.parametrize("message", ORDERS)
def test_an_order_is_no_question(message: str) -> None:
    assert not asks(message)
    assert not negated(message)
    assert orders(message)


@pytest.mark.parametrize("message", PROHIBITIONS)
def test_a_prohibition_orders_nothing(message: str) -> None:
    assert forbids(message)
    assert negated(message)
    assert not orders(message)


@pytest.mark.parametrize("message", ["non dimenticare il latte", "não te esqueças do leite", "sütü unutma"])
def test_what_is_not_to_be_forgotten_is_no_prohibition(message: str) -> None:
    assert not forbids(message)


@pytest.mark.parametrize(
    "message",
    ["guarda que el fontanero se llama Luis", "siamo in sei", "São Paulo é grande", "hanging out with Tom"],
)
def test_what_is_told_is_no_question(message: str) -> None:
    assert not asks(message)


@pytest.mark.parametrize("message", ["annuleer de wekker", "cancela o alarme", "lösch das"])
def test_an_order_to_delete_is_known_by_its_first_word(message: str) -> None:
    assert deletes(message)
    assert not deletes(f"note: {message}")


@given(st.text(max_size=200))
def test_moods_bear_anything(message: str) -> None:
    assert not (asks(message) and orders(message))
    forbids(message)
