"""Parses JSON strictly; each error names the path to what is wrong, as in `graphs[0].nodes[3]`.

`json` takes more than JSON is, and two keys of one name for one.  What a file of ours cannot have
becomes an `Unfit` where it stands: whoever walks through the document meets it there, takes it for
nothing that was expected, and names the place as in Python, `graphs[0].nodes[3].inputs[1]`.
"""

from __future__ import annotations

from math import isfinite

from byparts_graph_ir.errors import FormatError
from byparts_graph_ir.formats.attributes import BYTE_ORDER_MARK, MOST_DIGITS, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, TypeAlias

    Place: TypeAlias = tuple[str | int, ...]  # the keys and positions that lead there

Json: TypeAlias = "Any"  # what stands in a text: checked by whoever reads it, field by field


class Unfit:
    """Stands where the text has something that no file of a graph can have; says what."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __repr__(self) -> str:
        return self.what


def parsed(text: str) -> Json:
    """Parse JSON.

    Raises:
        FormatError: it is no JSON; with line and column.
    """
    import json  # a program built in code needs none

    if not isinstance(text, str):
        raise FormatError(f"expected a text, got {type(text).__name__}; decode it first")
    try:
        return json.loads(
            text.removeprefix(BYTE_ORDER_MARK),
            parse_int=_integer,
            parse_float=_float,
            parse_constant=lambda word: Unfit(f"{word}, which is no JSON"),
            object_pairs_hook=_object,
        )
    except ValueError as error:  # with line and column
        raise FormatError(f"not a JSON text: {error}") from error
    except RecursionError as error:
        raise FormatError("not a JSON text of a graph: brackets inside too many others") from error


def _integer(word: str) -> int | Unfit:
    return int(word) if len(word) <= MOST_DIGITS else Unfit(f"a number of {len(word)} digits")


def _float(word: str) -> float | Unfit:
    value = float(word)
    return value if isfinite(value) else Unfit(f"{word:.20}, more than a float can hold")


def _object(pairs: list[tuple[str, Json]]) -> dict[str, Json] | Unfit:
    members = dict(pairs)
    if len(members) == len(pairs):
        return members
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            break
        seen.add(key)
    return Unfit(f"an object with two {shown(key)}")


def check_keys(
    data: Json, required: Sequence[str], place: Place, optional: Sequence[str] = ()
) -> None:
    """All that are required, no others but the optional.

    Raises:
        FormatError: it is no object, or lacks a key or has one more.
    """
    if not isinstance(data, dict):
        raise fault(place, "an object", data)
    missing = [k for k in required if k not in data]
    unknown = [k for k in data if k not in required and k not in optional]
    if missing or unknown:
        wrong = f"lacks {missing[0]!r}" if missing else f"has the unknown field {shown(unknown[0])}"
        raise FormatError(f"{path(place)} {wrong}")


def as_list(data: Json, place: Place) -> list[Json]:
    """The data, if it is a list.

    Raises:
        FormatError: it is no list.
    """
    if not isinstance(data, list):
        raise fault(place, "a list", data)
    return data


def as_text(data: Json, place: Place) -> str:
    """The data, if it is a text.

    Raises:
        FormatError: it is no text.
    """
    if not isinstance(data, str):
        raise fault(place, "a text", data)
    return data


def fault(place: Place, expected: str, data: Json) -> FormatError:
    """The error: what was expected at a place, and what was found."""
    return FormatError(f"{path(place)}: expected {expected}, found {shown(data)}")


def path(place: Place) -> str:
    """The way there as in Python: `graphs[0].nodes[3]`."""
    steps = [f".{p}" if isinstance(p, str) and p.isidentifier() else f"[{p!r}]" for p in place]
    return "".join(steps).removeprefix(".") or "the file"
