"""Shapes taken from another value, for gradients of programs whose shapes are not known yet.

`x + b` of unknown shapes: the gradient of `b` sums over whatever axes broadcasting added, and only
the running program knows which.  These ops say "as that one": they read the type of `like`, never
its bytes (`ignores`), and with enough of the types known each is an ordinary static op, or nothing
(`canonical`), so a static graph never carries one.  The functions go straight there if they can.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.broadcast import broadcast_shape, meet_dims, normal_axes, same_shape
from byparts_opset.constant import Number, exact
from byparts_opset.dtypes import Array, dtype_name, narrow, wide


@dataclass(frozen=True)
class BroadcastLike(Op):
    """y = x repeated, by NumPy's broadcasting, into the shape of `like`."""

    ignores = (1,)
    pattern = "broadcast"

    def infer(self, x: TensorType, like: TensorType) -> Types:
        _check_fits(self.name, x, like)
        return (TensorType(x.dtype, like.shape),)

    infer_unranked = infer

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        return (np.broadcast_to(x, like.shape).copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (sum_like(dy, node.inputs[0]), None)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return _one(_broadcast(*node.inputs))

    def decompose(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        return _one(_broadcast(x, like))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for x, like in (((3, 1), (2, 3, 4)), ((), (2,)), ((2,), (2,)), ((1,), (0,))):
            yield Sample(cls(), (TensorType("f32", x), TensorType("f32", like)))


@dataclass(frozen=True)
class SumLike(Op):
    """y = x summed over the axes along which something of the shape of `like` was repeated."""

    ignores = (1,)
    pattern = "reduction"

    def infer(self, x: TensorType, like: TensorType) -> Types:
        _check_number(self.name, x)
        _check_fits(self.name, like, x)
        return (TensorType(x.dtype, like.shape),)

    infer_unranked = infer

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        lead = x.ndim - like.ndim
        y = wide(x).sum(axis=tuple(range(lead)))
        ones = tuple(i for i, d in enumerate(like.shape) if d == 1)
        return (narrow(np.sum(y, axis=ones, keepdims=True), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (broadcast_like(dy, node.inputs[0]), None)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return _one(_sum(*node.inputs))

    def decompose(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        return _one(_sum(x, like))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for x, like in (((2, 3, 4), (3, 1)), ((2,), ()), ((2,), (2,)), ((0, 3), (1, 3))):
            yield Sample(cls(), (TensorType("f32", x), TensorType("f32", like)))


@dataclass(frozen=True)
class ReshapeLike(Op):
    """y = the elements of x, in order, in the shape of `like`."""

    ignores = (1,)
    pattern = "injective"

    def infer(self, x: TensorType, like: TensorType) -> Types:
        if x.static and like.static and x.size != like.size:
            raise ShapeError(f"reshape_like: {x} has {x.size} elements, {like} has {like.size}")
        return (TensorType(x.dtype, like.shape),)

    infer_unranked = infer

    def views(self, x: TensorType, like: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        return (x.reshape(like.shape).copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (reshape_like(dy, node.inputs[0]), None)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return _one(_reshape(*node.inputs))

    def decompose(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        return _one(_reshape(x, like))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for x, like in (((2, 3), (6,)), ((), (1, 1)), ((0, 3), (3, 0)), ((2,), (2,))):
            yield Sample(cls(), (TensorType("f32", x), TensorType("f32", like)))


@dataclass(frozen=True)
class CountLike(Op):
    """y = how many elements x has along `axes` (`None`: all of them), 0-d, in the dtype of x."""

    axes: tuple[int, ...] | None = None

    ignores = (0,)

    def infer(self, x: TensorType) -> Types:
        normal_axes(self.name, self.axes, len(x.shape or ()))
        return self.infer_unranked(x)

    def infer_unranked(self, x: TensorType) -> Types:
        _check_number(self.name, x)
        return (TensorType(x.dtype, ()),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        axes = normal_axes(self.name, self.axes, x.ndim)
        return (narrow(exact(prod(x.shape[a] for a in axes), dtype_name(x.dtype)), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (None,)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return _one(_count(node.inputs[0], self.axes))

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return _one(_count(x, self.axes))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        yield Sample(cls(), (TensorType("f32", (2, 3)),))
        yield Sample(cls((-1,)), (TensorType("f32", (2, 3)),))
        yield Sample(cls(), (TensorType("f32", ()),))


def broadcast_like(x: Value, like: Value) -> Value:
    """x broadcast to the shape of `like`."""
    y = _broadcast(x, like)
    return BroadcastLike()(x, like) if y is None else y


def sum_like(x: Value, like: Value) -> Value:
    """x, broadcast from the shape of `like`, summed back to it: the reverse of `broadcast_like`."""
    y = _sum(x, like)
    return SumLike()(x, like) if y is None else y


def reshape_like(x: Value, like: Value) -> Value:
    """x in the shape of `like`."""
    y = _reshape(x, like)
    return ReshapeLike()(x, like) if y is None else y


def count_like(x: Value, axes: Iterable[int] | None = None) -> Value:
    """How many elements x has along `axes`, as a 0-d value of its dtype."""
    axes = None if axes is None else tuple(axes)
    y = _count(x, axes)
    return CountLike(axes)(x) if y is None else y


def fill_like(x: Value, value: Number) -> Value:
    """One number in the type of x."""
    if x.type.static:
        return ops.fill(value, x.type.dtype, x.type.dims)
    return broadcast_like(ops.fill(value, x.type.dtype), x)


def zeros_like(x: Value) -> Value:
    """0 in the type of x."""
    return fill_like(x, 0)


def ones_like(x: Value) -> Value:
    """1 in the type of x."""
    return fill_like(x, 1)


# The static form of each, as far as the types tell, or None.


def _broadcast(x: Value, like: Value) -> Value | None:
    if same_shape(x.type, like.type):
        return x
    if not like.type.static:
        return None
    return ops.BroadcastTo(like.type.dims)(x)


def _sum(x: Value, like: Value) -> Value | None:
    if same_shape(x.type, like.type):
        return x
    if x.type.shape is None or like.type.shape is None:
        return None
    lead = len(x.type.shape) - len(like.type.shape)
    pairs = list(zip(x.type.shape[lead:], like.type.shape, strict=True))
    if not all(_decided(d, to) for d, to in pairs):
        return None
    ones = tuple(i for i, (d, to) in enumerate(pairs) if to == 1 and d != 1)
    if not lead:
        return ops.Sum(ones, True)(x)
    y = ops.Sum((*range(lead), *(lead + i for i in ones)), False)(x)
    return ops.ExpandDims(ones)(y) if ones else y


def _reshape(x: Value, like: Value) -> Value | None:
    if same_shape(x.type, like.type):
        return x
    if not like.type.static:
        return None
    return ops.Reshape(like.type.dims)(x)


def _count(x: Value, axes: tuple[int, ...] | None) -> Value | None:
    if x.type.shape is None:
        return None
    dims = [x.type.shape[a] for a in normal_axes("count_like", axes, len(x.type.shape))]
    known = [d for d in dims if isinstance(d, int)]
    return ops.fill(prod(known), x.type.dtype) if len(known) == len(dims) else None


def _decided(d: Dimension, to: Dimension) -> bool:
    """Whether it is known if a dimension `d` was repeated from `to`."""
    return isinstance(to, int) or (to is not None and d == to)


def _check_number(name: str, x: TensorType) -> None:
    if x.dtype == "bool":
        raise ShapeError(f"{name}: bool has no arithmetic, got {x}; cast(x, 'i32') first")


def _check_fits(name: str, x: TensorType, like: TensorType) -> None:
    """x broadcasts to exactly the shape of `like`, as far as known."""
    if x.shape is None or like.shape is None:
        return
    joined = broadcast_shape(name, x, like)
    what = f"{x} does not broadcast to {like}"
    if joined is None or len(joined) != len(like.shape):
        raise ShapeError(f"{name}: {what}, rank {x.rank} over {like.rank}")
    for a, b in zip(joined, like.shape, strict=True):
        meet_dims(name, a, b, what)


def _one(y: Value | None) -> tuple[Value, ...] | None:
    return None if y is None else (y,)
