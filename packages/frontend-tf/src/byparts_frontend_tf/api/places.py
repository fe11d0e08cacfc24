"""Elements at places that several indices name: gather_nd, scatter_nd; running sums; norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.arguments import number, numbers, renamed
from byparts_frontend_tf.api.casting import cast
from byparts_frontend_tf.api.reductions import reduce_max, reduce_sum
from byparts_frontend_tf.api.sequences import range as range_of
from byparts_frontend_tf.api.shaping import expand_dims, squeeze, transpose
from byparts_frontend_tf.api.stacking import concat
from byparts_frontend_tf.api.unary import absolute, sqrt, square
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.infer import axis_of, like_first
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_opset.index import check_range
from byparts_tf_files.dtypes import as_dtype, bool_, int32
from byparts_tf_files.shape import Dims


def flat_index(indices: Value, dims: Sequence[int], name: str) -> Value:
    """One index for each of the places [..., depth] in an array of these dimensions.

    Each index is checked for its own axis when it runs: one too great would be in the next row.
    """
    depth = indices.type.dims[-1] if indices.type.dims else 0
    if depth > len(dims):
        raise ValueError(f"index innermost dimension length must be <= params rank; saw: {depth}")
    flat = ops.sum(indices, [-1]) if depth == 0 else ops.getitem(indices, (..., 0))
    for axis in range(depth):
        index = ops.in_range(ops.getitem(indices, (..., axis)), dims[axis], name, axis)
        flat = flat * dims[axis] + index if axis else index
    return flat


def _gather_nd(x: Value, indices: Value) -> Value:
    depth = indices.type.dims[-1]
    rest = x.type.dims[depth:]
    count = int(np.prod(x.type.dims[:depth]))
    flat = ops.reshape(x, [count, *rest])
    return ops.gather(flat, flat_index(indices, x.type.dims, "gather_nd"))


def _gathered(inputs: Sequence[Tensor]) -> Dims:
    dims, at = inputs[0].dims, inputs[1].dims
    if dims is None or at is None or at[-1] is None:
        return None
    if at[-1] > len(dims):
        raise ValueError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {at} and params "
            f"shape: {dims}"
        )
    return (*at[:-1], *dims[at[-1] :])


def _gather_nd_on_host(x: Any, indices: Any) -> Any:
    places = np.moveaxis(np.asarray(indices), -1, 0)
    for axis, index in enumerate(places):
        check_range("gather_nd", index, x.shape[axis], axis)
    return x[tuple(places)]


GATHER_ND = Kind(
    "GatherNd",
    _gather_nd,
    host=_gather_nd_on_host,
    shape=_gathered,
)


@symbol("gather_nd", "manip.gather_nd")
def gather_nd(
    params: TensorLike, indices: TensorLike, name: Optional[str] = None, batch_dims: int = 0
) -> Tensor:
    """The slices of `params` at places [..., depth]: the first `depth` axes are indexed."""
    x, at = convert_to_tensor(params), convert_to_tensor(indices, name="indices")
    if batch_dims:
        at = _with_batches(at, batch_dims)
    return GATHER_ND(x, at, name=name)


def _with_batches(indices: Tensor, count: int) -> Tensor:
    """The indices [..., depth] with those of their batches before: [..., count + depth].

    Raises:
        ValueError: the shape is not known.
    """
    dims: Any = indices.dims
    if dims is None or None in dims or not 0 < count < len(dims):
        raise ValueError(f"gather_nd: batch_dims {count} for indices of shape {indices.shape}")
    grid = np.indices(dims[:count]).astype(indices.dtype.as_numpy_dtype)
    batches = np.moveaxis(grid, 0, -1).reshape(*dims[:count], *[1] * (len(dims) - 1 - count), count)
    return concat([np.broadcast_to(batches, (*dims[:-1], count)).copy(), indices], -1)


def _scatter_nd(indices: Value, updates: Value, shape: Any) -> Value:
    dims = [int(d) for d in np.asarray(shape).reshape(-1)]
    depth = indices.type.dims[-1]
    count, rest = int(np.prod(dims[:depth])), dims[depth:]
    at = ops.reshape(flat_index(indices, dims, "scatter_nd"), [-1])
    rows = ops.reshape(updates, [at.type.size, *rest])
    like = ops.fill(0, updates.type.dtype, [count, *rest])
    return ops.reshape(ops.scatter_add(at, rows, like), dims)


SCATTER_ND = Kind(
    "ScatterNd",
    _scatter_nd,
    values=(2,),
    shape=lambda inputs: static_dims(inputs[2]),
    dtype=lambda inputs: inputs[1].dtype.base_dtype,
)


@symbol("scatter_nd", "manip.scatter_nd")
def scatter_nd(
    indices: TensorLike, updates: TensorLike, shape: TensorLike, name: Optional[str] = None
) -> Tensor:
    """Zeros of a shape, plus each update at its place; updates at one place add up."""
    given = (
        convert_to_tensor(indices),
        convert_to_tensor(updates),
        convert_to_tensor(shape, int32),
    )
    return SCATTER_ND(*given, name=name)


def _running(type: str, meaning: Any) -> Kind:
    return Kind(type, meaning, shape=like_first)


def _products(x: Value, axis: int, exclusive: bool, reverse: bool) -> Value:
    """Running products, one slice after the other."""
    count = x.type.dims[axis]
    slices = [ops.expand_dims(s, axis) for s in ops.unstack(x, axis)]
    order = slices[::-1] if reverse else slices
    made: list[Value] = []
    product = ops.ones_like(order[0]) if order else x
    for part in order:
        before, product = product, product * part
        made.append(before if exclusive else product)
    return ops.concat(made[::-1] if reverse else made, axis) if count else x


CUMSUM = _running(
    "Cumsum",
    lambda x, axis, exclusive, reverse: ops.cumsum(
        x, axis_of(axis, len(x.type.dims)), exclusive, reverse
    ),
)
CUMPROD = _running(
    "Cumprod",
    lambda x, axis, exclusive, reverse: _products(
        x, axis_of(axis, len(x.type.dims)), exclusive, reverse
    ),
)


@symbol("cumsum", "math.cumsum")
def cumsum(
    x: TensorLike,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Sums of what comes before along an axis, with the element itself unless `exclusive`."""
    at = number(axis, "cumsum: the axis")
    return CUMSUM(convert_to_tensor(x), name=name, axis=at, exclusive=exclusive, reverse=reverse)


