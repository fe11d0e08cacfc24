"""Attention: each query takes the average of the values, weighed by a softmax over the keys.

    y = softmax(scale * q kᵀ) v

Vaswani et al. 2017 (https://arxiv.org/abs/1706.03762).  It is one op because a kernel need never
have the [s, t] matrix of weights in memory: that is FlashAttention (Dao et al. 2022,
https://arxiv.org/abs/2205.14135), from which the form of the gradient is taken.  Beside y it gives
the logarithm of each row's sum, with which the gradient computes the weights p again:

    dv = pᵀ dy    ds = p * (dy vᵀ - sum(dy * y)) * scale    dq = ds k    dk = dsᵀ q

The decomposition has the whole matrix, and is exact for half types: it computes in f32.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import inf

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    Dimension,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_opset.broadcast import meet_dims, same_dtype
from byparts_opset.domain import between, finite
from byparts_opset.dtypes import Array, dtype_name, narrow, numpy_dtype, require
from byparts_opset.half import sum_dtype, widened

# The axes of each operand behind the batch: s queries, t keys, widths d and e.
AXES = {
    **{"q": "sd", "k": "td", "v": "te"},
    **{"y": "se", "dy": "se", "logsumexp": "s"},
}


class Attention(Op):
    """y, logsumexp: y = softmax(scale * q kᵀ) v, and the log of the sum under each softmax.

    q: [..., s, d]; k: [..., t, d]; v: [..., t, e]; y: [..., s, e]; logsumexp: [..., s], in f32 for
    half types.  Leading axes are equal.  A `scale` of `None` is 1 / sqrt(d).  `causal`: query i
    sees the keys 0 to i alone, counted from the front also where s and t differ.
    """

    causal: bool = False
    scale: float | None = None

    def infer(self, q: TensorType, k: TensorType, v: TensorType) -> Types:
        return _inferred(self, ("y", "logsumexp"), q=q, k=k, v=v)

    infer_unranked = infer

    def domain(self, q: Array, k: Array, v: Array) -> tuple[Array, ...]:
        # A masked key may be multiplied by 0; e^1000 has few digits.
        return tuple(between(-10, 10, finite(x)) for x in (q, k, v))

    def evaluate(self, q: Array, k: Array, v: Array) -> tuple[Array, ...]:
        scores = _scores_of(self, q, k)
        with np.errstate(all="ignore"):
            total = np.logaddexp.reduce(scores, axis=-1, initial=-inf, keepdims=True)
            y = np.exp(scores - total) @ v.astype(np.float64)
        return (
            narrow(y, q.dtype),
            narrow(total[..., 0], numpy_dtype(sum_dtype(dtype_name(q.dtype)))),
        )

    def gradient(self, node: Node, dy: Value, dlogsumexp: Value) -> tuple[Value | None, ...]:
        (q, k, v), (y, logsumexp) = node.inputs, node.outputs
        op = AttentionGradient(self.causal, self.scale)
        dq, dk, dv = op.outputs_of(dy, q, k, v, y, logsumexp)
        if not ops.is_zero(dlogsumexp):
            more_dq, more_dk = _of_logsumexp(self, q, k, logsumexp, dlogsumexp)
            dq, dk = dq + more_dq, dk + more_dk
        return (dq, dk, dv)

    def decompose(self, q: Value, k: Value, v: Value) -> tuple[Value, ...] | None:
        dtype = q.type.dtype
        if k.type.shape is not None and k.type.shape[-2] == 0:
            return _of_no_keys(*self.infer(q.type, k.type, v.type))
        q, k, v = map(widened, (q, k, v))
        scores = _scores(self, q * _scale(self, q), k)
        top = ops.max(scores, (-1,), keepdims=True)
        weights = ops.exp(scores - top)
        total = ops.sum(weights, (-1,), keepdims=True)
        return (
            ops.cast(ops.matmul(weights, v) / total, dtype),
            ops.squeeze(ops.log(total) + top, (-1,)),
        )

    def flops(self, q: TensorType, k: TensorType, v: TensorType) -> int:
        return 2 * q.size * k.dims[-2] + 2 * v.size * q.dims[-2]

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for causal, scale, q, k, v in _samples():
            yield Sample(cls(causal, scale), (q, k, v), ((-2, 2),) * 3)


class AttentionGradient(Op):
    """dq, dk, dv of `Attention`, with the y and logsumexp that it gave."""

    causal: bool = False
    scale: float | None = None

    def infer(
        self,
        dy: TensorType,
        q: TensorType,
        k: TensorType,
        v: TensorType,
        y: TensorType,
        logsumexp: TensorType,
    ) -> Types:
        given = {"dy": dy, "q": q, "k": k, "v": v, "y": y, "logsumexp": logsumexp}
        return _inferred(self, ("q", "k", "v"), **given)

    infer_unranked = infer

    def domain(
        self, dy: Array, q: Array, k: Array, v: Array, y: Array, logsumexp: Array
    ) -> tuple[Array, ...]:
        forward = Attention(self.causal, self.scale)
        dy, q, k, v = (between(-5, 5, finite(x)) for x in (dy, q, k, v))  # e^100 is inexact
        y, logsumexp = forward.evaluate(q, k, v)
        return (dy, q, k, v, y, logsumexp)

    def evaluate(
        self, dy: Array, q: Array, k: Array, v: Array, y: Array, logsumexp: Array
    ) -> tuple[Array, ...]:
        dtype = q.dtype
        dy, q, k, v, y = (x.astype(np.float64) for x in (dy, q, k, v, y))
        with np.errstate(all="ignore"):
            p = np.exp(_scores_of(self, q, k) - logsumexp[..., None])
            mean = (dy * y).sum(axis=-1, keepdims=True)
            ds = p * (dy @ _transposed(v) - mean) * _scale_of(self, q)
            gradients = (ds @ k, _transposed(ds) @ q, _transposed(p) @ dy)
        return tuple(narrow(x, dtype) for x in gradients)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return ops.gradient_by_decomposition(node, *dys)

    def decompose(
        self, dy: Value, q: Value, k: Value, v: Value, y: Value, logsumexp: Value
    ) -> tuple[Value, ...] | None:
        dtype = q.type.dtype
        dy, q, k, v, y = map(widened, (dy, q, k, v, y))
        scale = _scale(self, q)
        q = q * scale
        p = ops.exp(_scores(self, q, k) - ops.expand_dims(logsumexp, -1))
        mean = ops.sum(dy * y, (-1,), keepdims=True)
        ds = p * (ops.matmul(dy, v, transpose_b=True) - mean)
        dk, dv = ops.matmul(ds, q, transpose_a=True), ops.matmul(p, dy, transpose_a=True)
        return tuple(ops.cast(x, dtype) for x in (ops.matmul(ds, k) * scale, dk, dv))

    def flops(self, dy: TensorType, q: TensorType, k: TensorType, *rest: TensorType) -> int:
        return 6 * q.size * k.dims[-2] + 4 * dy.size * k.dims[-2]

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """In half types, too, for which `logsumexp` has another dtype than the other inputs."""
        for causal, scale, q, k, v in _samples():
            op = cls(causal, scale)
            for dtype in ("f32", "f16", "bf16"):
                q, k, v = (TensorType(dtype, t.shape) for t in (q, k, v))
                y, logsumexp = Attention(causal, scale).infer(q, k, v)
                yield Sample(op, (y, q, k, v, y, logsumexp), (*[(-1, 1)] * 5, (1, 3)))


def attention(
    q: Value, k: Value, v: Value, causal: bool = False, scale: float | None = None
) -> Value:
    """softmax(scale * q kᵀ) v, for queries, keys and values of [..., time, width]."""
    return Attention(causal, scale).outputs_of(q, k, v)[0]


def _of_logsumexp(
    op: Attention, q: Value, k: Value, logsumexp: Value, dlogsumexp: Value
) -> tuple[Value, Value]:
    """Compute what the gradient of the second output adds to dq and dk."""
    dtype = q.type.dtype
    q, k = widened(q), widened(k)
    scale = _scale(op, q)
    q = q * scale
    ds = ops.exp(_scores(op, q, k) - ops.expand_dims(logsumexp, -1)) * ops.expand_dims(
        dlogsumexp, -1
    )
    return ops.cast(ops.matmul(ds, k) * scale, dtype), ops.cast(
        ops.matmul(ds, q, transpose_a=True), dtype
    )


def _of_no_keys(y: TensorType, logsumexp: TensorType) -> tuple[Value, ...] | None:
    if not y.static:
        return None
    return (ops.zeros(y.dims, y.dtype), ops.fill(-inf, logsumexp.dtype, logsumexp.dims))


def _scores(op: Attention | AttentionGradient, q: Value, k: Value) -> Value:
    """Compute q kᵀ, [..., s, t], of a scaled q; -inf where a mask hides the key from the query."""
    scores = ops.matmul(q, k, transpose_b=True)
    return ops.select(_seen(scores), scores, -inf) if op.causal else scores


def _seen(scores: Value) -> Value:
    """Compute whether j <= i for query i and key j: a constant where the sizes are known."""
    s, t = (None, None) if scores.type.shape is None else scores.type.shape[-2:]
    if isinstance(s, int) and isinstance(t, int):
        return ops.greater_equal(ops.expand_dims(ops.arange(0, s), -1), ops.arange(0, t))
    ones = ops.cast(ops.ones_like(scores), "i32")
    return ops.greater_equal(ops.cumsum(ones, -2), ops.cumsum(ones, -1))


def _scale(op: Attention | AttentionGradient, q: Value) -> Value | float:
    if op.scale is not None:
        return op.scale
    d = None if q.type.shape is None else q.type.shape[-1]
    return max(d, 1) ** -0.5 if isinstance(d, int) else ops.rsqrt(ops.count_like(q, (-1,)))


def _scores_of(op: Attention | AttentionGradient, q: Array, k: Array) -> Array:
    """Compute `_scores` of arrays, in f64; q is not scaled yet."""
    scores: Array = q.astype(np.float64) @ _transposed(k.astype(np.float64)) * _scale_of(op, q)
    return np.where(np.tri(*scores.shape[-2:]) > 0, scores, -inf) if op.causal else scores


def _scale_of(op: Attention | AttentionGradient, q: Array) -> float:
    return float(max(q.shape[-1], 1) ** -0.5) if op.scale is None else op.scale


def _transposed(x: Array) -> Array:
    y: Array = x.swapaxes(-1, -2)
    return y


def _inferred(op: Op, outputs: tuple[str, ...], **types: TensorType) -> Types:
    """Infer the types of `outputs` from all that the inputs say of each axis; ranks may lack."""
    q = types["q"]
    require(op.name, q, FLOATS)
    same_dtype(op.name, *(t for name, t in types.items() if name != "logsumexp"))
    sums = TensorType(sum_dtype(q.dtype), None)
    same_dtype(op.name, sums, types.get("logsumexp", sums))
    lead, sizes = _sizes(op, types)
    result = []
    for name in outputs:
        dims = None if lead is None else (*lead, *(sizes.get(a) for a in AXES[name]))
        result.append(TensorType(sums.dtype if name == "logsumexp" else q.dtype, dims))
    return tuple(result)


def _sizes(
    op: Op, types: dict[str, TensorType]
) -> tuple[tuple[Dimension, ...] | None, dict[str, Dimension]]:
    """Collect the leading axes, if some rank is known, and the size of each axis in `AXES`."""
    what = ", ".join(f"{name} is {t}" for name, t in types.items())
    lead: tuple[Dimension, ...] | None = None
    sizes: dict[str, Dimension] = {}
    for name, t in types.items():
        if t.shape is None:
            continue
        own = len(t.shape) - len(AXES[name])
        if own < 0 or (lead is not None and own != len(lead)):
            axes = ", ".join(AXES[name])
            raise ShapeError(f"{op.name}: {what}; {name} is [..., {axes}] with one batch for all")
        front = zip(t.shape[:own] if lead is None else lead, t.shape[:own], strict=True)
        lead = tuple(meet_dims(op.name, a, b, what) for a, b in front)
        for axis, d in zip(AXES[name], t.shape[own:], strict=True):
            sizes[axis] = meet_dims(op.name, sizes.get(axis), d, what)
    return lead, sizes


def _samples() -> Iterator[tuple[bool, float | None, TensorType, TensorType, TensorType]]:
    """(causal, scale, types of q, k and v)."""
    for causal, scale, lead, s, t, d, e in (
        (False, None, (2,), 3, 5, 4, 6),
        (True, None, (), 4, 4, 3, 3),
        (True, 0.5, (2, 2), 2, 3, 4, 4),
        (True, None, (1,), 4, 2, 2, 3),
        (False, None, (0,), 3, 2, 2, 2),
    ):
        yield (
            *(causal, scale, TensorType("f32", (*lead, s, d))),
            *(TensorType("f32", (*lead, t, d)), TensorType("f32", (*lead, t, e))),
        )
