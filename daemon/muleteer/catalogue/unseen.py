"""Characters that nobody sees: a text that is agreed to must be the text that is used.

Knows Unicode; knows nothing of where a text comes from.
"""

from __future__ import annotations

import re

# Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt), among them the tag characters; controls
# but tab and line feed, separators of lines, annotations, private use, and halves of surrogate pairs.
_NEVER = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ud800-\uf8ff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    r"\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U0010ffff"
)
# Joiners shape Persian, the scripts of India and emoji (never Latin), and a selector makes a sign colourful:
# one of each is allowed, after a character that it can do that to.
UNSEEN = re.compile(
    rf"[{_NEVER}]|(?<![^\x00-\x7f\u200c\u200d{_NEVER}])[\u200c\u200d]"
    r"|(?<![^\s\u200c-\u200f\ufe0e\ufe0f])[\ufe0e\ufe0f]"
)


def revealed(text: str) -> str:
    """`text` with escapes such as `\\u200b` for what cannot be seen in it."""
    return UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)
