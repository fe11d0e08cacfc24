"""Parts of a tensor in a checkpoint: where each belongs, and under which key it stands.

Source: TensorFlow's `tensor_slice.proto` and `core/lib/strings/ordered_code.h`, which says how keys
are written so that their order as bytes is that of what they say.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from byparts_graph_ir import FormatError
from byparts_tf_files.messages.tensor import TensorSliceProto

Array = NDArray[Any]

_LENGTHS = (6, 13, 20, 27, 34, 41, 48, 55, 62)  # bits of a signed number in 1, 2, ... bytes


def key_of(name: str, part: TensorSliceProto) -> bytes:
    """The key of a part of a tensor."""
    text = name.encode().replace(b"\0", b"\0\xff")  # UTF-8 has no byte 0xff, which is escaped, too
    made = b"\0" + text + b"\0\1" + _number(len(part.extent))
    for extent in part.extent:
        length = extent.length if extent.has("length") else -1
        made += _signed(extent.start) + _signed(length)
    return made


def _number(value: int) -> bytes:
    size = (value.bit_length() + 7) // 8
    return bytes((size,)) + value.to_bytes(size, "big")


def _signed(value: int) -> bytes:
    bits = (~value if value < 0 else value).bit_length()
    size = next((i + 1 for i, most in enumerate(_LENGTHS) if bits <= most), 10)
    header = ((1 << size) - 1) << (8 * size - size)  # as many ones as bytes, at the front
    return ((value & (1 << 8 * size) - 1) ^ header).to_bytes(size, "big")


def extents(part: TensorSliceProto, dims: tuple[int, ...]) -> tuple[slice, ...]:
    """Place of a part in a tensor of these sizes, a slice per axis.

    Raises:
        FormatError: it is no part of such a tensor.
    """
    place = []
    for extent, size in zip(part.extent, dims, strict=False):
        start = extent.start
        length = extent.length if extent.has("length") else size - start
        if not 0 <= start <= start + length <= size:
            raise FormatError(f"[{start}, {start + length}) of an axis of {size}")
        place.append(slice(start, start + length))
    if len(part.extent) != len(dims):
        raise FormatError(f"a part with {len(part.extent)} axes of a tensor with {len(dims)}")
    return tuple(place)


def sizes(part: tuple[slice, ...]) -> tuple[int, ...]:
    """The sizes of a part."""
    return tuple([s.stop - s.start for s in part])


def check_parts(places: list[tuple[slice, ...]], dims: tuple[int, ...]) -> None:
    """Raise FormatError unless these are different parts with as many elements as the tensor.

    Then no more memory is taken for the tensor than its parts have bytes.
    """
    different = {tuple([(s.start, s.stop) for s in place]) for place in places}
    if len(different) != len(places) or sum(prod(sizes(p)) for p in places) != prod(dims):
        raise FormatError(f"parts that do not fill {list(dims)}")


def joined(
    parts: Iterable[tuple[tuple[slice, ...], Array]], dims: tuple[int, ...], kind: Any
) -> Array:
    """The tensor that has these parts, each with where it lies.

    Raises:
        FormatError: an element is in no part.
    """
    whole, missing = np.empty(dims, kind), np.ones(dims, bool)
    for where, array in parts:
        whole[where] = array
        missing[where] = False
    if missing.any():
        raise FormatError(f"{int(missing.sum())} elements are in no part")
    return whole
