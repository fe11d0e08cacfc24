"""Layer normalisation: each example brought to mean 0 and variance 1 over its last axes.

    y = (x - mean) / sqrt(variance + epsilon) * gamma + beta

Ba, Kiros and Hinton 2016 (https://arxiv.org/abs/1607.06450).  The gradient is an op of its own, as
that of batch normalisation is; the statistics it needs are outputs, one number for each example.

Statistics are numbers of their dtype, for the gradient too: where the variance is infinite, as that
of numbers of f32 from 1e19 on may be, all of the example is beta.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import given_axes, meet_dims, meet_types, same_dtype
from byparts_opset.dtypes import Array, dtype_name, narrow, numpy_dtype, require
from byparts_opset.half import in_f32, sum_dtype, widened


class LayerNorm(Op):
    """y, mean, variance: x normalised over its last `axes` axes, by its own (biased) statistics.

    x, y: [..., *last]; gamma, beta: [*last]; mean, variance: [..., 1, 1] with a 1 for each of last,
    in f32 for half types, where the variance of numbers above 256 would be infinite.
    """

    axes: int = 1
    epsilon: float = 1e-5

    inplace = ((0, 0),)

    def infer(self, x: TensorType, gamma: TensorType, beta: TensorType) -> Types:
        last = _last(self, self.axes, x, gamma, beta)
        assert x.shape is not None and last.shape is not None
        lead = x.shape[: len(x.shape) - self.axes]
        rows = _rows(self.axes, x)
        return (TensorType(x.dtype, (*lead, *last.shape)), rows, rows)

    def infer_unranked(self, x: TensorType, gamma: TensorType, beta: TensorType) -> Types:
        if x.shape is not None:
            last = TensorType(x.dtype, x.shape[len(x.shape) - self.axes :])
            return self.infer(x, *(last if t.shape is None else t for t in (gamma, beta)))
        same_dtype(self.name, require(self.name, x, FLOATS), gamma, beta)
        sums = TensorType(sum_dtype(x.dtype), None)
        return (x, sums, sums)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        x, gamma, beta = inputs
        x = meet_types(self.name, x, outputs[0])
        if x.shape is None:
            return (x, gamma, beta)
        last = _last(self, self.axes, x, *(t for t in (gamma, beta) if t.shape is not None))
        assert last.shape is not None
        x = TensorType(x.dtype, (*x.shape[: len(x.shape) - self.axes], *last.shape))
        return (x, last, last)

    def evaluate(self, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
        axes = _axes(self.axes)
        with np.errstate(all="ignore"):
            n = np.float64(gamma.size)
            mean = x.sum(axes, dtype=np.float64, keepdims=True) / n
            variance = np.square(x - mean).sum(axes, keepdims=True) / n
            dtype = numpy_dtype(sum_dtype(dtype_name(x.dtype)))
            deviation = np.sqrt(narrow(variance, dtype).astype(np.float64) + self.epsilon)
            y = (x - mean) / deviation * gamma.astype(np.float64) + beta
            return (narrow(y, x.dtype), narrow(mean, dtype), narrow(variance, dtype))

    def gradient(
        self, node: Node, dy: Value, dmean: Value, dvariance: Value
    ) -> tuple[Value | None, ...]:
        (x, gamma, _), (_, mean, variance) = node.inputs, node.outputs
        op = LayerNormGradient(self.axes, self.epsilon)
        dx, dgamma, dbeta = op.outputs_of(x, gamma, mean, variance, dy)
        n = ops.count_like(widened(gamma))
        if not ops.is_zero(dmean):
            dx = dx + ops.cast(dmean / n, dx.type.dtype)
        if not ops.is_zero(dvariance):
            more = (widened(x) - mean) * (dvariance * (2.0 / n))
            dx = dx + ops.cast(more, dx.type.dtype)
        return (dx, dgamma, dbeta)

    @in_f32
    def decompose(self, x: Value, gamma: Value, beta: Value) -> tuple[Value, ...] | None:
        axes = _axes(self.axes)
        mean = ops.mean(x, axes, keepdims=True)
        xc = x - mean
        variance = ops.mean(ops.square(xc), axes, keepdims=True)
        return (xc * ops.rsqrt(variance + self.epsilon) * gamma + beta, mean, variance)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, x, last in _samples():
            yield Sample(cls(axes), (x, last, last))


class LayerNormGradient(Op):
    """dx, dgamma, dbeta of `LayerNorm`, with the statistics it gave.

    With h = (x - mean) / sqrt(variance + epsilon), means over the last axes, sums over the others:

        dbeta = sum(dy)    dgamma = sum(dy * h)    g = dy * gamma
        dx = (g - mean(g) - h * mean(g * h)) / sqrt(variance + epsilon)
    """

    axes: int = 1
    epsilon: float = 1e-5

    inplace = ((4, 0),)

    def infer(
        self,
        x: TensorType,
        gamma: TensorType,
        mean: TensorType,
        variance: TensorType,
        dy: TensorType,
    ) -> Types:
        same_dtype(self.name, x, gamma, dy)
        both = meet_types(self.name, x, dy)
        last = _last(self, self.axes, both, gamma)
        rows = _rows(self.axes, both)
        same_dtype(self.name, rows, mean, variance)
        meet_types(self.name, meet_types(self.name, rows, mean), variance)
        return (both, last, last)

    def infer_unranked(self, *types: TensorType) -> Types:
        x, gamma, mean, variance, dy = types
        same_dtype(self.name, x, gamma, dy)
        same_dtype(self.name, TensorType(sum_dtype(x.dtype), None), mean, variance)
        return (meet_types(self.name, x, dy), gamma, gamma)

    def evaluate(
        self, x: Array, gamma: Array, mean: Array, variance: Array, dy: Array
    ) -> tuple[Array, ...]:
        lead = tuple(range(x.ndim - self.axes))
        with np.errstate(all="ignore"):
            n = np.float64(gamma.size)
            deviation = np.sqrt(variance.astype(np.float64) + self.epsilon)
            h = (x - mean.astype(np.float64)) / deviation
            dbeta, dgamma = dy.sum(lead, dtype=np.float64), (dy * h).sum(lead)
            g = dy * gamma.astype(np.float64)
            means = [v.sum(_axes(self.axes), keepdims=True) / n for v in (g, g * h)]
            dx = (g - means[0] - h * means[1]) / deviation
        return (narrow(dx, x.dtype), narrow(dgamma, x.dtype), narrow(dbeta, x.dtype))

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return ops.gradient_by_decomposition(node, *dys)

    @in_f32
    def decompose(
        self, x: Value, gamma: Value, mean: Value, variance: Value, dy: Value
    ) -> tuple[Value, ...] | None:
        axes = _axes(self.axes)
        deviation = ops.rsqrt(variance + self.epsilon)
        h = (x - mean) * deviation
        dyh, g = dy * h, dy * gamma
        slope = h * ops.mean(g * h, axes, keepdims=True)
        dx = deviation * (g - ops.mean(g, axes, keepdims=True) - slope)
        return (dx, ops.sum_like(dyh, gamma), ops.sum_like(dy, gamma))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """In half types, too, for which the statistics have another dtype than the other inputs."""
        ranges = (*[(-1, 1)] * 3, (0.5, 2), (-1, 1))
        for axes, x, last in _samples():
            for dtype in ("f32", "f16", "bf16"):
                y, gamma = (TensorType(dtype, t.shape) for t in (x, last))
                rows = _rows(axes, y)
                yield Sample(cls(axes), (y, gamma, rows, rows, y), ranges)


def layer_norm(
    x: Value,
    gamma: Value,
    beta: Value,
    axis: Union[int, Iterable[int]] = -1,
    epsilon: float = 1e-5,
) -> Value:
    """x normalised over its last axis, or its last axes; gamma and beta have their shape.

    Raises:
        ShapeError: an axis of x stands behind those that are named.
    """
    named = given_axes("layer_norm", axis, x)
    end = x.type.rank or 0  # negative axes are counted from it
    if sorted(named) != list(range(end - len(named), end)):
        raise ShapeError(
            f"layer_norm: normalises over last axes, got axis {axis} of {x.type}; "
            "name all up to the last, as in axis=(-2, -1), or transpose x first"
        )
    return LayerNorm(len(named), epsilon).outputs_of(x, gamma, beta)[0]


def _axes(axes: int) -> tuple[int, ...]:
    return tuple(range(-axes, 0))


def _rows(axes: int, x: TensorType) -> TensorType:
    """[..., 1, 1]: one number for each example."""
    assert x.shape is not None
    return TensorType(sum_dtype(x.dtype), (*x.shape[: len(x.shape) - axes], *[1] * axes))


def _last(op: Op, axes: int, x: TensorType, *parameters: TensorType) -> TensorType:
    """[*last], with all that x and the parameters know of it."""
    same_dtype(op.name, require(op.name, x, FLOATS), *parameters)
    shape = x.shape or ()
    if not 1 <= axes <= len(shape):
        raise ShapeError(f"{op.name}: {axes} last axes of {x}, which has {len(shape)}")
    last = shape[len(shape) - axes :]
    for t in parameters:
        what = f"x is {x}, normalised over its last {axes}, and a parameter is {t}"
        if t.shape is None or len(t.shape) != axes:
            raise ShapeError(f"{op.name}: {what}")
        last = tuple(meet_dims(op.name, a, b, what) for a, b in zip(last, t.shape, strict=True))
    return TensorType(x.dtype, last)


def _samples() -> Iterator[tuple[int, TensorType, TensorType]]:
    """(axes, type of x, type of a parameter)."""
    for axes, shape in ((1, (3, 4)), (2, (2, 3, 2)), (1, (5,)), (1, (0, 3))):
        yield axes, TensorType("f32", shape), TensorType("f32", shape[len(shape) - axes :])
