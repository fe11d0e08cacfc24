"""Reads serialized Examples: where each feature is in the bytes, and the values of those wanted.

The messages are those of `files/messages/example.py`.  Here no object is made of them, so that a
feature costs some microseconds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_tf_files.wire import (
    FIXED32,
    LENGTH,
    VARINT,
    read_length,
    read_tag,
    read_varint,
    read_varints,
    skip,
)

Span = tuple[int, int]  # half-open
Features = dict[str, Span]  # name -> where its `Feature` is


def spans(data: bytes, span: Span, number: int) -> list[Span]:
    """The ranges of bytes of a message in which the fields of this number, with a length, are.

    Raises:
        DecodeError: it is damaged.
    """
    at, end = span
    found = []
    while at < end:
        field, wire, at = read_tag(data, at, end)
        if field == number and wire == LENGTH:
            begin, at = read_length(data, at, end)
            found.append((begin, at))
        else:
            at = skip(data, at, end, wire)
    return found


def entries(data: bytes, span: Span) -> Features:
    """The entries of a map with texts as keys, as `Features` and `FeatureLists` have it.

    Raises:
        DecodeError: it is damaged.
    """
    found: Features = {}
    for begin, end in spans(data, span, 1):
        key, value = "", (end, end)
        at = begin
        while at < end:
            field, wire, at = read_tag(data, at, end)
            if field in (1, 2) and wire == LENGTH:
                first, at = read_length(data, at, end)
                if field == 1:
                    key = data[first:at].decode(errors="replace")
                else:
                    value = (first, at)
            else:
                at = skip(data, at, end, wire)
        found[key] = value
    return found


def in_example(data: bytes, number: int = 1) -> Features:
    """The features of an Example, or the context (1) or lists (2) of a SequenceExample.

    Raises:
        DecodeError: it is damaged.
    """
    found: Features = {}
    for span in spans(data, (0, len(data)), number):
        found.update(entries(data, span))
    return found


def values_of(data: bytes, span: Span) -> tuple[int, Any]:
    """The kind of a feature (1 bytes, 2 float32, 3 int64, 0 none), and its values.

    Raises:
        DecodeError: it is damaged.
    """
    at, end = span
    kind, values = 0, np.empty(0, np.int64)
    while at < end:
        field, wire, at = read_tag(data, at, end)
        if field in _READ and wire == LENGTH:
            begin, at = read_length(data, at, end)
            more = _READ[field](data, begin, at)
            values = np.concatenate([values, more]) if field == kind else more
            kind = field
        else:
            at = skip(data, at, end, wire)
    return kind, values


def _texts(data: bytes, at: int, end: int) -> Any:
    found = [data[a:b] for a, b in spans(data, (at, end), 1)]
    made = np.empty(len(found), object)
    made[:] = found
    return made


def _floats(data: bytes, at: int, end: int) -> Any:
    parts = []
    while at < end:
        field, wire, at = read_tag(data, at, end)
        if field == 1 and wire == LENGTH:
            begin, at = read_length(data, at, end)
            parts.append(data[begin : begin + (at - begin) // 4 * 4])
        elif field == 1 and wire == FIXED32:
            begin, at = at, skip(data, at, end, wire)
            parts.append(data[begin:at])
        else:
            at = skip(data, at, end, wire)
    return np.frombuffer(bytearray(b"".join(parts)), "<f4").astype(np.float32, copy=False)


def _integers(data: bytes, at: int, end: int) -> Any:
    numbers: list[int] = []
    while at < end:
        field, wire, at = read_tag(data, at, end)
        if field == 1 and wire == LENGTH:
            begin, at = read_length(data, at, end)
            numbers += read_varints(data, begin, at)
        elif field == 1 and wire == VARINT:
            number, at = read_varint(data, at, end)
            numbers.append(number)
        else:
            at = skip(data, at, end, wire)
    return np.array(numbers, np.uint64).view(np.int64)


_READ = {1: _texts, 2: _floats, 3: _integers}
