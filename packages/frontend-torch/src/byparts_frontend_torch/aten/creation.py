"""Tensors of nothing but numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

import numpy as np

import byparts_opset as ops
from byparts_frontend_torch.promotion import as_number, as_value, dtype_of
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Expression, Size, number, shape_given
from byparts_graph_ir import FLOATS, Value

Number = Union[Size, float]


@rules.on("aten.full.default")
def full(size: Sequence[Size], fill_value: Number, dtype: str | None = None) -> Value:
    dtype = dtype or dtype_of(fill_value)
    numbers = [s for s in size if isinstance(s, int)]
    if len(numbers) == len(size) and isinstance(fill_value, (int, float)):
        return ops.fill(as_number(fill_value, dtype), dtype, numbers)
    is_open = any(isinstance(s, Expression) for s in size)
    shape = shape_given("a tensor of one number") if is_open else size
    return ops.broadcast_to(as_value(fill_value, dtype), shape)  # type: ignore[arg-type]


@rules.on("aten.zeros.default", "aten.empty.memory_format")
def zeros(size: Sequence[Size], dtype: str | None = None) -> Value:
    return full(size, 0, dtype or "f32")  # type: ignore[no-any-return]


@rules.on("aten.ones.default")
def ones(size: Sequence[Size], dtype: str | None = None) -> Value:
    return full(size, 1, dtype or "f32")  # type: ignore[no-any-return]


@rules.on("aten.new_empty_strided.default")
def new_empty_strided(
    x: Value, size: Sequence[Size], stride: Sequence[Size], dtype: str | None = None
) -> Value:
    return zeros(size, dtype or x.type.dtype)  # type: ignore[no-any-return]


@rules.on("aten.empty_strided.default")
def empty_strided(size: Sequence[Size], stride: Sequence[Size], dtype: str | None = None) -> Value:
    return zeros(size, dtype)  # type: ignore[no-any-return]


@rules.on("aten.empty_permuted.default")
def empty_permuted(
    size: Sequence[Size], physical_layout: object, dtype: str | None = None
) -> Value:
    return zeros(size, dtype)  # type: ignore[no-any-return]


@rules.on("aten.full_like.default", "aten.fill.Scalar")
def full_like(x: Value, fill_value: Number, dtype: str | None = None) -> Value:
    value = as_value(fill_value, dtype or x.type.dtype)
    return ops.broadcast_like(value, x)


@rules.on("aten.scalar_tensor.default")
def scalar_tensor(value: Number, dtype: str | None = None) -> Value:
    return as_value(value, dtype or "f32")


@rules.on("aten.arange.start_step")
def arange(start: Number, end: Number, step: Number = 1, dtype: str | None = None) -> Value:
    """Numbers in equal steps; with a symbol as bound, a running count of ones."""
    made = dtype or ("f32" if _any_float(start, end, step) else "i64")
    if any(isinstance(x, (str, Expression)) for x in (start, end, step)):
        plain = isinstance(end, str) and (start, step) == (0, 1)
        shape = (end,) if plain else shape_given("arange")
        ones = ops.broadcast_to(ops.fill(1, "i64"), shape)  # type: ignore[arg-type]
        count = ops.cast(ops.cumsum(ones, 0, exclusive=True), made)
        if step != 1:
            count = count * as_value(step, made)
        return count if start == 0 else count + as_value(start, made)
    first, last, by = (
        x if isinstance(x, float) else number(x, "a bound of arange") for x in (start, end, step)
    )
    if made in FLOATS:
        return ops.arange(float(first), float(last), float(by), made)
    return ops.arange(first, last, by, made)


def _triangle(part: Any) -> Any:
    def rule(row: int, col: int, offset: int = 0, dtype: str | None = None) -> Value:
        return ops.cast(ops.constant(np.stack(part(row, offset, col))), dtype or "i64")

    return rule


rules.on("aten.tril_indices.default")(_triangle(np.tril_indices))
rules.on("aten.triu_indices.default")(_triangle(np.triu_indices))


@rules.on("aten.eye.default")
def eye(n: int, dtype: str | None = None) -> Value:
    return ops.eye(n, n, dtype or "f32")


@rules.on("aten.eye.m")
def eye_of(n: int, m: int, dtype: str | None = None) -> Value:
    return ops.eye(n, m, dtype or "f32")


def _any_float(*numbers: Number) -> bool:
    return any(isinstance(x, float) for x in numbers)
