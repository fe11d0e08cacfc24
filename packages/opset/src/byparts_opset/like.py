"""Shapes taken from another value, for gradients of programs whose shapes are not known yet.

`x + b` of unknown shapes: the gradient of `b` sums over whatever axes broadcasting added, and only
the running program knows which.  These ops say "as that one": they read the type of `like`, never
its bytes (`ignores`), and with enough of the types known each is an ordinary static op, or nothing
(`canonical`), so a static graph never carries one.  The functions go straight there if they can.
Where dimensions have names, an op stays as it is until the graph is lowered, since it can be
evaluated on arrays of any size; then it is an ordinary op on the names (`decompose`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import prod
from typing import ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Dimension,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_opset.broadcast import broadcast_shape, meet_dims, normal_axes, same_shape
from byparts_opset.constant import Number, exact
from byparts_opset.dtypes import NUMBERS, Array, dtype_name, narrow, require, total_dtype, wide
from byparts_opset.elementwise import flat


class Like(Op):
    """y, of the dtype of x, in the shape of `like`.

    Attributes:
        cases: shapes of x and of `like` in the samples.
    """

    ignores = (1,)
    cases: ClassVar[tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]]

    def check(self, x: TensorType, like: TensorType) -> None:
        """Raise ShapeError where the types do not fit."""
        raise NotImplementedError(f"{type(self).__name__}: write `check`")

    def infer(self, x: TensorType, like: TensorType) -> Types:
        self.check(x, like)
        return (TensorType(x.dtype, like.shape),)

    infer_unranked = infer

    def known(self, x: Value, like: Value) -> Value | None:
        """The same by ordinary ops on numbers and names; `None` where a dimension is unknown."""
        raise NotImplementedError(f"{type(self).__name__}: write `known`")

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return self.simplest(*node.inputs)

    def simplest(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        """The same by ops that can be evaluated; `None` where there are none."""
        whole = same_shape(x.type, like.type) or like.type.static
        return self.decompose(x, like) if whole else None

    def decompose(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        y = x if same_shape(x.type, like.type) else self.known(x, like)
        return None if y is None else (y,)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shapes in cls.cases:
            yield Sample(cls(), tuple(TensorType("f32", shape) for shape in shapes))


class BroadcastLike(Like):
    """y = x repeated, by NumPy's broadcasting, into the shape of `like`."""

    pattern = "broadcast"
    cases = (((3, 1), (2, 3, 4)), ((), (2,)), ((2,), (2,)), ((1,), (0,)))

    def check(self, x: TensorType, like: TensorType) -> None:
        _check_fits(self.name, x, like)

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        return (np.broadcast_to(x, like.shape).copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (sum_like(dy, node.inputs[0]), None)

    def known(self, x: Value, like: Value) -> Value | None:
        shape = _known_shape(like)
        return None if shape is None else ops.BroadcastTo(shape)(x)


class SumLike(Like):
    """y = x summed over the axes along which something of the shape of `like` was repeated."""

    pattern = "reduction"
    cases = (((2, 3, 4), (3, 1)), ((2,), ()), ((2,), (2,)), ((0, 3), (1, 3)))

    def check(self, x: TensorType, like: TensorType) -> None:
        require(self.name, x, NUMBERS, "cast(x, 'i32') first")
        _check_fits(self.name, like, x)

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        lead, w = x.ndim - like.ndim, wide(x)
        ones = tuple(lead + i for i, d in enumerate(like.shape) if d == 1)
        y = w.sum((*range(lead), *ones), total_dtype(w.dtype), keepdims=True)
        return (narrow(y.reshape(y.shape[lead:]), x.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (broadcast_like(dy, node.inputs[0]), None)

    def simplest(self, x: Value, like: Value) -> tuple[Value, ...] | None:
        return self.decompose(x, like)  # which names no dimension in an op

    def known(self, x: Value, like: Value) -> Value | None:
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


class ReshapeLike(Like):
    """y = the elements of x, in order, in the shape of `like`."""

    pattern = "injective"
    cases = (((2, 3), (6,)), ((), (1, 1)), ((0, 3), (3, 0)), ((2,), (2,)))

    def check(self, x: TensorType, like: TensorType) -> None:
        if x.static and like.static and x.size != like.size:
            raise ShapeError(f"reshape_like: {x} has {x.size} elements, {like} has {like.size}")

    def views(self, x: TensorType, like: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def evaluate(self, x: Array, like: Array) -> tuple[Array, ...]:
        return (x.reshape(like.shape).copy(),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (reshape_like(dy, node.inputs[0]), None)

    def known(self, x: Value, like: Value) -> Value | None:
        shape = _known_shape(like)
        return None if shape is None else ops.Reshape(shape)(x)


class CountLike(Op):
    """y = how many elements x has along `axes` (`None`: all of them), 0-d, in the dtype of x."""

    axes: tuple[int, ...] | None = None

    ignores = (0,)
    gradient = flat

    def infer(self, x: TensorType) -> Types:
        normal_axes(self.name, self.axes, len(x.shape or ()))
        return self.infer_unranked(x)

    def infer_unranked(self, x: TensorType) -> Types:
        return (TensorType(require(self.name, x, NUMBERS, "cast(x, 'i32') first").dtype, ()),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        axes = normal_axes(self.name, self.axes, x.ndim)
        return (narrow(exact(prod(x.shape[a] for a in axes), dtype_name(x.dtype)), x.dtype),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return self.simplest(*node.inputs)

    def simplest(self, x: Value) -> tuple[Value, ...] | None:
        """The count as a number; `None` where a dimension has a name or is unknown."""
        count = self._count(x)
        return (ops.fill(count, x.type.dtype),) if isinstance(count, int) else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        count = self._count(x)
        return None if count is None else (ops.Fill(count, x.type.dtype)(),)

    def _count(self, x: Value) -> int | str | None:
        if x.type.shape is None:
            return None
        dims = [x.type.shape[a] for a in normal_axes(self.name, self.axes, len(x.type.shape))]
        return None if None in dims else dimension("*".join(["1", *[f"({d})" for d in dims]]))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, shape in ((None, (2, 3)), ((-1,), (2, 3)), (None, ())):
            yield Sample(cls(axes), (TensorType("f32", shape),))


_BROADCAST, _SUM, _RESHAPE = BroadcastLike(), SumLike(), ReshapeLike()


def broadcast_like(x: Value, like: Value) -> Value:
    """x broadcast to the shape of `like`."""
    return _simplest(_BROADCAST, x, like)


def sum_like(x: Value, like: Value) -> Value:
    """x, broadcast from the shape of `like`, summed back to it: the reverse of `broadcast_like`."""
    return _simplest(_SUM, x, like)


def reshape_like(x: Value, like: Value) -> Value:
    """x in the shape of `like`."""
    return _simplest(_RESHAPE, x, like)


def count_like(x: Value, axis: int | Iterable[int] | None = None) -> Value:
    """Number of elements of x along an axis, several or all, as a 0-d value of its dtype."""
    axes = (axis,) if isinstance(axis, int) else axis
    return _simplest(CountLike(None if axes is None else tuple(axes)), x)


def fill_like(x: Value, value: Number) -> Value:
    """A value of the type of x that is one number everywhere."""
    if x.type.static:
        return ops.fill(value, x.type.dtype, x.type.dims)
    return broadcast_like(ops.fill(value, x.type.dtype), x)


def zeros_like(x: Value) -> Value:
    """0 in the type of x."""
    return fill_like(x, 0)


def ones_like(x: Value) -> Value:
    """1 in the type of x."""
    return fill_like(x, 1)


def _simplest(op: Like | CountLike, *inputs: Value) -> Value:
    """By ordinary ops where the types tell enough."""
    outputs = op.simplest(*inputs)
    return op(*inputs) if outputs is None else outputs[0]


def _known_shape(x: Value) -> tuple[int | str, ...] | None:
    """The shape of x in numbers and names; `None` if a dimension is unknown."""
    if x.type.shape is None:
        return None
    known = tuple([d for d in x.type.shape if d is not None])
    return known if len(known) == len(x.type.shape) else None


def _decided(d: Dimension, to: Dimension) -> bool:
    """Whether the types tell if a dimension `d` was repeated from `to`."""
    return isinstance(to, int) or (to is not None and d == to)


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
