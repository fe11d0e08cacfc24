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
from byparts_opset.broadcast import given_axis, meet_dims, meet_types, normal_axis, same_dtype
from byparts_opset.dtypes import Array, dtype_name, narrow, numpy_dtype, require
from byparts_opset.half import in_f32, sum_dtype, widened


class Channelwise(Op):
    """An op on x with its channels at `axis`, and on parameters and statistics of each channel."""

    axis: int = 1
    epsilon: float = 1e-5

    def channels(self, x: TensorType, *vectors: TensorType) -> TensorType:
        """[channels], with all that x at `axis` and the vectors know of it.

        Raises:
            ShapeError: dtypes or sizes differ, x is of integers, or a vector is none.
        """
        same_dtype(self.name, require(self.name, x, FLOATS), *vectors)
        c: Dimension = None
        if x.shape is not None:
            c = x.shape[normal_axis(self.name, self.axis, len(x.shape))]
        for t in vectors:
            if t.shape is None:
                continue
            what = f"x is {x}, with its channels at axis {self.axis}, and a parameter is {t}"
            if len(t.shape) != 1:
                raise ShapeError(f"{self.name}: {what}, of rank {t.rank} and not 1")
            c = meet_dims(self.name, c, t.shape[0], what)
        return TensorType(x.dtype, (c,))

    def with_channels(self, x: TensorType, channels: TensorType) -> TensorType:
        """The type of x, with the size of `channels` at `axis`."""
        if x.shape is None or channels.shape is None:
            return x
        a = self.axis % len(x.shape)
        return TensorType(x.dtype, (*x.shape[:a], channels.shape[0], *x.shape[a + 1 :]))

    def statistics(self, x: TensorType, *given: TensorType) -> Types:
        """Check that statistics have `sum_dtype`; returns their types with the dtype of x."""
        same_dtype(self.name, TensorType(sum_dtype(x.dtype), None), *given)
        return tuple(TensorType(x.dtype, t.shape) for t in given)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        """Take the shape of x from y, and that of each parameter from the axis of the channels."""
        x = meet_types(self.name, inputs[0], outputs[0])
        vectors = (TensorType(x.dtype, t.shape) for t in (*inputs[1:], *outputs[1:]))
        c = self.channels(x, *vectors)
        return (self.with_channels(x, c), *(TensorType(t.dtype, c.shape) for t in inputs[1:]))

    def beside(self, v: Value, x: Value) -> Value:
        """[channels] -> [channels, 1, 1], which broadcasts against x."""
        assert x.type.rank is not None
        trailing = x.type.rank - 1 - self.axis % x.type.rank
        return ops.expand_dims(v, tuple(range(1, 1 + trailing))) if trailing else v

    def centred(self, x: Value, mean: Value) -> Value:
        """x - mean, channel by channel."""
        return x - self.beside(mean, x)


class BatchNorm(Channelwise):
    """y, mean, variance: x normalised over all axes but `axis`, by its own (biased) statistics.

    x, y: any shape with `channels` at `axis`; gamma, beta: [channels]; mean, variance: [channels],
    in f32 for half types, where the variance of numbers above 256 would be infinite.
    """

    inplace = ((0, 0),)

    def infer(self, x: TensorType, gamma: TensorType, beta: TensorType) -> Types:
        c = self.channels(x, gamma, beta)
        return (self.with_channels(x, c), _summed(c), _summed(c))

    infer_unranked = infer

    def evaluate(self, x: Array, gamma: Array, beta: Array) -> tuple[Array, ...]:
        axes = other_axes(self.axis, x.ndim)
        with np.errstate(all="ignore"):
            n = np.float64(x.size) / np.float64(gamma.size)
            mean = x.sum(axes, dtype=np.float64) / n
            xc = x - _beside(mean, x, self.axis)
            variance = np.square(xc).sum(axes) / n
            dtype = numpy_dtype(sum_dtype(dtype_name(x.dtype)))
            variance = narrow(variance, dtype)
            (y,) = _affine(x, gamma, beta, mean, variance, self.axis, self.epsilon)
            return (y, narrow(mean, dtype), variance)

    def gradient(
        self, node: Node, dy: Value, dmean: Value, dvariance: Value
    ) -> tuple[Value | None, ...]:
        (x, gamma, _), (_, mean, variance) = node.inputs, node.outputs
        op = BatchNormGradient(self.axis, self.epsilon)
        dx, dgamma, dbeta = op.outputs_of(x, gamma, mean, variance, dy)
        wide = widened(x)
        n = ops.count_like(wide) / ops.count_like(widened(gamma))
        if not ops.is_zero(dmean):
            dx = dx + ops.cast(self.beside(dmean / n, x), dx.type.dtype)
        if not ops.is_zero(dvariance):
            slope = self.beside(dvariance * (2.0 / n), x)
            dx = dx + ops.cast(self.centred(wide, mean) * slope, dx.type.dtype)
        return (dx, dgamma, dbeta)

    @in_f32
    def decompose(self, x: Value, gamma: Value, beta: Value) -> tuple[Value, ...] | None:
        if x.type.rank is None:
            return None
        axes = other_axes(self.axis, x.type.rank)
        mean = ops.mean(x, axes)
        variance = ops.mean(ops.square(self.centred(x, mean)), axes)
        scale = self.beside(ops.rsqrt(variance + self.epsilon) * gamma, x)
        y = self.centred(x, mean) * scale + self.beside(beta, x)
        return (y, mean, variance)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, c in _samples():
            yield Sample(cls(axis), (x, c, c))


