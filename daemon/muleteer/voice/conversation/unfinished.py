"""Whether what was said breaks off: it ends with a word that another one must follow. Pure.

Speech recognisers set a period after anything, so that only words count. In languages without a table no
sentence counts as broken off.
"""

from __future__ import annotations

import re

_WORDS = {
    "en": "a an the to for in at of and or with my your from about is are was please",
    "de": "ein eine einen einem einer der die das den dem des für im in am und oder mein meine von bitte",
    "es": "un una el la los las para en de del y o con mi a por",
    "fr": "un une le la les pour dans de du des et ou avec mon ma à",
    "it": "un una il lo la i gli per in di del e o con mio mia a",
    "nl": "een de het voor van en of met mijn",
    "pt": "um uma o a os as para em de do da e ou com meu minha",
}
_OPEN = {language: frozenset(said.split()) for language, said in _WORDS.items()}
_WORD = re.compile(r"[^\W\d_]+|\d+")


def unfinished(text: str, language: str) -> bool:
    """Questions may end with any word: "What is that for?"."""
    said = _WORD.findall(text.lower())
    return bool(said) and not text.rstrip().endswith("?") and said[-1] in _OPEN.get(language, frozenset())
