"""Changes of files: of bytes, of the words of a text, of the values of a JSON document.

Each takes a `Random` and gives a new value; what it was given stays as it was.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

NUMBERS = (
    0,
    1,
    -1,
    2,
    3,
    7,
    64,
    255,
    1 << 16,
    1 << 31,
    (1 << 32) - 1,
    1 << 62,
    1 << 63,
    -(1 << 63),
)
LARGE = (10**12, -(10**12), 10**18, 10**40, 10**400)
TEXTS: tuple[str, ...] = (
    "",
    "x",
    "f32",
    "bf16",
    "i4",
    "f99",
    "bool",
    "f32[2]",
    "f32[...]",
    "f32[n,?]",
    "nan",
    "SAME",
)
TEXTS += ("NCHW", "NHWC", "\0", "\ud800", "é", "\u2028", "a\nreturn %x }", "../../x", "%0", "sum")
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0.5, -0.0, 1e-320, 1e308, float("nan"), float("inf"), [], {}, [0], [[]]),
    *({"tuple": []}, {"tuple": [1, 2]}, {"float": "nan"}, {"bytes": "AAAA"}, {"graph": 0}),
    *({"type": "f32[2]"}, {"float": 1}, {"code": "x"}),
)
BYTES = (
    b"",
    b"\0",
    b"\xff",
    b"\xff\xff\xff\xff",
    b"\x80",
    b"PK\1\2",
    b"\x93NUMPY",
    b"{",
    b"\0" * 8,
)
_WORD = re.compile(r"\w+|\s+|[^\w\s]")


def value(random: Random) -> Any:
    """Anything that JSON can say, and some that it should not."""
    return copy.deepcopy(random.choice(random.choice((NUMBERS, LARGE, TEXTS, VALUES))))


def changed_bytes(random: Random, data: bytes) -> bytes:
    """Flip, overwrite, cut out, insert, double or cut off one to four places."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        at = random.randrange(len(made) + 1)
        end = min(len(made), at + random.choice((1, 1, 2, 4, 8, 40)))
        kind = random.randrange(7)
        if kind == 0 and at < len(made):
            made[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            made[at:end] = random.randbytes(end - at)
        elif kind == 2:
            piece = random.choice(BYTES)
            made[at : at + len(piece)] = piece
        elif kind == 3:
            del made[at:end]
        elif kind == 4:
            made[at:at] = made[at:end]
        elif kind == 5:
            made[at:at] = random.choice(BYTES)
        elif random.random() < 0.3:
            del made[at:]
        else:
            number = random.choice(NUMBERS) % (1 << 32)
            made[at : at + 4] = number.to_bytes(4, "little")
    return bytes(made)


def changed_words(random: Random, text: str, others: Sequence[str]) -> str:
    """Exchange, double or leave out one to four words, or replace them by some of the others."""
    words = _WORD.findall(text)
    for _ in range(random.choice((1, 1, 1, 2, 4))):
        i, j = random.randrange(len(words)), random.randrange(len(words))
        kind = random.randrange(6)
        if kind == 0:
            words[i], words[j] = words[j], words[i]
        elif kind == 1:
            words.insert(i, words[j])
        elif kind == 2 and len(words) > 1:
            del words[i]
        elif kind == 3:
            words[i] = random.choice(others)
        elif kind == 4:
            words[i] = str(random.choice((*NUMBERS, *LARGE)))
        else:
            words[i] = words[j]
    return "".join(words)


def changed_json(random: Random, document: Any) -> str:
    """The text of the document with one to three values changed, or a change of the text itself."""
    document = copy.deepcopy(document)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        document = _changed_value(random, document)
    text = json.dumps(document)
    kind = random.randrange(20)
    if kind == 0:
        return changed_words(
            random, text, ("NaN", "-Infinity", "1e999", "9" * 5000, "[" * 2000, "")
        )
    if kind == 1:
        return changed_bytes(random, text.encode()).decode("utf-8", "surrogateescape")
    if kind == 2:  # a key twice
        key = random.choice(re.findall(r'"\w+": ', text) or ['"a": '])
        return text.replace("{", "{" + key + "0, ", random.randrange(1, 5))
    return text


def _changed_value(random: Random, document: Any) -> Any:
    places = list(_places(document))
    if not places:
        return value(random)
    holder, key = random.choice(places)
    kinds: Sequence[Callable[[], object]] = (
        lambda: holder.__setitem__(key, value(random)),
        lambda: holder.__setitem__(key, _near(random, holder[key])),
        lambda: holder.__setitem__(key, _near(random, holder[key])),
        lambda: holder.__setitem__(key, _near(random, holder[key])),
        lambda: holder.__delitem__(key),
        lambda: holder.__setitem__(key, copy.deepcopy(_get(random.choice(places)))),
        lambda: _double(random, holder, key),
        lambda: holder.__setitem__(key, [copy.deepcopy(holder[key])]),
    )
    random.choice(kinds)()
    return document


def _near(random: Random, found: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(found, bool):
        return not found
    if isinstance(found, int):
        return random.choice((found - 1, found + 1, found + 2, 0, -found, found + (1 << 63)))
    if isinstance(found, float):
        return random.choice((-found, found * 1e300, found * 1e-300, 0.0))
    if isinstance(found, str):
        return changed_words(random, found, TEXTS) if found else "x"
    if isinstance(found, list):
        return random.sample(found, len(found))
    return value(random)


def _double(random: Random, holder: Any, key: Any) -> None:
    if isinstance(holder, list):
        holder.insert(random.randrange(len(holder) + 1), copy.deepcopy(holder[key]))
    else:
        holder[random.choice(TEXTS)] = copy.deepcopy(holder[key])


def _places(document: Any) -> list[tuple[Any, Any]]:
    """Every value inside, as what holds it and the key."""
    found: list[tuple[Any, Any]] = []
    todo = [document]
    while todo:
        holder = todo.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in keys:
            found.append((holder, key))
            if isinstance(holder[key], (dict, list)):
                todo.append(holder[key])
    return found


def _get(place: tuple[Any, Any]) -> Any:
    holder, key = place
    return holder[key]
