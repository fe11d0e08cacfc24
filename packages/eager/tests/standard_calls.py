"""A call of each function of the standard that means the same in NumPy's namespace.

`xp` is the namespace, `x` f32[3,4], `y` f64[4], `n` i64[3,4], `b` bool[3,4].
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

Call = Callable[[Any, Any, Any, Any, Any], Any]


def _each(names: str, form: str, arguments: Call) -> dict[str, Call]:
    """Calls of several functions on the same arguments."""
    return {f"{name}({form})": partial(_call, name, arguments) for name in names.split()}


def _call(name: str, arguments: Call, xp: Any, *operands: Any) -> Any:
    return getattr(xp, name)(*arguments(xp, *operands))


FLOATS: dict[str, Call] = {
    **_each("abs atan cos cosh exp expm1 negative positive reciprocal sin sinh square tan tanh", "x", lambda xp, x, y, n, b: (x,)),
    **_each("acosh asinh log log1p log2 log10 sqrt", "|x| + 1.5", lambda xp, x, y, n, b: (xp.abs(x) + 1.5,)),
    **_each("acos asin atanh", "x / 4", lambda xp, x, y, n, b: (x / 4,)),
    **_each("add atan2 divide hypot logaddexp maximum minimum multiply subtract", "x, y", lambda xp, x, y, n, b: (x, y)),
    "pow(|x|, y)": lambda xp, x, y, n, b: xp.pow(xp.abs(x), y),
    "clip(x)": lambda xp, x, y, n, b: xp.clip(x, -0.5, 0.75),
    "clip(x, y, 3)": lambda xp, x, y, n, b: xp.clip(xp.astype(x, xp.float64), y, 3.0),
    "where(b, x, y)": lambda xp, x, y, n, b: xp.where(b, x, y),
    "where(b, x, 2)": lambda xp, x, y, n, b: xp.where(b, x, 2.0),
    "take": lambda xp, x, y, n, b: xp.take(x, xp.asarray([2, 0, 2]), axis=1),
    "x[1]": lambda xp, x, y, n, b: x[1],
    "x[:, ::-2]": lambda xp, x, y, n, b: x[:, ::-2],
    "x[..., None, 1]": lambda xp, x, y, n, b: x[..., None, 1],
    "x[[2, 0]]": lambda xp, x, y, n, b: x[xp.asarray([2, 0]), xp.asarray([-1, 1])],
    "x[:, [0, 0]]": lambda xp, x, y, n, b: x[:, xp.asarray([0, 0])],
    "concat": lambda xp, x, y, n, b: xp.concat([x, xp.ones((1, 4), dtype=xp.float64), x]),
    "concat(None)": lambda xp, x, y, n, b: xp.concat([x, y], axis=None),
    "stack": lambda xp, x, y, n, b: xp.stack([x, x * 2], axis=-1),
    "unstack": lambda xp, x, y, n, b: xp.unstack(x, axis=1)[3],
    "expand_dims": lambda xp, x, y, n, b: xp.expand_dims(x, axis=1),
    "squeeze": lambda xp, x, y, n, b: xp.squeeze(x[:1, None], axis=(0, 1)),
    "flip": lambda xp, x, y, n, b: xp.flip(x),
    "flip(1)": lambda xp, x, y, n, b: xp.flip(x, axis=-1),
    "permute_dims": lambda xp, x, y, n, b: xp.permute_dims(x, (1, 0)),
    "moveaxis": lambda xp, x, y, n, b: xp.moveaxis(x[None], (0, 1), (-1, 0)),
    "moveaxis(2)": lambda xp, x, y, n, b: xp.moveaxis(x[None], (2, 1), (1, 0)),
    "reshape": lambda xp, x, y, n, b: xp.reshape(x, (2, -1)),
    "repeat": lambda xp, x, y, n, b: xp.repeat(x, 2, axis=1),
    "repeat([0, 2, 1])": lambda xp, x, y, n, b: xp.repeat(x, xp.asarray([0, 2, 1]), axis=0),
    "tile": lambda xp, x, y, n, b: xp.tile(x, (2, 1, 2)),
    "roll": lambda xp, x, y, n, b: xp.roll(x, 2),
    "roll(1, -1)": lambda xp, x, y, n, b: xp.roll(x, (1, -6), axis=(0, 1)),
    "broadcast_to": lambda xp, x, y, n, b: xp.broadcast_to(y, (2, 4)),
    "broadcast_arrays": lambda xp, x, y, n, b: xp.broadcast_arrays(x, y)[1],
    "meshgrid": lambda xp, x, y, n, b: xp.meshgrid(y, x[:, 0])[1],
    "meshgrid(ij)": lambda xp, x, y, n, b: xp.meshgrid(y, x[:, 0], indexing="ij")[0],
    "tril": lambda xp, x, y, n, b: xp.tril(x),
    "triu(1)": lambda xp, x, y, n, b: xp.triu(x, k=1),
    "matmul": lambda xp, x, y, n, b: xp.matmul(x, y),
    "matmul(rows)": lambda xp, x, y, n, b: xp.matmul(y, xp.matrix_transpose(x)),
    "tensordot": lambda xp, x, y, n, b: xp.tensordot(x, x, axes=((0,), (0,))),
    "tensordot(1)": lambda xp, x, y, n, b: xp.tensordot(x, xp.matrix_transpose(x), axes=1),
    "tensordot(0)": lambda xp, x, y, n, b: xp.tensordot(y, y, axes=0),
    "vecdot": lambda xp, x, y, n, b: xp.vecdot(x, y),
    "matrix_transpose": lambda xp, x, y, n, b: xp.matrix_transpose(x[None]),
    "sum": lambda xp, x, y, n, b: xp.sum(x),
    "sum(0)": lambda xp, x, y, n, b: xp.sum(x, axis=0, keepdims=True),
    "sum(f64)": lambda xp, x, y, n, b: xp.sum(x, axis=(0, 1), dtype=xp.float64),
    "prod": lambda xp, x, y, n, b: xp.prod(x, axis=1),
    "mean": lambda xp, x, y, n, b: xp.mean(x, axis=-1),
    "max": lambda xp, x, y, n, b: xp.max(x, axis=1),
    "min": lambda xp, x, y, n, b: xp.min(x),
    "var": lambda xp, x, y, n, b: xp.var(x, axis=0),
    "std": lambda xp, x, y, n, b: xp.std(y, correction=1.0),
    "cumulative_sum": lambda xp, x, y, n, b: xp.cumulative_sum(x, axis=1, include_initial=True),
    "cumulative_prod": lambda xp, x, y, n, b: xp.cumulative_prod(x, axis=-1),
    "copysign": lambda xp, x, y, n, b: xp.copysign(x, y),
    "sort": lambda xp, x, y, n, b: xp.sort(x),
    "sort(0)": lambda xp, x, y, n, b: xp.sort(x, axis=0)[::-1],
    "take_along_axis": lambda xp, x, y, n, b: xp.take_along_axis(
        x, xp.asarray([[0, -1], [1, 1], [3, 0]]), axis=1
    ),
    "diff": lambda xp, x, y, n, b: xp.diff(x, axis=0, n=2),
    "diff(prepend)": lambda xp, x, y, n, b: xp.diff(y, prepend=y[:1], append=y[-2:]),
    "astype": lambda xp, x, y, n, b: xp.astype(x, xp.float64),
    "full_like": lambda xp, x, y, n, b: x * xp.full_like(x, 3.0),
    "zeros_like": lambda xp, x, y, n, b: x + xp.zeros_like(x) + xp.ones_like(x),
    "eye": lambda xp, x, y, n, b: x * xp.eye(3, 4, k=1) + xp.eye(4)[:3],
    "linspace": lambda xp, x, y, n, b: y * xp.linspace(0.0, 1.0, 4, endpoint=False),
    "real": lambda xp, x, y, n, b: xp.real(xp.conj(x)),
}  # fmt: skip
OTHERS: dict[str, Call] = {
    **_each("ceil floor round sign trunc isfinite isinf isnan imag", "x", lambda xp, x, y, n, b: (x,)),
    **_each("abs bitwise_invert ceil floor negative round sign square trunc isnan", "n", lambda xp, x, y, n, b: (n,)),
    **_each("equal floor_divide greater greater_equal less less_equal not_equal remainder", "x, y", lambda xp, x, y, n, b: (x, y)),
    **_each("add bitwise_and bitwise_or bitwise_xor floor_divide pow remainder", "n, 5", lambda xp, x, y, n, b: (n, 5)),
    **_each("logical_and logical_or logical_xor bitwise_and bitwise_or equal", "b, b", lambda xp, x, y, n, b: (b, b[0])),
    "logical_not": lambda xp, x, y, n, b: xp.logical_not(b),
    "all": lambda xp, x, y, n, b: xp.all(n, axis=1),
    "any": lambda xp, x, y, n, b: xp.any(b, axis=0, keepdims=True),
    "argmax": lambda xp, x, y, n, b: xp.argmax(x, axis=1, keepdims=True),
    "argmin": lambda xp, x, y, n, b: xp.argmin(x),
    "count_nonzero": lambda xp, x, y, n, b: xp.count_nonzero(n, axis=1),
    "sum(n)": lambda xp, x, y, n, b: xp.sum(n, axis=0),
    "sum(n, i32)": lambda xp, x, y, n, b: xp.sum(n, dtype=xp.int32),
    "prod(n)": lambda xp, x, y, n, b: xp.prod(n),
    "cumulative_sum(n)": lambda xp, x, y, n, b: xp.cumulative_sum(n[0]),
    "arange": lambda xp, x, y, n, b: n[0] + xp.arange(1, 9, 2),
    "arange(3)": lambda xp, x, y, n, b: n[:, 0] + xp.arange(3),
    "zeros": lambda xp, x, y, n, b: n + xp.zeros((4,), dtype=xp.int64) + xp.ones(4, dtype=xp.int64),
    "full": lambda xp, x, y, n, b: n + xp.full((1, 4), 7),
    "eye(bool)": lambda xp, x, y, n, b: xp.logical_and(xp.eye(3, 4, dtype=xp.bool), b),
    "astype(n)": lambda xp, x, y, n, b: xp.astype(n, xp.bool),
    "astype(b)": lambda xp, x, y, n, b: xp.astype(b, xp.int8) + n,
    "matmul(n)": lambda xp, x, y, n, b: n @ xp.matrix_transpose(n),
    "tensordot(n)": lambda xp, x, y, n, b: xp.tensordot(n, n),
    "tile(n)": lambda xp, x, y, n, b: xp.tile(n, (2,)),
    "clip(n)": lambda xp, x, y, n, b: xp.clip(n, 2, 5),
    "bits": lambda xp, x, y, n, b: ~n ^ 3 | 8,
    "shifts": lambda xp, x, y, n, b: (n << 2) + (n >> xp.astype(b, xp.int64)),
    "bitwise_left_shift": lambda xp, x, y, n, b: xp.bitwise_left_shift(n, 3),
    "bitwise_right_shift": lambda xp, x, y, n, b: xp.bitwise_right_shift(n, 1),
    "signbit": lambda xp, x, y, n, b: xp.signbit(x * 0),
    "nextafter": lambda xp, x, y, n, b: xp.nextafter(x, xp.astype(y, xp.float32)),
    "argsort": lambda xp, x, y, n, b: xp.argsort(n, axis=0, stable=True),
    "sort(n)": lambda xp, x, y, n, b: xp.sort(n, axis=1),
    "searchsorted": lambda xp, x, y, n, b: xp.searchsorted(xp.sort(y), xp.astype(x, xp.float64)),
    "searchsorted(sorter)": lambda xp, x, y, n, b: xp.searchsorted(
        y, y, side="right", sorter=xp.argsort(y)
    ),
    "cumulative_prod(n)": lambda xp, x, y, n, b: xp.cumulative_prod(n[0], include_initial=True),
}  # fmt: skip
FROM_DATA: dict[str, Call] = {  # shapes depend on data: arrays alone
    "x[b]": lambda xp, x, y, n, b: x[b],
    "x[b[0]]": lambda xp, x, y, n, b: x[:, b[0]],
    "x[x > 0]": lambda xp, x, y, n, b: x[x > 0],
    "nonzero": lambda xp, x, y, n, b: xp.nonzero(b)[1],
    "unique_values": lambda xp, x, y, n, b: xp.unique_inverse(xp.unique_values(n)).values,
    "unique_counts": lambda xp, x, y, n, b: xp.unique_counts(n).counts,
    "unique_inverse": lambda xp, x, y, n, b: xp.unique_inverse(n).inverse_indices,
    "unique_all": lambda xp, x, y, n, b: xp.unique_all(n).indices,
}


def operands() -> tuple[Any, Any, Any, Any]:
    """x f32[3,4], y f64[4], n i64[3,4], b bool[3,4], as NumPy's arrays."""
    rng = np.random.default_rng(5)
    x = rng.normal(0, 1, (3, 4)).astype(np.float32)
    n = rng.integers(-4, 9, (3, 4))
    return x, rng.normal(0, 1, 4), n, rng.random((3, 4)) < 0.5
