"""Matrices by their diagonals: made of one, its elements, replaced, bands, the trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.shape import Dims, merged, shown


def _on_diagonal(rows: int, columns: int, k: int) -> Value:
    return ops.constant(np.eye(rows, columns, k, dtype=bool))


def _padded(x: Value, before: int, after: int) -> Value:
    pads = [(0, 0)] * (len(x.type.dims) - 1)
    return ops.pad(x, [*pads, (before, after)]) if before or after else x


def _matrix_diag(x: Value, k: int) -> Value:
    n = x.type.dims[-1] + abs(k)
    rows = _padded(x, max(-k, 0), max(k, 0))
    return ops.select(_on_diagonal(n, n, k), ops.expand_dims(rows, -1), ops.fill(0, x.type.dtype))


def _matrix_diag_shape(inputs: Sequence[Tensor], *, k: int) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    if not dims:
        raise ValueError("Shape must be at least rank 1 but is rank 0 for 'MatrixDiag'")
    n = None if dims[-1] is None else dims[-1] + abs(k)
    return (*dims[:-1], n, n)


MATRIX_DIAG = Kind("MatrixDiag", _matrix_diag, shape=_matrix_diag_shape)


@symbol("linalg.diag", "matrix_diag")
def matrix_diag(
    diagonal: TensorLike, name: str = "diag", k: Any = 0, padding_value: Any = 0, **_: Any
) -> Tensor:
    """Matrices with these rows on the diagonal, or `k` above it: [..., n] -> [..., n, n]."""
    if padding_value not in (0, 0.0):
        raise NotImplementedError("linalg.diag with padding_value: use tf.where on the result")
    return MATRIX_DIAG(convert_to_tensor(diagonal), name=name, k=number(k, "diag: k"))


def _length(rows: Optional[int], columns: Optional[int], k: int) -> Optional[int]:
    if rows is None or columns is None:
        return None
    found = min(rows + min(k, 0), columns - max(k, 0))
    if found <= 0 and (rows and columns):
        raise ValueError(f"There is no diagonal {k} in a matrix of {rows} rows, {columns} columns")
    return max(found, 0)


def _matrix_diag_part(x: Value, k: int) -> Value:
    *batch, rows, columns = x.type.dims
    n = _length(rows, columns, k) or 0
    places = np.arange(n) * (columns + 1) + (k if k > 0 else -k * columns)
    flat = ops.reshape(x, [*batch, rows * columns])
    return ops.gather(flat, ops.constant(places), len(batch))


def _matrix_diag_part_shape(inputs: Sequence[Tensor], *, k: int) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    if len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}")
    return (*dims[:-2], _length(dims[-2], dims[-1], k))


MATRIX_DIAG_PART = Kind("MatrixDiagPart", _matrix_diag_part, shape=_matrix_diag_part_shape)


@symbol("linalg.diag_part", "matrix_diag_part")
def matrix_diag_part(
    input: TensorLike, name: str = "diag_part", k: Any = 0, padding_value: Any = 0
) -> Tensor:
    """The diagonals of matrices, or what is `k` above them: [..., m, n] -> [..., min(m, n)]."""
    return MATRIX_DIAG_PART(convert_to_tensor(input), name=name, k=number(k, "diag_part: k"))


def _set_diag(x: Value, diagonal: Value, k: int) -> Value:
    rows, columns = x.type.dims[-2:]
    before = max(-k, 0)
    spread = _padded(diagonal, before, rows - before - diagonal.type.dims[-1])
    return ops.select(_on_diagonal(rows, columns, k), ops.expand_dims(spread, -1), x)


def _set_diag_shape(inputs: Sequence[Tensor], *, k: int) -> Dims:
    dims, diagonal = [t.dims for t in inputs]
    return dims if diagonal is None else merged(dims, (*diagonal[:-1], None, None))


MATRIX_SET_DIAG = Kind("MatrixSetDiag", _set_diag, shape=_set_diag_shape)


@symbol("linalg.set_diag", "matrix_set_diag")
def matrix_set_diag(
    input: TensorLike, diagonal: TensorLike, name: str = "set_diag", k: Any = 0
) -> Tensor:
    """Matrices with other diagonals."""
    x = convert_to_tensor(input)
    rows = convert_to_tensor(diagonal, x.dtype.base_dtype)
    return MATRIX_SET_DIAG(x, rows, name=name, k=number(k, "set_diag: k"))


def _band(x: Value, lower: Any, upper: Any) -> Value:
    rows, columns = x.type.dims[-2:]
    below = np.arange(rows)[:, None] - np.arange(columns)
    kept = ((int(lower) < 0) | (below <= int(lower))) & ((int(upper) < 0) | (-below <= int(upper)))
    return ops.select(ops.constant(kept), x, ops.fill(0, x.type.dtype))


def _at_least_matrices(inputs: Sequence[Tensor], **_: Any) -> Dims:
    dims = inputs[0].dims
    if dims is not None and len(dims) < 2:
        raise ValueError(f"Shape must be at least rank 2 but is rank {len(dims)}: {shown(dims)}")
    return dims


BAND = Kind("MatrixBandPart", _band, values=(1, 2), shape=_at_least_matrices)


@symbol("linalg.band_part", "matrix_band_part")
def band_part(
    input: TensorLike, num_lower: TensorLike, num_upper: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Matrices with zeros but for so many diagonals below and above; negative: all of them."""
    x = convert_to_tensor(input)
    return BAND(x, convert_to_tensor(num_lower), convert_to_tensor(num_upper), name=name)


def _tensor_diag(x: Value) -> Value:
    dims = x.type.dims
    return ops.reshape(_matrix_diag(ops.reshape(x, [-1]), 0), [*dims, *dims])


TENSOR_DIAG = Kind(
    "Diag",
    _tensor_diag,
    shape=lambda inputs: None if inputs[0].dims is None else (*inputs[0].dims, *inputs[0].dims),
)


@symbol("diag", "linalg.tensor_diag")
def diag(diagonal: TensorLike, name: Optional[str] = None) -> Tensor:
    """A tensor of twice the axes with these elements where both halves of an index are equal."""
    return TENSOR_DIAG(convert_to_tensor(diagonal), name=name)


def _tensor_diag_part(x: Value) -> Value:
    half = x.type.dims[: len(x.type.dims) // 2]
    n = int(np.prod(half))
    return ops.reshape(_matrix_diag_part(ops.reshape(x, [n, n]), 0), half)


def _halves(inputs: Sequence[Tensor]) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    if len(dims) % 2 or not dims:
        raise ValueError(f"Input must have even and non-zero rank, and has {shown(dims)}")
    return merged(dims[: len(dims) // 2], dims[len(dims) // 2 :])


TENSOR_DIAG_PART = Kind("DiagPart", _tensor_diag_part, shape=_halves)


@symbol("diag_part", "linalg.tensor_diag_part")
def diag_part(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The elements where both halves of an index are equal.

    Raises:
        ValueError: the halves of its shape differ.
    """
    return TENSOR_DIAG_PART(convert_to_tensor(input), name=name)


@symbol("trace", "linalg.trace")
def trace(x: TensorLike, name: Optional[str] = None) -> Tensor:
    """The sums of the diagonals of matrices."""
    with name_scope(name, "Trace") as scope:
        return reduce_sum(matrix_diag_part(x), [-1], name=scope)