class BatchNormGradient(Channelwise):
    """dx, dgamma, dbeta of `BatchNorm`, with the statistics it gave.

    With h = (x - mean) / sqrt(variance + epsilon), sums over all axes but `axis`, n elements each:

        dbeta = sum(dy)    dgamma = sum(dy * h)
        dx = gamma / sqrt(variance + epsilon) * (dy - dbeta / n - h * dgamma / n)
    """

    inplace = ((4, 0),)
    infer_inputs = Op.infer_inputs  # that of the family is for one x and vectors; dy is none

    def infer(
        self,
        x: TensorType,
        gamma: TensorType,
        mean: TensorType,
        variance: TensorType,
        dy: TensorType,
    ) -> Types:
        both = meet_types(self.name, x, dy)
        statistics = self.statistics(x, mean, variance)
        c = self.channels(both, gamma, *statistics)
        same_dtype(self.name, x, dy)
        return (self.with_channels(both, c), c, c)

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
        h = self.centred(x, mean) * self.beside(deviation, x)
        dyh = dy * h
        slope = h * self.beside(ops.mean(dyh, axes), x)
        inner = dy - self.beside(ops.mean(dy, axes), x) - slope
        dx = self.beside(gamma * deviation, x) * inner
        return (dx, ops.sum(dyh, axes), ops.sum(dy, axes))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """In half types, too, for which the statistics have another dtype than the other inputs."""
        for axis, x, c in _samples():
            for dtype in ("f32", "f16", "bf16"):
                y, d = (TensorType(dtype, t.shape) for t in (x, c))
                yield Sample(cls(axis), (y, d, c, c, y), (*[(-1, 1)] * 3, (0.5, 2), (-1, 1)))


class BatchNormInference(Channelwise):
    """y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, with statistics that are given.

    x, y: any shape with `channels` at `axis`; the others: [channels], and statistics of half types
    also in f32, as `BatchNorm` gives them.
    """

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
            mean, variance = self.statistics(x, mean, variance)
        c = self.channels(x, gamma, beta, mean, variance)
        return (self.with_channels(x, c),)

    infer_unranked = infer

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
        scale = self.beside(ops.rsqrt(variance + self.epsilon) * gamma, x)
        return (self.centred(x, mean) * scale + self.beside(beta, x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, x, c in _samples():
            yield Sample(cls(axis), (x, c, c, c, c), (*[(-1, 1)] * 4, (0.5, 2)))


def batch_norm(
    x: Value, gamma: Value, beta: Value, axis: int = 1, epsilon: float = 1e-5
) -> tuple[Value, Value, Value]:
    """(y, mean, variance) of a batch, in training; the statistics go to `moving_average`."""
    op = BatchNorm(given_axis("batch_norm", axis, x), epsilon)
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
    op = BatchNormInference(given_axis("batch_norm_inference", axis, x), epsilon)
    return op(x, gamma, beta, mean, variance)


def moving_average(old: Value, new: Value, momentum: float = 0.99) -> Value:
    """old * momentum + new * (1 - momentum): the value a variable of statistics takes next."""
    return old - (old - new) * (1 - momentum)


def other_axes(axis: int, rank: int) -> tuple[int, ...]:
    """All axes but the one of the channels."""
    return tuple(a for a in range(rank) if a != axis % rank)


def _affine(
    x: Array, gamma: Array, beta: Array, mean: Array, variance: Array, axis: int, epsilon: float
) -> tuple[Array, ...]:
    deviation = np.sqrt(variance.astype(np.float64) + epsilon)
    scale, shift = gamma.astype(np.float64) / deviation, beta.astype(np.float64)
    m, scale, shift = (_beside(v, x, axis) for v in (mean.astype(np.float64), scale, shift))
    return (narrow((x - m) * scale + shift, x.dtype),)


def _beside(v: Array, x: Array, axis: int) -> Array:
    """[channels] -> [1, channels, 1, 1], with the channels at `axis`, to broadcast against x."""
    return np.expand_dims(v, other_axes(axis, x.ndim))


def _summed(channels: TensorType) -> TensorType:
    """The type of statistics of channels."""
    return TensorType(sum_dtype(channels.dtype), channels.shape)


def _samples() -> Iterator[tuple[int, TensorType, TensorType]]:
    """(axis, type of x, type of a parameter); no empty batch, which has no statistics."""
    for shape, axis in (((4, 3), 1), ((2, 3, 2, 2), 1), ((2, 2, 3), -1), ((3, 4), 0)):
        yield axis, TensorType("f32", shape), TensorType("f32", (shape[axis],))
