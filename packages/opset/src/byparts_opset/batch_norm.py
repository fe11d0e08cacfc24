"""Batch normalisation: each channel brought to mean 0 and variance 1 over the batch.

    y = (x - mean) / sqrt(variance + epsilon) * gamma + beta

Ioffe and Szegedy 2015 (https://arxiv.org/abs/1502.03167).  Statistics are values: a training graph
gives the batch's out and takes the moving ones in (`moving_average`), an inference graph takes them
as inputs.  Nothing is kept anywhere else.  The gradient is an op of its own, because it is worth
few passes over x; the gradient of that goes through its decomposition.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import meet_dims, meet_types, normal_axis, same_dtype
from byparts_opset.dtypes import Array, dtype_name, narrow, numpy_dtype
from byparts_opset.elementwise import floats
from byparts_opset.half import in_f32, sum_dtype, widened


@dataclass(frozen=True)
class BatchNorm(Op):
    """y, mean, variance: x normalised over all axes but `axis`, by its own (biased) statistics.

    x, y: any shape with `channels` at `axis`; gamma, beta: [channels]; mean, variance: [channels],
    in f32 for half types, where the variance of numbers above 256 would be infinite.
    """

    axis: int = 1
    epsilon: float = 1e-5

    inplace = ((0, 0),)

    def infer(self, x: TensorType, gamma: TensorType, beta: TensorType) -> Types:
        c = _channels(self, self.axis, x, gamma, beta)
        return (_with_channels(x, self.axis, c), _summed(c), _summed(c))

    def infer_unranked(self, x: TensorType, gamma: TensorType, beta: TensorType) -> Types:
        c = _channels(self, self.axis, x, gamma, beta)
        return (_with_channels(x, self.axis, c), _summed(c), _summed(c))

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return _back(self, self.axis, inputs, outputs)

    def evaluate(self, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
        axes = other_axes(self.axis, x.ndim)
        with np.errstate(all="ignore"):
            n = np.float64(x.size) / np.float64(gamma.size)
            mean = x.sum(axes, dtype=np.float64) / n
            xc = x - _beside(mean, x, self.axis)
            variance = np.square(xc).sum(axes) / n
            (y,) = _affine(x, gamma, beta, mean, variance, self.axis, self.epsilon)
            dtype = numpy_dtype(sum_dtype(dtype_name(x.dtype)))
            return (y, narrow(mean, dtype), narrow(variance, dtype))

    def gradient(
        self, node: Node, dy: Value, dmean: Value, dvariance: Value
    ) -> tuple[Value | None, ...]:
        (x, gamma, _), (_, mean, variance) = node.inputs, node.outputs
        op = BatchNormGradient(self.axis, self.epsilon)
        dx, dgamma, dbeta = op.outputs_of(x, gamma, mean, variance, dy)
        wide = widened(x)
        n = ops.count_like(wide) / ops.count_like(widened(gamma))
        if not ops.is_zero(dmean):
            dx = dx + ops.cast(per_channel(dmean / n, x, self.axis), dx.type.dtype)
        if not ops.is_zero(dvariance):
            slope = per_channel(dvariance * (2.0 / n), x, self.axis)
            dx = dx + ops.cast(centred(wide, mean, self.axis) * slope, dx.type.dtype)
        return (dx, dgamma, dbeta)

    @in_f32
    def decompose(self, x: Value, gamma: Value, beta: Value) -> tuple[Value, ...] | None:
        if x.type.rank is None:
            return None
        axes = other_axes(self.axis, x.type.rank)
        mean = ops.mean(x, axes)
        variance = ops.mean(ops.square(centred(x, mean, self.axis)), axes)
        scale = per_channel(ops.rsqrt(variance + self.epsilon) * gamma, x, self.axis)
        y = centred(x, mean, self.axis) * scale + per_channel(beta, x, self.axis)
        return (y, mean, variance)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, c in _samples():
            yield Sample(cls(axis), (x, c, c))


@dataclass(frozen=True)
class BatchNormGradient(Op):
    """dx, dgamma, dbeta of `BatchNorm`, with the statistics it gave.

    With h = (x - mean) / sqrt(variance + epsilon), sums over all axes but `axis`, n elements each:

        dbeta = sum(dy)    dgamma = sum(dy * h)
        dx = gamma / sqrt(variance + epsilon) * (dy - dbeta / n - h * dgamma / n)
    """

    axis: int = 1
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
        both = meet_types(self.name, x, dy)
        statistics = _statistics(self, x, mean, variance)
        c = _channels(self, self.axis, both, gamma, *statistics)
        same_dtype(self.name, x, dy)
        return (_with_channels(both, self.axis, c), c, c)

    infer_unranked = infer

    def evaluate(
        self, x: Array, gamma: Array, mean: Array, variance: Array, dy: Array
    ) -> tuple[Array, ...]:
        axes = other_axes(self.axis, x.ndim)
        with np.errstate(all="ignore"):
            n = np.float64(x.size) / np.float64(gamma.size)
            scale = 1 / np.sqrt(variance.astype(np.float64) + self.epsilon)
            h = (x - _beside(mean.astype(np.float64), x, self.axis)) * _beside(scale, x, self.axis)
            dbeta, dgamma = dy.sum(axes, dtype=np.float64), (dy * h).sum(axes)
            inner = dy - _beside(dbeta / n, x, self.axis) - h * _beside(dgamma / n, x, self.axis)
            dx = inner * _beside(gamma * scale, x, self.axis)
        return (narrow(dx, x.dtype), narrow(dgamma, x.dtype), narrow(dbeta, x.dtype))

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return ops.gradient_by_decomposition(node, *dys)

    @in_f32
    def decompose(
        self, x: Value, gamma: Value, mean: Value, variance: Value, dy: Value
    ) -> tuple[Value, ...] | None:
        if x.type.rank is None:
            return None
        axes = other_axes(self.axis, x.type.rank)
        deviation = ops.rsqrt(variance + self.epsilon)
        h = centred(x, mean, self.axis) * per_channel(deviation, x, self.axis)
        dyh = dy * h
        slope = h * per_channel(ops.mean(dyh, axes), x, self.axis)
        inner = dy - per_channel(ops.mean(dy, axes), x, self.axis) - slope
        dx = per_channel(gamma * deviation, x, self.axis) * inner
        return (dx, ops.sum(dyh, axes), ops.sum(dy, axes))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Of half types also, where the statistics are not of the type of the others."""
        for axis, x, c in _samples():
            for dtype in ("f32", "f16", "bf16"):
                y, d = (TensorType(dtype, t.shape) for t in (x, c))
                yield Sample(cls(axis), (y, d, c, c, y), (*[(-1, 1)] * 3, (0.5, 2), (-1, 1)))


