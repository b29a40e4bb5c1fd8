"""Which language a message is in, by its small words and its letters: enough to choose a fixed sentence.

Pure. Knows the languages of `phrases`. A message that says too little is taken for the fallback; a detector
with a model of every language would be larger than all the rest of the harness, and surer only of long texts.
"""

from __future__ import annotations

import re

from muleteer.harness.phrases import LANGUAGES

# Words that are said often and mean little, and those that a request to a household assistant begins with.
_WORDS = {
    "en": """the a an of to and is are it in on at for what when where how who which my me you your please
        will i am that this have be do does did can could with was time day turn off set tell find show
        open many much hello hi""",
    "de": """noch minuten stunde stunden fünf zehn wecker öffne der die das den dem ein eine einen einem und
        ist sind es in im an am auf für was wann wo wie wer welche mein meine mich mir du dein bitte
        kannst mit war nicht wird uhr spät licht mach mache schalte zeig gib habe ich viel viele heute
        morgen alle gibt hallo danke aus""",
    "es": """a al el la los las un una de del y es son está en para por qué cuándo dónde cómo quién cuál mi
        mis me tu favor con no que hora día cuánto cuántos tengo hay hoy enciende apaga pon abre hola
        gracias""",
    "fr": """le la les un une des de du et est sont en dans pour que qu quoi quand où comment qui quel quelle
        quelles mon ma mes moi tu vous s'il te plaît avec ne pas il y a j'ai heure combien allume éteins
        ouvre mets aujourd bonjour merci c est-ce""",
    "it": """a al il lo la gli le un una di del della e è sono in per che cosa quando dove come chi quale mio
        mia mi tu favore con non ora ore quanto quanti ho c'è oggi accendi spegni apri metti grazie""",
    "nl": """de het een van en is zijn in op voor wat wanneer waar hoe wie welke mijn me mij je jouw
        alsjeblieft met niet laat kan kun zet doe aan uit ik heb hoeveel vandaag er alle open bedankt""",
    "pt": """a ao o os as um uma de do da e é são em no na para que quando onde como quem qual meu minha me
        você por favor com não horas quanto quantos tenho há hoje acende acenda apaga desligue ligue
        abre abra obrigado""",
    "tr": """bir ve bu şu ne nerede zaman nasıl kim hangi benim bana sen lütfen ile değil mı mi mu mü saat
        kaç var yok bugün aç kapat bütün için de da neden merhaba teşekkürler""",
}
_LETTERS = {"de": "ß", "es": "ñ¿¡", "fr": "œêûù", "it": "ìòù", "nl": "", "pt": "ãõ", "tr": "ığş", "en": ""}
_WORD = re.compile(r"[^\W\d_]+")
_KNOWN = {language: frozenset(words.split()) for language, words in _WORDS.items()}


def language(message: str, fallback: str = "en") -> str:
    """One of `LANGUAGES`: the one that most small words of the message belong to, if it is one alone."""
    found = scores(message)
    most = max(found.values())
    likely = [each for each, score in found.items() if score == most]
    return fallback if not most or fallback in likely or len(likely) > 1 else likely[0]


def scores(message: str) -> dict[str, int]:
    """How much each language has for it: its small words in the message, and letters of its own."""
    said = message.lower().replace("i\N{COMBINING DOT ABOVE}", "i")
    words = _WORD.findall(said)
    return {each: _score(each, words, said) for each in LANGUAGES}


def _score(language: str, words: list[str], said: str) -> int:
    """A letter that only this language has says as much as two words."""
    return sum(word in _KNOWN[language] for word in words) + 2 * any(c in said for c in _LETTERS[language])
