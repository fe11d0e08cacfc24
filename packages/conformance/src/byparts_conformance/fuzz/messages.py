"""Changes of messages field by field: what is read is a right message that says something else.

Bytes that are changed at random mostly are no message any more, and the readers of graphs see few.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from byparts_conformance.fuzz.mutations import NUMBERS, TEXTS

_DEEPEST = 12
_Place = tuple[Any, Any]  # a message, and a field that is there


def changed_message(random: Random, message: Any) -> Any:
    """A copy with one to three fields changed, moved, doubled or left out."""
    made = message.copy()
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        places = list(_places(made, 0))
        if places:
            _change(random, *random.choice(places), places)
    return made


def _places(message: Any, depth: int) -> Iterator[_Place]:
    for field, value in message.ListFields() if depth < _DEEPEST else ():
        yield message, field
        for inner in _inside(value):
            yield from _places(inner, depth + 1)


def _inside(value: Any) -> Iterator[Any]:
    """The messages in the value of a field."""
    if hasattr(value, "ListFields"):
        yield value
    elif hasattr(value, "values") and hasattr(value, "keys"):
        yield from [v for v in value.values() if hasattr(v, "ListFields")]
    elif not isinstance(value, (str, bytes, int, float)):
        yield from [v for v in value if hasattr(v, "ListFields")]


def _change(random: Random, message: Any, field: Any, places: list[_Place]) -> None:
    value, kind = getattr(message, field.name), random.randrange(6)
    try:
        if kind == 0 or hasattr(value, "ListFields"):
            message.ClearField(field.name)
        elif hasattr(value, "keys"):
            _change_map(random, value)
        elif field.repeated:
            _change_list(random, value, _other(random, value, places))
        else:
            setattr(message, field.name, _other(random, [value], places))
    except (TypeError, ValueError, AttributeError):
        message.ClearField(field.name)  # a value of another kind, or out of range


def _change_map(random: Random, value: Any) -> None:
    key = random.choice(sorted(value))
    if random.random() < 0.5:
        del value[key]
    else:
        other = random.choice((*TEXTS, *sorted(value)))
        value[other].CopyFrom(value[key])


def _change_list(random: Random, value: Any, other: Any) -> None:
    at, kind = random.randrange(len(value)), random.randrange(5)
    if kind == 0:
        del value[at]
    elif kind == 1:
        del value[at:]
    elif kind == 2:
        value.extend([value[at]])
    elif kind == 3 and not hasattr(value[at], "ListFields"):
        value[at] = other
    else:
        items = list(value)
        random.shuffle(items)
        del value[:]
        value.extend(items)


def _other(random: Random, values: Any, places: list[_Place]) -> Any:
    """Another value of the kind: from anywhere in the message, or a strange one."""
    sample = values[0]
    if isinstance(sample, (str, bytes)):
        there = [getattr(m, f.name) for m, f in random.sample(places, min(9, len(places)))]
        texts: list[Any] = [t for t in there if isinstance(t, type(sample))]
        strange = [t.encode("utf-8", "replace") for t in TEXTS]
        more: list[Any] = strange if isinstance(sample, bytes) else [s.decode() for s in strange]
        return random.choice([*texts, *more, sample * 2])
    if isinstance(sample, bool):
        return not sample
    if isinstance(sample, float):
        return random.choice((0.0, -1.0, 1e38, float("nan"), float("inf")))
    return random.choice((*NUMBERS, 4, 9, 17, 2000, 101))