@symbol("cumprod", "math.cumprod")
def cumprod(
    x: TensorLike,
    axis: Any = 0,
    exclusive: bool = False,
    reverse: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """Products of what comes before along an axis, with the element itself unless `exclusive`."""
    at = number(axis, "cumprod: the axis")
    return CUMPROD(convert_to_tensor(x), name=name, axis=at, exclusive=exclusive, reverse=reverse)


@symbol("sequence_mask")
def sequence_mask(
    lengths: TensorLike, maxlen: Any = None, dtype: Any = bool_, name: Optional[str] = None
) -> Tensor:
    """True for the first n places of a row, for each n of `lengths`: [..., maxlen]."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        counts = convert_to_tensor(lengths)
        most: Any = reduce_max(counts) if maxlen is None else convert_to_tensor(maxlen)
        if most.get_shape().ndims not in (None, 0):
            raise ValueError("maxlen must be scalar for sequence_mask")
        kind = counts.dtype.base_dtype
        known = static_value(most)
        row = range_of(int(known) if known is not None else cast(most, int32))
        if kind.is_floating:  # TensorFlow casts the lengths to the dtype of `maxlen`
            counts, kind = cast(counts, int32), int32
        mask: Tensor = cast(row, kind) < expand_dims(counts, -1)
        wanted = as_dtype(dtype)
        return mask if wanted is bool_ else cast(mask, wanted)


@symbol("norm", "linalg.norm")
def norm(
    tensor: TensorLike,
    ord: Any = "euclidean",
    axis: Any = None,
    keepdims: Optional[bool] = None,
    name: Optional[str] = None,
    keep_dims: Optional[bool] = None,
) -> Tensor:
    """The length of vectors along an axis, or of all elements.

    Raises:
        ValueError: `ord` is none of euclidean, 1, 2, inf, a positive number; of matrices (two axes)
            none of euclidean, fro, 1, 2, inf.
    """
    kept = bool(renamed(keepdims, keep_dims, "keepdims", "keep_dims"))
    x = convert_to_tensor(tensor)
    axes = None if axis is None else numbers(axis, "norm: the axes")
    of_matrices = axes is not None and isinstance(axis, (list, tuple)) and len(axes) == 2
    _check_norm(ord, axes, of_matrices)
    with name_scope(name, "norm", [x]):
        if of_matrices and ord in (1, 2, np.inf):
            return _norm_of_matrices(x, ord, axes, kept)
        if ord in ("fro", "euclidean", 2):
            return sqrt(reduce_sum(square(x), axes, kept))
        if ord == 1:
            return reduce_sum(absolute(x), axes, kept)
        if ord == np.inf:
            return reduce_max(absolute(x), axes, kept)
        total: Any = reduce_sum(absolute(x) ** float(ord), axes, kept)
        return total ** (1.0 / ord)  # type: ignore[no-any-return]  # a tensor


def _check_norm(ord: Any, axes: Any, of_matrices: bool) -> None:
    if of_matrices:
        if ord not in ("euclidean", "fro", 1, 2, np.inf):
            raise ValueError(f"'ord' must be a supported matrix norm, got {ord}")
    elif axes is not None and len(axes) != 1:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2: {axes}")
    elif ord != "euclidean" and (isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")


def _norm_of_matrices(x: Tensor, ord: Any, axes: Any, kept: bool) -> Tensor:
    """The largest sum of a column (1) or row (inf) of absolute numbers, or singular value (2)."""
    first, last = axes
    if ord == 2:
        rank = len(x.dims or ())
        pair = [a % rank for a in axes]
        order = [*[a for a in range(rank) if a not in pair], *pair]
        from byparts_frontend_tf.api.linalg.factorizations import svd  # few norms need it

        values = svd(transpose(x, order), compute_uv=False)
        most: Tensor = reduce_max(values, [-1])
        for a in sorted(pair) if kept else ():
            most = expand_dims(most, a)
        return most
    sums = reduce_sum(absolute(x), [first if ord == 1 else last], True)
    most = reduce_max(sums, [last if ord == 1 else first], True)
    return most if kept else squeeze(most, list(axes))
