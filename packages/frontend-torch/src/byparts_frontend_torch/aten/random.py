"""Draws, from the stream of the program."""

from __future__ import annotations

from collections.abc import Sequence

import byparts_opset as ops
from byparts_frontend_torch.aten.creation import zeros
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.stream import next_draw
from byparts_frontend_torch.symbols import Size
from byparts_graph_ir import Value


@rules.on("aten.native_dropout.default")
def native_dropout(x: Value, p: float, train: bool | None) -> tuple[Value, Value]:
    """y, and which elements are kept."""
    if train is False or p == 0:
        return x, ops.cast(ops.ones_like(x), "bool")
    if p >= 1:
        raise UnsupportedOp(f"dropout with p = {p} leaves nothing")
    key, counter = next_draw(x)
    dropped = ops.bernoulli(key, counter, x, float(p))
    return ops.Dropout(float(p))(x, dropped), ops.logical_not(dropped)


@rules.on("aten.rand.default")
def rand(size: Sequence[Size], dtype: str | None = None) -> Value:
    return rand_like(zeros(size, dtype))  # type: ignore[no-any-return]


@rules.on("aten.randn.default")
def randn(size: Sequence[Size], dtype: str | None = None) -> Value:
    return randn_like(zeros(size, dtype))  # type: ignore[no-any-return]


@rules.on("aten.rand_like.default")
def rand_like(x: Value, dtype: str | None = None) -> Value:
    key, counter = next_draw(x)
    return ops.random_uniform(key, counter, x, dtype=dtype or x.type.dtype)


@rules.on("aten.randn_like.default")
def randn_like(x: Value, dtype: str | None = None) -> Value:
    key, counter = next_draw(x)
    return ops.random_normal(key, counter, x, dtype=dtype or x.type.dtype)
