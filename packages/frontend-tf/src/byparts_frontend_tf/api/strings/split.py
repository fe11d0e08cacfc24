"""Strings cut into parts, and tensors written as text: `string_split`, `strings.format`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.arguments import renamed
from byparts_frontend_tf.api.strings.strings import of_each, strings
from byparts_frontend_tf.graph.composites import SparseTensor
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import scalar
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import int64, string


def _at_characters(s: bytes, splitters: bytes, skip_empty: bool) -> list[bytes]:
    if not splitters:
        return [s[i : i + 1] for i in range(len(s))]
    for c in splitters[1:]:
        s = s.replace(bytes([c]), splitters[:1])
    parts = s.split(splitters[:1])
    return [p for p in parts if p] if skip_empty else parts


def _at_text(s: bytes, separator: bytes, most: int) -> list[bytes]:
    return s.split(separator or None, most) if separator or s else []


def _sparse(rows: Sequence[Sequence[bytes]]) -> tuple[Any, Any, Any]:
    """The parts of each string: indices, values, shape."""
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    values = np.empty(len(places), object)
    values[:] = [part for row in rows for part in row]
    longest = max([len(row) for row in rows], default=0)
    return (
        np.array(places, np.int64).reshape(-1, 2),
        values,
        np.array([len(rows), longest], np.int64),
    )


def _split(array: Any, splitters: Any, skip_empty: bool) -> tuple[Any, Any, Any]:
    given = bytes(np.asarray(splitters, object)[()])
    return _sparse([_at_characters(s, given, skip_empty) for s in np.asarray(array, object)])


def _split_at(array: Any, separator: Any, most: int) -> tuple[Any, Any, Any]:
    given = bytes(np.asarray(separator, object)[()])
    return _sparse([_at_text(s, given, most) for s in np.asarray(array, object)])


def _parts_kind(type: str, host: Any) -> Kind:
    return Kind(
        type,
        host=host,
        shape=lambda inputs, **_: [(None, 2), (None,), (2,)],
        dtype=[int64, string, int64],
        gradient=False,
    )


_SPLIT = _parts_kind("StringSplit", _split)
_SPLIT_AT = _parts_kind("StringSplitV2", _split_at)


def _row_of_strings(given: TensorLike) -> Tensor:
    x = strings(given, "source")
    if x.dims is not None and len(x.dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(x.dims)} for 'StringSplit'")
    return x


@symbol("string_split")
def string_split(
    source: TensorLike, sep: Any = None, skip_empty: bool = True, delimiter: Any = None
) -> SparseTensor:
    """The parts of strings [n], between characters of `delimiter`, as a SparseTensor [n, most].

    Args:
        source: strings.
        sep: `delimiter`.
        skip_empty: whether empty parts are left out.
        delimiter: characters at which to cut, by default a space; "": after each byte.
    """
    given = renamed(delimiter, sep, "delimiter", "sep")
    at = strings(" " if given is None else given, "delimiter")
    return SparseTensor(*_SPLIT.outputs(_row_of_strings(source), at, skip_empty=bool(skip_empty)))


@symbol("strings.split")
def split(
    input: Any = None,
    sep: Any = None,
    maxsplit: int = -1,
    result_type: str = "SparseTensor",
    source: Any = None,
    name: Optional[str] = None,
) -> SparseTensor:
    """Split strings [n] as Python's `str.split`: their parts, as a SparseTensor [n, most].

    Raises:
        NotImplementedError: ragged tensors are asked for.
    """
    if result_type.lower() != "sparsetensor":
        raise NotImplementedError("strings.split gives a SparseTensor: there are no ragged tensors")
    x = _row_of_strings(source if input is None else input)
    at = strings("" if sep is None else sep, "sep")
    return SparseTensor(*_SPLIT_AT.outputs(x, at, name=name, most=int(maxsplit)))


def summarized(array: Any, most: int) -> str:
    """The first and the last `most` elements of each axis: `[1 2 ... 8 9]`."""
    array = np.asarray(array)
    return _nested(array, most, 0)


def _nested(array: Any, most: int, depth: int) -> str:
    if array.ndim == 0:
        value = array[()]
        if isinstance(value, bytes):
            return f'"{value.decode(errors="replace")}"'
        if isinstance(value, np.floating):
            return f"{value:.6g}" if value.dtype != np.float64 else f"{value:.16g}"
        return str(int(value)) if isinstance(value, np.bool_) else str(value)
    short = most < 0 or len(array) <= 2 * most
    rows = list(array) if short else [*array[:most], *array[len(array) - most :]]
    parts = [_nested(np.asarray(row), most, depth + 1) for row in rows]
    if not short:
        parts.insert(most, "...")
    between = " " if array.ndim == 1 else "\n" * (array.ndim - 1) + " " * (depth + 1)
    return f"[{between.join(parts)}]"


def _formatted(*arrays: Any, template: str, placeholder: str, summarize: int) -> Any:
    first, *rest = template.split(placeholder)
    text = first + "".join(
        [summarized(a, summarize) + part for a, part in zip(arrays, rest, strict=True)]
    )
    return of_each(np.array(None), lambda _: text.encode())


_FORMAT = Kind("StringFormat", host=_formatted, shape=scalar, dtype=string, gradient=False)


@symbol("strings.format")
def string_format(
    template: str,
    inputs: Any,
    placeholder: str = "{}",
    summarize: int = 3,
    name: Optional[str] = None,
) -> Tensor:
    """The template with each placeholder replaced by a tensor as text.

    Raises:
        ValueError: there are more or fewer placeholders than tensors.
    """
    many = inputs if isinstance(inputs, (list, tuple)) else [inputs]
    tensors = [convert_to_tensor(t) for t in many]
    if template.count(placeholder) != len(tensors):
        raise ValueError(
            f"{template.count(placeholder)} placeholder(s) in template does not match "
            f"{len(tensors)} tensor(s) provided as input"
        )
    return _FORMAT(
        *tensors, name=name, template=template, placeholder=placeholder, summarize=summarize
    )
