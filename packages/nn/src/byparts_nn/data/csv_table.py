"""Columns of a CSV file as arrays, with the line in every error.

Python's `csv` splits the lines; what it would let pass is refused here: a line with more or fewer
fields, a heading twice, quotes that never end, numbers written as Python allows and files do not.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from os import PathLike
from typing import Any, Union

import numpy as np

from byparts_graph_ir import ArgumentError, FormatError
from byparts_nn.data.samples import Array

Path = Union[str, PathLike[str]]

_WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
_NUMBER = re.compile(
    r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)", re.IGNORECASE
)
_DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64, "i64": np.int64}
_WANTED = {"f32": "a number", "f64": "a number", "i64": "a whole number of 64 bits"}
_BOOLS = {"0": False, "false": False, "1": True, "true": True}
KINDS = (*_DTYPES, "bool", "text")


def read_csv(
    path: Path,
    columns: Mapping[str, str] | None = None,
    *,
    missing: Mapping[str, float] | None = None,
    delimiter: str = ",",
    encoding: str = "utf-8-sig",
) -> dict[str, Array]:
    """The columns of a CSV file whose first line has their names.

    Args:
        path: the file.
        columns: the columns to read and the kind of each: "f32", "f64", "i64", "bool" or "text".
            Left out: all of them, as i64, f32 or text, whichever is the first that fits.
        missing: the number that stands for an empty field, for columns that may have some.
        delimiter: what is between two fields.
        encoding: of the text.

    Raises:
        FormatError: the file is not what it should be; the line, the column and the field.
        ArgumentError: a kind that is none.
        OSError: the file cannot be read.
    """
    name = os.fspath(path)
    for column, kind in (columns or {}).items():
        if kind not in KINDS:
            known = ", ".join(KINDS)
            raise ArgumentError(f"read_csv: column {column!r} is {kind!r:.60}; known are {known}")
        if kind == "i64" and (missing or {}).get(column, 0) % 1:
            what = f"missing={missing!r:.60} has a fraction for column {column!r}"
            raise ArgumentError(f"read_csv: {what}, which is i64")
    with open(name, encoding=encoding, newline="") as file:
        rows = _rows(name, file, delimiter)
        _, heading = next(rows, (0, []))
        wanted = list(heading if columns is None else columns)
        places = _places(name, heading, wanted)
        lines: list[int] = []
        fields: dict[str, list[str]] = {column: [] for column in wanted}
        for line, row in rows:
            if len(row) != len(heading):
                what = f"{len(row)} fields; the heading has {len(heading)}"
                raise FormatError(f"{name}:{line}: {what}")
            lines.append(line)
            for column, place in zip(wanted, places, strict=True):
                fields[column].append(row[place])
    table = {}
    for column in wanted:
        kind = columns[column] if columns is not None else _kind_of(fields[column])
        empty = (missing or {}).get(column)
        table[column] = _array(name, column, kind, empty, lines, fields[column])
    return table


def _rows(name: str, file: Any, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with its line; empty lines are left out."""
    reader = csv.reader(file, delimiter=delimiter, strict=True)
    line = 1
    try:
        for row in reader:
            if row:
                yield line, row
            line = reader.line_num + 1
    except csv.Error as error:
        raise FormatError(f"{name}:{line}: {error}") from error
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: after line {line - 1}: {error}; give its encoding=") from error


def _places(name: str, heading: Sequence[str], wanted: Sequence[str]) -> list[int]:
    if not heading:
        raise FormatError(f"{name} is empty; its first line must name the columns")
    twice = next((column for column in heading if heading.count(column) > 1), None)
    if twice is not None:
        raise FormatError(f"{name}:1: two columns are called {twice!r:.80}")
    absent = next((column for column in wanted if column not in heading), None)
    if absent is not None:
        there = ", ".join(heading)
        raise FormatError(f"{name}:1: no column {absent!r:.80}; there are {there:.200}")
    return [heading.index(column) for column in wanted]


def _kind_of(fields: Sequence[str]) -> str:
    if fields and all(_is_whole(field) for field in fields):
        return "i64"
    return "f32" if fields and all(_NUMBER.fullmatch(field.strip()) for field in fields) else "text"


def _is_whole(field: str) -> bool:
    plain = field.strip()
    return _WHOLE.fullmatch(plain) is not None and -(2**63) <= int(plain) < 2**63


def _array(
    name: str,
    column: str,
    kind: str,
    missing: float | None,
    lines: Sequence[int],
    fields: Sequence[str],
) -> Array:
    if kind == "text":
        return np.array(fields, dtype=np.str_)
    values: list[Any] = []
    for line, field in zip(lines, fields, strict=True):
        value = _value(kind, field.strip())
        if value is None and not field.strip() and missing is not None:
            value = missing
        if value is None:
            how = "give missing={...}" if not field.strip() else 'or read it as "text"'
            what = f"column {column!r} has {field!r:.60}; expected {_WANTED.get(kind, '0 or 1')}"
            raise FormatError(f"{name}:{line}: {what}, {how}")
        values.append(value)
    return np.array(values, _DTYPES.get(kind, np.bool_))


def _value(kind: str, field: str) -> Any:
    if kind == "i64":
        return int(field) if _is_whole(field) else None
    if kind == "bool":
        return _BOOLS.get(field.lower())
    if not _NUMBER.fullmatch(field):
        return None
    value, is_word = float(field), "n" in field.lower()  # inf, nan
    return value if is_word or abs(value) <= float(np.finfo(_DTYPES[kind]).max) else None
