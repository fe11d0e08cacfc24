"""Axes in another order, reversed, and repeated: transpose, reverse, broadcast_to, tile."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Union

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
from byparts_opset.broadcast import given_axes, given_axis, normal_axes, normal_axis
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import same_shape_back
from byparts_opset.reshape import as_target


class Transpose(Op):
    """y.shape[i] = x.shape[permutation[i]]; `None` reverses the order of the axes."""

    permutation: tuple[int, ...] | None = None

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape = x.shape or ()
        order = self._order(len(shape))
        if len(order) != len(shape):
            raise ShapeError(f"transpose: permutation {order} is of {len(order)} axes, x is {x}")
        return (TensorType(x.dtype, tuple(shape[a] for a in order)),)

    def infer_unranked(self, x: TensorType) -> Types:
        p = self.permutation
        return (TensorType(x.dtype, None if p is None else (None,) * len(self._order(len(p)))),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        (y,) = outputs
        if y.shape is None:
            return inputs
        back = inverse(self._order(len(y.shape)))
        return (TensorType(inputs[0].dtype, tuple(y.shape[a] for a in back)),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        """y has the bytes of x if the axes longer than 1 stay in order."""
        moved = [a for a in self._order(len(x.dims)) if x.dims[a] != 1]
        return ((0, 0, 0),) if moved == sorted(moved) or x.size == 0 else ()

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.transpose(x, self.permutation), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        p = self.permutation
        return (Transpose(None if p is None else inverse(self._order(len(p))))(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """x where no axis moves; otherwise the permutation counted from the front."""
        (x,) = node.inputs
        if x.type.shape is None:
            return None
        rank = len(x.type.shape)
        order = self._order(rank)
        if order == tuple(range(rank)):
            return (x,)
        best = None if order == tuple(range(rank))[::-1] else order
        return None if best == self.permutation else (Transpose(best)(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for permutation, shape in (
            *((None, (2, 3)), ((1, 2, 0), (2, 3, 4)), ((-1, 0, 1), (2, 3, 4)), (None, ())),
            *(((1, 0), (0, 3)), ((0, 2, 1), (2, 1, 3))),
        ):
            yield Sample(cls(permutation), (TensorType("f32", shape),))

    def _order(self, rank: int) -> tuple[int, ...]:
        if self.permutation is None:
            return tuple(range(rank))[::-1]
        order = tuple(normal_axis(self.name, a, len(self.permutation)) for a in self.permutation)
        if len(set(order)) != len(order):
            raise ShapeError(
                f"transpose: {self.permutation} is no permutation: an axis comes twice"
            )
        return order


def transpose(x: Value, permutation: Iterable[int] | None = None) -> Value:
    """Permute the axes of x, or reverse their order where no permutation is given."""
    return Transpose(None if permutation is None else tuple(permutation))(x)


def inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    """Invert a permutation."""
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


class Reverse(Op):
    """y[i] = x[n - 1 - i] along each of `axes`."""

    axes: tuple[int, ...]

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        if x.shape is not None:
            normal_axes(self.name, self.axes, len(x.shape))
        return (x,)

    infer_unranked = infer
    infer_inputs = same_shape_back

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.flip(x, self.axes), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (Reverse(self.axes)(dy),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The axes counted from the front, without those of size 0 or 1; x where none is left."""
        (x,) = node.inputs
        if x.type.shape is None:
            return None
        axes = normal_axes(self.name, self.axes, len(x.type.shape))
        axes = tuple(a for a in axes if x.type.shape[a] not in (0, 1))
        if not axes:
            return (x,)
        return None if axes == self.axes else (Reverse(axes)(x),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axes, shape in (((0,), (3,)), ((0, -1), (2, 3, 4)), ((1,), (0, 2)), ((), ())):
            yield Sample(cls(axes), (TensorType("f32", shape),))


def reverse(x: Value, axis: int | Iterable[int]) -> Value:
    """Reverse the order of the elements along an axis, or each of several."""
    return Reverse(given_axes("reverse", axis, x))(x)


class BroadcastTo(Op):
    """y = x in `shape`: numbers or symbols; -1 keeps the dimension of x."""

    shape: tuple[Union[int, str], ...]

    pattern = "broadcast"
    shape_fields = ("shape",)

    def infer(self, x: TensorType) -> Types:
        old = x.shape or ()
        lead = len(self.shape) - len(old)
        if lead < 0 or -1 in self.shape[:lead]:
            why = "has fewer axes than x" if lead < 0 else "keeps a dimension that x does not have"
            raise ShapeError(f"broadcast_to: shape {self.shape} {why}: x is {x}")
        dims = [self._joined(x, d, to) for d, to in zip(old, self.shape[lead:], strict=True)]
        return (TensorType(x.dtype, (*self.shape[:lead], *dims)),)

    def infer_unranked(self, x: TensorType) -> Types:
        return (TensorType(x.dtype, tuple(None if d == -1 else d for d in self.shape)),)

    def views(self, x: TensorType) -> tuple[tuple[int, int, int], ...]:
        (y,) = self.infer(x)
        return ((0, 0, 0),) if x.size == y.size else ()

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        (y,) = self.infer(TensorType("f32", x.shape))
        return (np.array(np.broadcast_to(x, y.dims), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        return (ops.sum_like(dy, node.inputs[0]),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        (x,), (y,) = node.inputs, node.outputs
        if y.type.static and x.type == y.type:
            return (x,)
        known = y.type.static and y.type.dims != self.shape
        return (BroadcastTo(y.type.dims)(x),) if known else None

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape, x in (
            *(((3, 4), (3, 1)), ((2, 3), (3,)), ((2,), ()), ((), ()), ((0, 2), (1, 2))),
            *(((2, -1), (3,)), ((1, 3), (3,))),
        ):
            yield Sample(cls(shape), (TensorType("f32", x),))

    def _joined(self, x: TensorType, d: Dimension, to: Union[int, str]) -> Dimension:
        if to == -1:
            return d
        if isinstance(d, int) and isinstance(to, int) and d not in (1, to):
            raise ShapeError(
                f"broadcast_to: {x} does not broadcast to {self.shape}: {d} meets {to}"
            )
        return d if isinstance(d, int) and d != 1 else to


def broadcast_to(x: Value, shape: int | Iterable[Union[int, str]]) -> Value:
    """Repeat x into `shape`, by NumPy's broadcasting; -1 keeps the dimension of x."""
    return BroadcastTo((shape,) if isinstance(shape, int) else tuple(shape))(x)


class Tile(Op):
    """y[i] = x[i mod x.shape]: `repeats[a]` copies along axis a, one number for each axis."""

    repeats: tuple[int, ...]

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape = x.shape or ()
        if len(shape) != len(self.repeats) or any(r < 0 for r in self.repeats):
            raise ShapeError(
                f"tile: takes one number of copies for each axis, got {self.repeats} for {x}"
            )
        return (TensorType(x.dtype, tuple(map(_times, shape, self.repeats))),)

    def infer_unranked(self, x: TensorType) -> Types:
        return self.infer(TensorType(x.dtype, (None,) * len(self.repeats)))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        return (np.array(np.tile(x, self.repeats), order="C"),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        (x,) = node.inputs
        ones, copies = self._copies(x)
        return (ops.reshape_like(ops.sum_like(ops.reshape_like(dy, copies), ones), x),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return node.inputs if all(r == 1 for r in self.repeats) else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        (y,) = Node(self, (x,)).outputs
        target = as_target(y.type.shape)
        return None if target is None else (ops.Reshape(target)(self._copies(x)[1]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for repeats, shape in (
            *(((2,), (3,)), ((2, 3), (2, 2)), ((1, 2, 1), (2, 1, 3)), ((), ())),
            *(((0, 2), (2, 2)), ((2, 2), (0, 2))),
        ):
            yield Sample(cls(repeats), (TensorType("f32", shape),))

    def _copies(self, x: Value) -> tuple[Value, Value]:
        """x with a new axis of size 1 before each axis; and that, repeated along the new axes."""
        ones = ops.ExpandDims(tuple(range(0, 2 * len(self.repeats), 2)))(x)
        shape: Any = tuple(d for r in self.repeats for d in (r, -1))
        return ones, ops.BroadcastTo(shape)(ones)


def tile(x: Value, repeats: int | Iterable[int]) -> Value:
    """Put copies of x side by side, `repeats[a]` along axis a."""
    return Tile((repeats,) if isinstance(repeats, int) else tuple(repeats))(x)


def repeat(x: Value, repeats: int | Iterable[int], axis: int | None = None) -> Value:
    """Each slice of x along `axis` so many times, as `numpy.repeat`; without an axis each element.

    `repeats` is a number for all slices, or one for each.

    Raises:
        ShapeError: a negative number, not one number for each slice, or x of unknown rank.
    """
    x, axis = (ops.reshape(x, -1), 0) if axis is None else (x, given_axis("repeat", axis, x))
    if x.type.shape is None:
        raise ShapeError(f"repeat: needs the rank of x, and x is {x.type}")
    before, size, behind = x.type.shape[:axis], x.type.shape[axis], x.type.shape[axis + 1 :]
    counts = (repeats,) if isinstance(repeats, int) else tuple(repeats)
    if any(r < 0 for r in counts) or (not isinstance(repeats, int) and len(counts) != size):
        raise ShapeError(
            f"repeat: takes a number of copies, or one for each of the {size} slices along axis "
            f"{axis}, got {repeats} for {x.type}"
        )
    if not isinstance(repeats, int):
        return ops.gather(x, ops.constant(np.repeat(np.arange(len(counts)), counts)), axis)
    copies = (*(-1,) * (axis + 1), repeats, *(-1,) * len(behind))
    target = as_target((*before, _times(size, repeats), *behind))
    if target is None:
        raise ShapeError(f"repeat: needs the sizes of x, and x is {x.type}")
    return ops.Reshape(target)(BroadcastTo(copies)(ops.ExpandDims((axis + 1,))(x)))


def _times(d: Dimension, repeats: int) -> Dimension:
    if isinstance(d, int) or repeats == 0:
        return repeats * d if isinstance(d, int) else 0
    return dimension("repeats*d", {"repeats": repeats, "d": d})