@dataclass(frozen=True)
class BatchNormInference(Op):
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, with statistics that are given.

    x, y: any shape with `channels` at `axis`; the others: [channels], and statistics of half types
    also in f32, as `BatchNorm` gives them.
    """

    axis: int = 1
    epsilon: float = 1e-5

    inplace = ((0, 0),)
    pattern = "broadcast"

    def infer(
        self,
        x: TensorType,
        gamma: TensorType,
        beta: TensorType,
        mean: TensorType,
        variance: TensorType,
    ) -> Types:
        if x.dtype not in (mean.dtype, variance.dtype):
            mean, variance = _statistics(self, x, mean, variance)
        c = _channels(self, self.axis, x, gamma, beta, mean, variance)
        return (_with_channels(x, self.axis, c),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        return _back(self, self.axis, inputs, outputs)

    def evaluate(
        self, x: Array, gamma: Array, beta: Array, mean: Array, variance: Array
    ) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return _affine(x, gamma, beta, mean, variance, self.axis, self.epsilon)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return ops.gradient_by_decomposition(node, dy)

    @in_f32
    def decompose(
        self, x: Value, gamma: Value, beta: Value, mean: Value, variance: Value
    ) -> tuple[Value, ...]:
        scale = per_channel(ops.rsqrt(variance + self.epsilon) * gamma, x, self.axis)
        return (centred(x, mean, self.axis) * scale + per_channel(beta, x, self.axis),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, c in _samples():
            yield Sample(cls(axis), (x, c, c, c, c), (*[(-1, 1)] * 4, (0.5, 2)))


def batch_norm(
    x: Value, gamma: Value, beta: Value, axis: int = 1, epsilon: float = 1e-5
) -> tuple[Value, Value, Value]:
    """(y, mean, variance) of a batch, in training; the statistics go to `moving_average`."""
    op = BatchNorm(_normal("batch_norm", axis, x), epsilon)
    y, mean, variance = op.outputs_of(x, gamma, beta)
    return y, mean, variance


def batch_norm_inference(
    x: Value,
    gamma: Value,
    beta: Value,
    mean: Value,
    variance: Value,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> Value:
    """Batch normalisation by moving statistics."""
    op = BatchNormInference(_normal("batch_norm_inference", axis, x), epsilon)
    return op(x, gamma, beta, mean, variance)


def moving_average(old: Value, new: Value, momentum: float = 0.99) -> Value:
    """old * momentum + new * (1 - momentum): the value a variable of statistics takes next."""
    return old - (old - new) * (1 - momentum)


def other_axes(axis: int, rank: int) -> tuple[int, ...]:
    """All axes but the one of the channels."""
    return tuple(a for a in range(rank) if a != axis % rank)


def per_channel(v: Value, x: Value, axis: int) -> Value:
    """[channels] -> [channels, 1, 1], which broadcasts against x with its channels at `axis`."""
    assert x.type.rank is not None
    trailing = x.type.rank - 1 - axis % x.type.rank
    return ops.expand_dims(v, tuple(range(1, 1 + trailing))) if trailing else v


def centred(x: Value, mean: Value, axis: int) -> Value:
    """x - mean, channel by channel."""
    return x - per_channel(mean, x, axis)


def _normal(name: str, axis: int, x: Value) -> int:
    return axis if x.type.rank is None else normal_axis(name, axis, x.type.rank)


def _affine(
    x: Array, gamma: Array, beta: Array, mean: Array, variance: Array, axis: int, epsilon: float
) -> tuple[Array, ...]:
    deviation = np.sqrt(variance.astype(np.float64) + epsilon)
    scale, shift = gamma.astype(np.float64) / deviation, beta.astype(np.float64)
    m, scale, shift = (_beside(v, x, axis) for v in (mean.astype(np.float64), scale, shift))
    return (narrow((x - m) * scale + shift, x.dtype),)


def _beside(v: Array, x: Array, axis: int) -> Array:
    """[channels] -> [1, channels, 1, 1], as `axis` of x wants."""
    return np.expand_dims(v, other_axes(axis, x.ndim))


def _channels(op: Op, axis: int, x: TensorType, *vectors: TensorType) -> TensorType:
    """[channels], with all that x at `axis` and the vectors know of it."""
    same_dtype(op.name, *floats(op, x), *vectors)
    c: Dimension = None if x.shape is None else x.shape[normal_axis(op.name, axis, len(x.shape))]
    for t in vectors:
        if t.shape is None:
            continue
        what = f"x is {x}, with its channels at axis {axis}, and a parameter is {t}"
        if len(t.shape) != 1:
            raise ShapeError(f"{op.name}: {what}, of rank {t.rank} and not 1")
        c = meet_dims(op.name, c, t.shape[0], what)
    return TensorType(x.dtype, (c,))


def _summed(channels: TensorType) -> TensorType:
    """The type of statistics of channels."""
    return TensorType(sum_dtype(channels.dtype), channels.shape)


def _statistics(op: Op, x: TensorType, *given: TensorType) -> tuple[TensorType, ...]:
    """The types of statistics, as if they were of the dtype of x; they are of `sum_dtype`."""
    same_dtype(op.name, TensorType(sum_dtype(x.dtype), None), *given)
    return tuple(TensorType(x.dtype, t.shape) for t in given)


def _with_channels(x: TensorType, axis: int, channels: TensorType) -> TensorType:
    if x.shape is None or channels.shape is None:
        return x
    a = axis % len(x.shape)
    return TensorType(x.dtype, (*x.shape[:a], channels.shape[0], *x.shape[a + 1 :]))


def _back(op: Op, axis: int, inputs: Types, outputs: Types) -> Types:
    """The shape rule backwards: y tells x, and x at `axis` tells every parameter."""
    x = meet_types(op.name, inputs[0], outputs[0])
    vectors = (TensorType(x.dtype, t.shape) for t in (*inputs[1:], *outputs[1:]))
    c = _channels(op, axis, x, *vectors)
    return (_with_channels(x, axis, c), *(TensorType(t.dtype, c.shape) for t in inputs[1:]))


def _samples() -> Iterator[tuple[int, TensorType, TensorType]]:
    """(axis, type of x, type of a parameter); no empty batch, which has no statistics."""
    for shape, axis in (((4, 3), 1), ((2, 3, 2, 2), 1), ((2, 2, 3), -1), ((3, 4), 0)):
        yield axis, TensorType("f32", shape), TensorType("f32", (shape[axis],))
