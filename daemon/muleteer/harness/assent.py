"""Whether an answer to a question is a plain yes or a plain no, for people who cannot press a button.

Pure. Takes only what says nothing else: "yes, but the other one" is neither. Knows the languages of `phrases`
all at once, since whoever was asked may answer in any; no word is a yes in one of them and a no in another.
"""

from __future__ import annotations

import re
import unicodedata

_YES = {
    "en": """yes/yeah/yep/yup/sure/ok/okay/of course/go ahead/do it/do that/do so/please do/go for it/right
        correct/certainly/absolutely/confirm/confirmed/i confirm""",
    "de": """ja/jawohl/jo/jap/klar/gerne/gern/sicher/natürlich/in ordnung/auf jeden fall/einverstanden
        mach das/mach es/mach mal/tu es/tu das/bestätigt/ich bestätige""",
    "es": "sí/claro/vale/por supuesto/adelante/de acuerdo/hazlo/confirmo/confirmado",
    "fr": "oui/ouais/d'accord/bien sûr/vas-y/allez-y/fais-le/faites-le/volontiers/je confirme",
    "it": "sì/certo/certamente/va bene/d'accordo/fallo/confermo/volentieri",
    "nl": "ja/jawel/zeker/natuurlijk/graag/doe maar/doe het/akkoord/prima/ik bevestig",
    "pt": "sim/claro/com certeza/está bem/tudo bem/pode fazer/faz isso/faça isso/confirmo",
    "tr": "evet/olur/tamam/tabii/tabii ki/elbette/peki/yap/onaylıyorum",
}
_NO = {
    "en": """no/nope/nah/not now/don't/do not/don't do it/do not do it/don't do that/cancel/stop/never mind
        nevermind/leave it/forget it/rather not""",
    "de": """nein/nee/nö/lieber nicht/bloß nicht/nicht/lass es/lass das/lass mal/abbrechen/abbruch/stopp
        vergiss es/mach das nicht/mach es nicht""",
    "es": "no/mejor no/ahora no/cancela/cancelar/déjalo/no lo hagas",
    "fr": "non/plutôt pas/pas maintenant/annule/annuler/laisse tomber/laisse/arrête/ne le fais pas",
    "it": "no/meglio di no/non ora/annulla/lascia perdere/lascia stare/non farlo",
    "nl": "nee/neen/liever niet/niet doen/niet nu/annuleer/annuleren/laat maar/stop",
    "pt": "não/melhor não/agora não/cancela/cancelar/deixa/deixa estar/não faças/não faça isso",
    "tr": "hayır/yok/gerek yok/istemiyorum/iptal/iptal et/vazgeç/yapma/dur",
}
_POLITE = """please/thanks/thank you/now/bitte/danke/jetzt/por favor/gracias/merci/s'il te plaît
    s'il vous plaît/per favore/per piacere/grazie/alsjeblieft/alstublieft/bedankt/dank je/obrigado/obrigada
    lütfen/teşekkürler/teşekkür ederim"""

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 8  # an answer; with more words something else is meant


def _words(text: str) -> tuple[str, ...]:
    """In small letters and without accents, which those who write down speech set as they like."""
    plain = unicodedata.normalize(
        "NFKD", text.replace("'", " ").replace("\N{RIGHT SINGLE QUOTATION MARK}", " ")
    )
    return tuple(_WORD.findall("".join(c for c in plain.casefold() if not unicodedata.combining(c))))


def _phrases(table: str) -> set[tuple[str, ...]]:
    return {_words(phrase) for line in table.splitlines() for phrase in line.split("/")}


_MEANING: dict[tuple[str, ...], bool | None] = (
    dict.fromkeys(_phrases(_POLITE), None)
    | dict.fromkeys(set[tuple[str, ...]]().union(*map(_phrases, _NO.values())), False)
    | dict.fromkeys(set[tuple[str, ...]]().union(*map(_phrases, _YES.values())), True)
)
_LONGEST = max(map(len, _MEANING))


def assent(message: str) -> bool | None:
    """True for a yes, False for a no, None for anything else."""
    words = _words(message)
    meanings: set[bool] = set()
    if len(words) > _MOST_WORDS:
        return None
    while words:
        length = next((n for n in range(min(_LONGEST, len(words)), 0, -1) if words[:n] in _MEANING), 0)
        if not length:
            return None
        meaning = _MEANING[words[:length]]
        meanings |= set() if meaning is None else {meaning}
        words = words[length:]
    return meanings.pop() if len(meanings) == 1 else None
