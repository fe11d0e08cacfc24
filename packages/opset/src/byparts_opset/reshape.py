"""The same elements in the same order under another shape: views, which move nothing.

A new shape may name symbols of the program ("n"), and one dimension may be -1: whatever is left.
What is left is worked out as far as it can be: f32[n,28,28] as (-1, 784) is f32[n,784].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import prod
from typing import Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    Dimension,
    GraphError,
    Node,
    Op,
    Sample,
    Shape,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_opset.broadcast import given_axes, normal_axes
from byparts_opset.dtypes import Array


class View(Op):
    """y = the elements of x, in order, in another shape: the same bytes."""

    pattern = "injective"

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        return ((0, 0, 0),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.reshape_like(dy, node.inputs[0]),)

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        """A `Reshape`, where the shape of y can be written as its field."""
        (y,) = Node(self, (x,)).outputs
        target = as_target(y.type.shape)
        return None if target is None else (Reshape(target)(x),)


class Reshape(View):
    """y = the elements of x in `shape`: numbers, symbols, and at most one -1 for what is left."""

    shape: tuple[Union[int, str], ...]

    shape_fields = ("shape",)

    def infer(self, x: TensorType) -> Types:
        _check_target(self.shape)
        left = _left(x, self.shape)
        return (TensorType(x.dtype, tuple(left if d == -1 else d for d in self.shape)),)

    def infer_unranked(self, x: TensorType) -> Types:
        _check_target(self.shape)
        return (TensorType(x.dtype, tuple(None if d == -1 else d for d in self.shape)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        names = {d for d in self.shape if isinstance(d, str)}
        if len(names) > 1 or (names and -1 in self.shape):
            raise GraphError(f"reshape: the symbols of shape {self.shape} are not bound yet")
        bound = tuple(-1 if d in names else d for d in self.shape)  # a lone symbol is what is left
        (y,) = Reshape(bound).infer(TensorType("f32", x.shape))
        return (np.array(x.reshape(y.dims)),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,), (y,) = node.inputs, node.outputs
        if y.type.static and x.type == y.type:
            return (x,)
        known = y.type.static and y.type.dims != self.shape
        return (Reshape(y.type.dims)(x),) if known else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        return None  # this is what the other views are made of

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape, x in (((6,), (2, 3)), ((3, -1), (2, 3)), ((1, 1), ()), ((), (1,))):
            yield Sample(cls(shape), (TensorType("f32", x),))
        yield Sample(cls((3, 0)), (TensorType("f32", (0, 2)),))
        yield Sample(cls((-1, 2)), (TensorType("f32", (0, 4)),))


class Flatten(View):
    """y = x as a matrix: the first axis stays, the others become one."""

    def infer(self, x: TensorType) -> Types:
        if x.shape == ():
            raise ShapeError(f"flatten: x is {x}, which has no first axis to keep")
        first, *rest = x.shape or ()
        return (TensorType(x.dtype, (first, _product(rest))),)

    def infer_unranked(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, (None, None)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(x.reshape(x.shape[0], prod(x.shape[1:]))),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,) = node.inputs
        return (x,) if x.type.rank == 2 else self.decompose(x)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((2, 3, 4), (3,), (0, 2, 3), (2, 0, 3)):
            yield Sample(cls(), (TensorType("f32", shape),))


class ExpandDims(View):
    """y = x with axes of size 1; `axes` are where they stand in y."""

    axes: tuple[int, ...]

    def infer(self, x: TensorType) -> Types:
        old = list(x.shape or ())
        rank = len(old) + len(self.axes)
        axes = normal_axes(self.name, self.axes, rank)
        shape = tuple(1 if i in axes else old.pop(0) for i in range(rank))
        return (TensorType(x.dtype, shape),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        (x,), (y,) = inputs, outputs
        if y.shape is None:
            return inputs
        axes = normal_axes(self.name, self.axes, len(y.shape))
        return (TensorType(x.dtype, tuple(d for i, d in enumerate(y.shape) if i not in axes)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.expand_dims(x, self.axes)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (Squeeze(self.axes)(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return node.inputs if not self.axes else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, shape in (((0,), (2, 3)), ((1, -1), (2, 3)), ((0,), ()), ((-1,), (0, 2))):
            yield Sample(cls(axes), (TensorType("f32", shape),))


class Squeeze(View):
    """y = x without `axes`, which are of size 1; `None`: without all that are."""

    axes: tuple[int, ...] | None = None

    def infer(self, x: TensorType) -> Types:
        shape = x.shape or ()
        if self.axes is None:
            unsure = not all(isinstance(d, int) for d in shape)
            return (TensorType(x.dtype, None if unsure else tuple(d for d in shape if d != 1)),)
        axes = normal_axes(self.name, self.axes, len(shape))
        for a in axes:
            if isinstance(shape[a], int) and shape[a] != 1:
                raise ShapeError(f"squeeze: axis {a} of {x} is of size {shape[a]}, not 1")
        return (TensorType(x.dtype, tuple(d for i, d in enumerate(shape) if i not in axes)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        (y,) = self.infer(TensorType("f32", x.shape))
        return (np.array(x.reshape(y.dims)),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,), (y,) = node.inputs, node.outputs
        return (x,) if x.type == y.type and y.type.shape is not None else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, shape in (((0,), (1, 3)), (None, (1, 2, 1)), ((-1, 0), (1, 2, 1)), (None, ())):
            yield Sample(cls(axes), (TensorType("f32", shape),))
        yield Sample(cls((1,)), (TensorType("f32", (0, 1)),))


flatten = Flatten()


def reshape(x: Value, shape: Union[int, Iterable[Union[int, str]]]) -> Value:
    """x in `shape`: numbers, symbols, and at most one -1 for what is left.

    A -1 that can be worked out now is: then the program also holds where a symbol turns out 0.
    """
    op = Reshape((shape,) if isinstance(shape, int) else tuple(shape))
    (y,) = op.infer_unranked(x.type) if x.type.shape is None else op.infer(x.type)
    known = tuple(d for d in y.shape or () if d is not None)
    return (Reshape(known) if len(known) == len(op.shape) else op)(x)


def expand_dims(x: Value, axis: Union[int, Iterable[int]]) -> Value:
    """x with an axis of size 1, or several, counted in the result."""
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    rank = None if x.type.rank is None else x.type.rank + len(axes)
    return ExpandDims(axes if rank is None else normal_axes("expand_dims", axes, rank))(x)


def squeeze(x: Value, axis: Union[int, Iterable[int], None] = None) -> Value:
    """x without this axis of size 1, or these; without all by default."""
    if axis is None and x.type.static:
        axis = tuple(i for i, d in enumerate(x.type.dims) if d == 1)
    if axis is None:
        return Squeeze()(x)
    return Squeeze(given_axes("squeeze", axis, x))(x)


def as_target(shape: Shape) -> tuple[Union[int, str], ...] | None:
    """Write a shape as the field of a `Reshape`; `None` where it could fail for some sizes.

    -1 stands for one unknown dimension, if no other can turn out 0.
    """
    if shape is None:
        return None
    target = tuple(-1 if d is None else d for d in shape)
    others = [d for d in shape if d is not None]
    sure = len(others) == len(target)
    if not sure and (target.count(-1) > 1 or not all(isinstance(d, int) and d for d in others)):
        return None
    return target


def _check_target(shape: tuple[Union[int, str], ...]) -> None:
    if shape.count(-1) > 1:
        raise ShapeError(
            f"reshape: shape {shape} has -1 more than once; only one can be what is left"
        )
    for d in shape:
        if isinstance(d, int) and d < -1:
            raise ShapeError(
                f"reshape: shape {shape} has {d}; dimensions are 0 or more, one may be -1"
            )


def _left(x: TensorType, shape: tuple[Union[int, str], ...]) -> Dimension:
    """The dimension that -1 stands for, or `None`; checks the number of elements where possible.

    Symbols that stand on both sides cancel.
    """
    have: Counter[Dimension] = Counter(x.shape or ())
    want: Counter[Dimension] = Counter(d for d in shape if d != -1)
    common = Counter({d: n for d, n in (have & want).items() if isinstance(d, str)})
    have.subtract(common)
    want.subtract(common)
    size, given = _product(have.elements()), _product(want.elements())
    if -1 not in shape:
        if isinstance(size, int) and isinstance(given, int) and size != given:
            raise ShapeError(
                f"reshape: {x} has {_count(x)} elements, shape {shape} has another number"
            )
        return None
    if given == 0:
        raise ShapeError(f"reshape: -1 could be anything in shape {shape}: the rest has 0 elements")
    if not isinstance(given, int):
        return None
    return _quotient(x, shape, have, given)


def _quotient(
    x: TensorType, shape: tuple[Union[int, str], ...], have: Counter[Dimension], given: int
) -> Dimension:
    numbers = prod(d for d in have.elements() if isinstance(d, int))
    names = [d for d in have.elements() if not isinstance(d, int)]
    if not names and numbers % given:
        raise ShapeError(f"reshape: {x} has {_count(x)} elements, not a multiple of shape {shape}")
    if not names or numbers == 0:
        return numbers // given
    return dimension("all//given", {"all": _product([numbers, *names]), "given": given})


def _count(x: TensorType) -> str:
    return str(x.size) if x.static else "*".join(map(str, x.shape or ()))


def _product(dims: Iterable[Dimension]) -> Dimension:
    """Multiply dimensions; `None` if one is unknown and none is 0."""
    given = list(dims)
    product: Dimension = prod(d for d in given if isinstance(d, int))
    if product == 0:
        return 0
    for d in given:
        if not isinstance(d, int):
            product = dimension("product*d", {"product": product, "d": d})
    return product
