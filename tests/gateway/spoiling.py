"""Bodies that are nearly, or not at all, what a path takes: values exchanged, bytes cut or turned."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Collection, Mapping, Sequence

VALUES: tuple[object, ...] = (
    *(None, True, 0, -1, 2**70, 1.5, 1e300, "", "{", "0s", "json", "x\0", "é" * 99),
    *([], {}, [[[]]], [None], [1, 2], {"type": "text"}, {"type": "image_url"}),
    {"role": "tool", "content": "x"},
)


def spoilt(
    whole: Mapping[str, object], chance: random.Random, values: Sequence[object], keys: Collection[str]
) -> bytes:
    """`whole` with up to three `values` in wrong places, some below one of the `keys`; perhaps no JSON."""
    made = json.loads(json.dumps(whole))
    for _ in range(chance.randrange(4)):
        _change(made, chance, values, sorted(keys))
    content = json.dumps(made).encode()
    match chance.randrange(6):
        case 0:
            return content[: chance.randrange(len(content))]
        case 1:
            return bytes(each ^ (chance.random() < 0.005) << chance.randrange(8) for each in content)
        case 2:
            return content.replace(b"hello", chance.choice((b"\\ud800", b"\xff", b"\\u0000", b'","role":"')))
        case 3:
            return b'{"messages":' + b'[{"content":' * chance.randrange(3000)
    return content


def _change(value: object, chance: random.Random, values: Sequence[object], keys: Sequence[str]) -> None:
    """One value somewhere in it is another one, or has another key."""
    while isinstance(value, dict | list) and value:
        key = chance.choice(list(value) if isinstance(value, dict) else range(len(value)))
        inner = value[key]
        if not isinstance(inner, dict | list) or not inner or chance.random() < 0.3:
            if isinstance(value, dict) and chance.random() < 0.3:
                del value[key]
                key = chance.choice([*keys, "x"])
            value[key] = copy.deepcopy(chance.choice(values))
            return
        value = inner
