"""Sums, means, extremes and their places, sorting, along axes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import axes_of, axis_of, rank_of, size_at
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import FLOATS, Value

Dims = Sequence[int]


@rules.on("aten.sum.dim_IntList")
def sum(
    x: Value, dim: Dims | None = None, keepdim: bool = False, dtype: str | None = None
) -> Value:
    return ops.sum(_summed(x, dtype), axes_of(x, dim), keepdim)


@rules.on("aten.sum.default")
def sum_all(x: Value, dtype: str | None = None) -> Value:
    return ops.sum(_summed(x, dtype))


@rules.on("aten.mean.dim")
def mean(
    x: Value, dim: Dims | None = None, keepdim: bool = False, dtype: str | None = None
) -> Value:
    return ops.mean(x if dtype is None else ops.cast(x, dtype), axes_of(x, dim), keepdim)


@rules.on("aten.mean.default")
def mean_all(x: Value, dtype: str | None = None) -> Value:
    return ops.mean(x if dtype is None else ops.cast(x, dtype))


@rules.on("aten.prod.default")
def prod_all(x: Value, dtype: str | None = None) -> Value:
    return ops.prod(_summed(x, dtype))


@rules.on("aten.prod.dim_int")
def prod(x: Value, dim: int, keepdim: bool = False, dtype: str | None = None) -> Value:
    return ops.prod(_summed(x, dtype), axes_of(x, dim), keepdim)


@rules.on("aten.amax.default")
def amax(x: Value, dim: Dims = (), keepdim: bool = False) -> Value:
    return ops.max(x, axes_of(x, dim), keepdim)


@rules.on("aten.amin.default")
def amin(x: Value, dim: Dims = (), keepdim: bool = False) -> Value:
    return ops.min(x, axes_of(x, dim), keepdim)


@rules.on("aten.max.default")
def max_all(x: Value) -> Value:
    return ops.max(x)


@rules.on("aten.min.default")
def min_all(x: Value) -> Value:
    return ops.min(x)


@rules.on("aten.max.dim")
def max(x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return ops.max(x, axes_of(x, dim), keepdim, first=True), argmax(x, dim, keepdim)


@rules.on("aten.min.dim")
def min(x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return ops.min(x, axes_of(x, dim), keepdim, first=True), argmin(x, dim, keepdim)


@rules.on("aten.argmax.default")
def argmax(x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return ops.argmax(x, None if dim is None or not rank_of(x) else axis_of(x, dim), keepdim)


@rules.on("aten.argmin.default")
def argmin(x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
    return ops.argmin(x, None if dim is None or not rank_of(x) else axis_of(x, dim), keepdim)


@rules.on("aten.any.default")
def any_all(x: Value) -> Value:
    return ops.any(ops.cast(x, "bool"))


@rules.on("aten.any.dim", "aten.any.dims")
def any(x: Value, dim: int | Dims | None = None, keepdim: bool = False) -> Value:
    return ops.any(ops.cast(x, "bool"), axes_of(x, dim), keepdim)


@rules.on("aten.all.default")
def all_of_all(x: Value) -> Value:
    return ops.all(ops.cast(x, "bool"))


@rules.on("aten.all.dim", "aten.all.dims")
def all(x: Value, dim: int | Dims | None = None, keepdim: bool = False) -> Value:
    return ops.all(ops.cast(x, "bool"), axes_of(x, dim), keepdim)


@rules.on("aten.logsumexp.default")
def logsumexp(x: Value, dim: Dims, keepdim: bool = False) -> Value:
    return ops.logsumexp(x, axes_of(x, dim), keepdim)


@rules.on("aten.var.correction")
def var(
    x: Value, dim: Dims | None = None, correction: float | None = None, keepdim: bool = False
) -> Value:
    """The sum of squared distances from the mean, by n - correction (1 where it is not said)."""
    return ops.var(x, axes_of(x, dim), 1 if correction is None else correction, keepdim)


@rules.on("aten.std.correction")
def std(
    x: Value, dim: Dims | None = None, correction: float | None = None, keepdim: bool = False
) -> Value:
    return ops.std(x, axes_of(x, dim), 1 if correction is None else correction, keepdim)


@rules.on("aten.std.dim")
def std_unbiased(x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Value:
    return std(x, dim, float(unbiased), keepdim)  # type: ignore[no-any-return]


@rules.on("aten.std_mean.correction")
def std_mean(
    x: Value, dim: Dims | None = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    return std(x, dim, correction, keepdim), ops.mean(x, axes_of(x, dim), keepdim)


@rules.on("aten.var.dim")
def var_unbiased(x: Value, dim: Dims, unbiased: bool = True, keepdim: bool = False) -> Value:
    return var(x, dim, float(unbiased), keepdim)  # type: ignore[no-any-return]


@rules.on("aten.var_mean.correction")
def var_mean(
    x: Value, dim: Dims | None = None, correction: float | None = None, keepdim: bool = False
) -> tuple[Value, Value]:
    return var(x, dim, correction, keepdim), ops.mean(x, axes_of(x, dim), keepdim)


@rules.on("aten.linalg_vector_norm.default")
def vector_norm(
    x: Value,
    ord: float = 2,
    dim: Dims | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Value:
    return ops.norm(x if dtype is None else ops.cast(x, dtype), ord, axes_of(x, dim), keepdim)


@rules.on("aten.dist.default")
def dist(x: Value, y: Value, p: float = 2) -> Value:
    return vector_norm(x - y, p)  # type: ignore[no-any-return]


@rules.on("aten._cdist_forward.default")
def cdist(x: Value, y: Value, p: float, compute_mode: int | None = None) -> Value:
    """Distances of each row of x from each row of y."""
    differences = ops.expand_dims(x, -2) - ops.expand_dims(y, -3)
    return vector_norm(differences, p, (-1,))  # type: ignore[no-any-return]


@rules.on("aten._pdist_forward.default")
def pdist(x: Value, p: float = 2) -> Value:
    """Distances of each row from each that stands behind it."""
    first, second = np.triu_indices(size_at(x, 0), 1)
    rows = [ops.gather(x, ops.constant(at, "i64"), 0) for at in (first, second)]
    return vector_norm(rows[0] - rows[1], p, (-1,))  # type: ignore[no-any-return]


@rules.on("aten.cumsum.default")
def cumsum(x: Value, dim: int, dtype: str | None = None) -> Value:
    return ops.cumsum(_summed(x, dtype), axis_of(x, dim)) if rank_of(x) else _summed(x, dtype)


@rules.on("aten.topk.default")
def topk(
    x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    axis = axis_of(x, dim)
    if not isinstance(k, int) or (not rank_of(x) and k != 1):
        raise UnsupportedOp(f"the {k} greatest of {x.type}")
    if not rank_of(x):
        return x, ops.zeros((), "i64")
    order = [*(a for a in range(rank_of(x)) if a != axis), axis]
    back = tuple(order.index(a) for a in range(rank_of(x)))
    rows = ops.transpose(x, order)
    values, indices = ops.top_k(rows, k) if largest else _least(rows, k)
    return ops.transpose(values, back), ops.transpose(indices, back)


@rules.on("aten.sort.default")
def sort(x: Value, dim: int = -1, descending: bool = False) -> tuple[Value, Value]:
    size = size_at(x, axis_of(x, dim)) if rank_of(x) else 1
    return topk(x, size, dim, descending)  # type: ignore[no-any-return]


@rules.on("aten.sort.stable")
def sort_stable(
    x: Value, stable: bool = True, dim: int = -1, descending: bool = False
) -> tuple[Value, Value]:
    return sort(x, dim, descending)  # type: ignore[no-any-return]  # top_k is stable


def _least(x: Value, k: int) -> tuple[Value, Value]:
    """The k least along the last axis, in rising order; of equals the first comes first.

    Of integers those are the greatest of -1 - x, which is an integer for each.  Floats are sorted
    in falling order from behind and turned, so that nan, the greatest, stays the greatest.
    """
    if x.type.dtype not in FLOATS:
        values, indices = ops.top_k(ops.sub(-1, x), k)
        return ops.sub(-1, values), indices
    last = rank_of(x) - 1
    size = size_at(x, last)
    falling = ops.top_k(ops.reverse(x, [last]), size)
    values, indices = (ops.reverse(v, [last])[..., :k] for v in falling)
    return values, ops.sub(size - 1, indices)


def _summed(x: Value, dtype: str | None) -> Value:
    """Cast x to the dtype of its sum: the one asked for, and without one i64 for integers."""
    return ops.cast(x, dtype or (x.type.dtype if x.type.dtype in FLOATS else "i64"))
