"""Sums, means, extremes and their places, sorting, along axes."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf

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
    return ops.max(x, axes_of(x, dim), keepdim), argmax(x, dim, keepdim)


@rules.on("aten.min.dim")
def min(x: Value, dim: int, keepdim: bool = False) -> tuple[Value, Value]:
    return ops.min(x, axes_of(x, dim), keepdim), argmin(x, dim, keepdim)


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
    correction = 1 if correction is None else correction
    axes = axes_of(x, dim)
    squares = ops.square(x - ops.mean(x, axes, keepdims=True))
    if correction == 0:
        return ops.mean(squares, axes, keepdim)
    return ops.sum(squares, axes, keepdim) / (ops.count_like(x, axes) - float(correction))


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
    x, axes = x if dtype is None else ops.cast(x, dtype), axes_of(x, dim)
    if ord == 2:
        return ops.sqrt(ops.sum(ops.square(x), axes, keepdim))
    size = ops.abs(x)
    if ord in (inf, -inf):
        return ops.max(size, axes, keepdim) if ord > 0 else ops.min(size, axes, keepdim)
    if ord in (0, 1):
        parts = size if ord else ops.cast(ops.greater(size, 0), size.type.dtype)
        return ops.sum(parts, axes, keepdim)
    return ops.pow(ops.sum(ops.pow(size, float(ord)), axes, keepdim), 1 / ord)


@rules.on("aten._cdist_forward.default")
def cdist(x: Value, y: Value, p: float, compute_mode: int | None = None) -> Value:
    """Distances of each row of x from each row of y."""
    differences = ops.expand_dims(x, -2) - ops.expand_dims(y, -3)
    return vector_norm(differences, p, (-1,))  # type: ignore[no-any-return]


@rules.on("aten.cumsum.default")
def cumsum(x: Value, dim: int, dtype: str | None = None) -> Value:
    return ops.cumsum(_summed(x, dtype), axis_of(x, dim)) if rank_of(x) else _summed(x, dtype)


@rules.on("aten.topk.default")
def topk(
    x: Value, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Value, Value]:
    axis = axis_of(x, dim)
    if not rank_of(x) or not isinstance(k, int):
        raise UnsupportedOp(f"the {k} greatest of {x.type}")
    order = [*(a for a in range(rank_of(x)) if a != axis), axis]
    back = tuple(order.index(a) for a in range(rank_of(x)))
    values, indices = ops.top_k(_turned(ops.transpose(x, order), not largest), k)
    return ops.transpose(_turned(values, not largest), back), ops.transpose(indices, back)


@rules.on("aten.sort.default")
def sort(x: Value, dim: int = -1, descending: bool = False) -> tuple[Value, Value]:
    return topk(x, size_at(x, axis_of(x, dim)), dim, descending)  # type: ignore[no-any-return]


@rules.on("aten.sort.stable")
def sort_stable(
    x: Value, stable: bool = True, dim: int = -1, descending: bool = False
) -> tuple[Value, Value]:
    return sort(x, dim, descending)  # type: ignore[no-any-return]  # top_k is stable


def _turned(x: Value, turn: bool) -> Value:
    """In the other order: -x, or for integers -1 - x, which is one of them, too."""
    if not turn:
        return x
    return -x if x.type.dtype in FLOATS else ops.sub(-1, x)


def _summed(x: Value, dtype: str | None) -> Value:
    """As torch sums it: in the dtype that is asked for, and otherwise integers as i64."""
    return ops.cast(x, dtype or (x.type.dtype if x.type.dtype in FLOATS else "i64"))
