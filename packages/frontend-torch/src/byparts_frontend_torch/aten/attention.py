"""Scaled dot-product attention, as one op where it is plain or causal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import byparts_opset as ops
from byparts_frontend_torch.aten.axes import rank_of, size_at
from byparts_frontend_torch.aten.creation import arange
from byparts_frontend_torch.aten.random import native_dropout
from byparts_frontend_torch.errors import UnsupportedOp
from byparts_frontend_torch.rules import rules
from byparts_frontend_torch.symbols import Size
from byparts_graph_ir import Value

_LOWEST = {"f16": -6e4, "bf16": -3e38, "f32": -3e38, "f64": -1e308}
_whole: Optional[Callable[..., Any]] = getattr(ops, "attention", None)


@rules.on("aten.scaled_dot_product_attention.default")
def attention(
    q: Value,
    k: Value,
    v: Value,
    mask: Value | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Value:
    """q: [..., s, d]; k: [..., t, d]; v: [..., t, e]; mask broadcasts to [..., s, t]."""
    if enable_gqa:
        k, v = _as_many_heads(k, q), _as_many_heads(v, q)
    if mask is None and not dropout_p and _whole is not None and _alike(q, k, v):
        whole: Value = _whole(q, k, v, causal=is_causal, scale=scale)
        return whole
    scale = size_at(q, rank_of(q) - 1) ** -0.5 if scale is None else scale
    scores = ops.matmul(q * scale, k, transpose_b=True)
    if is_causal:
        mask = _causal(q, k)
    weights, dead = _weights(scores, mask)
    if dropout_p:
        weights, _ = native_dropout(weights, dropout_p, True)
    y = ops.matmul(weights, v)
    return y if dead is None else ops.where(dead, 0.0, y)


def _alike(q: Value, k: Value, v: Value) -> bool:
    """Whether the three have the same leading axes; what torch broadcasts there, ours does not."""
    leads = {(x.type.shape or ())[:-2] for x in (q, k, v)}
    return len(leads) == 1 and None not in leads.pop()


def _weights(scores: Value, mask: Value | None) -> tuple[Value, Value | None]:
    """The softmax of what is not masked, and the rows of which nothing is left: they give 0.

    -inf would make such a row nan, and its gradient, too; the lowest number does not.
    """
    if mask is None:
        return ops.softmax(scores, -1), None
    lowest = _LOWEST[scores.type.dtype]
    if mask.type.dtype == "bool":
        dead = ops.logical_not(ops.any(mask, (-1,), keepdims=True))
        return ops.softmax(ops.where(mask, scores, lowest), -1), dead
    dead = ops.max(mask, (-1,), keepdims=True) < lowest
    return ops.softmax(scores + ops.maximum(mask, lowest), -1), dead


def _causal(q: Value, k: Value) -> Value:
    """[s, t]: nobody looks ahead."""
    rows, columns = (arange(0, _size(x, rank_of(x) - 2)) for x in (q, k))
    return ops.less_equal(columns, ops.expand_dims(rows, 1))


def _size(x: Value, axis: int) -> Size:
    d = (x.type.shape or ())[axis]
    return size_at(x, axis) if d is None else d


def _as_many_heads(x: Value, q: Value) -> Value:
    """Each head of x for as many heads of q in a row."""
    axis = rank_of(x) - 3
    heads, wanted = size_at(x, axis), size_at(q, axis)
    if wanted % heads:
        raise UnsupportedOp(f"{wanted} heads of queries share {heads}")
    at = [i * heads // wanted for i in range(wanted)]
    return ops.gather(x, ops.constant(at, "i64"), axis)
