"""Tensors put end to end along an axis, and cut apart again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate
from math import prod
from typing import Any, Union

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import (
    ITEM_BYTES,
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
from byparts_opset.broadcast import given_axis, meet_dims, normal_axis, same_dtype
from byparts_opset.dtypes import Array
from byparts_opset.slicing import along

Views = tuple[tuple[int, int, int], ...]


class Concat(Op):
    """y = the inputs, one after the other along `axis`; their other dimensions are equal."""

    axis: int = 0

    pattern = "injective"

    def infer(self, *xs: TensorType) -> Types:
        dtype, first = _common(self.name, xs), xs[0].shape or ()
        axis = normal_axis(self.name, self.axis, len(first))
        shape = list(first)
        for x in xs[1:]:
            if len(x.shape or ()) != len(first):
                raise ShapeError(f"concat: ranks differ: {xs[0]} and {x}")
            for i, d in enumerate(x.shape or ()):
                if i != axis:
                    shape[i] = meet_dims(
                        "concat", shape[i], d, f"axis {i} differs: {xs[0]} and {x}"
                    )
        shape[axis] = _total([(x.shape or ())[axis] for x in xs])
        return (TensorType(dtype, tuple(shape)),)

    def infer_unranked(self, *xs: TensorType) -> Types:
        return (TensorType(_common(self.name, xs), None),)

    def evaluate(self, *xs: Array) -> tuple[Array, ...]:
        return (np.concatenate(xs, axis=self.axis),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        sizes = _sizes(self.axis, [x.type for x in node.inputs])
        if sizes is not None:
            return Split(sizes, self.axis).outputs_of(dy)
        return SplitLike(self.axis, len(node.inputs)).outputs_of(dy, *node.inputs)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """Drop inputs without elements, which gradients of padding and slices have."""
        if len(node.inputs) == 1:
            return node.inputs
        if not all(x.type.static for x in node.inputs):
            return None
        some = tuple(x for x in node.inputs if x.type.size)
        if len(some) in (0, len(node.inputs)):
            return None
        return some if len(some) == 1 else (self(*some),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for axis, shapes in (
            *((0, ((2, 3), (1, 3))), (-1, ((2, 1), (2, 2), (2, 3))), (1, ((2, 1, 2), (2, 2, 2)))),
            *((0, ((3,),)), (0, ((0, 2), (1, 2)))),
        ):
            yield Sample(cls(axis), tuple(TensorType("f32", s) for s in shapes))


class Split(Op):
    """y0, y1, ... = x cut along `axis` into parts of these sizes."""

    sizes: tuple[int, ...]
    axis: int = 0

    pattern = "injective"

    def infer(self, x: TensorType) -> Types:
        shape = list(x.shape or ())
        axis = normal_axis(self.name, self.axis, len(shape))
        total = sum(self.sizes)
        if any(s < 0 for s in self.sizes) or not self.sizes:
            raise ShapeError(f"split: sizes {self.sizes} are no parts of {x}")
        if isinstance(shape[axis], int) and shape[axis] != total:
            raise ShapeError(
                f"split: sizes {self.sizes} sum to {total}, axis {axis} of {x} does not"
            )
        return tuple(
            TensorType(x.dtype, (*shape[:axis], size, *shape[axis + 1 :])) for size in self.sizes
        )

    def infer_dtypes(self, x: TensorType) -> tuple[str, ...]:
        return (x.dtype,) * len(self.sizes)

    def views(self, x: TensorType) -> Views:
        """Each part is a contiguous range of bytes, if the axes before have size 1."""
        axis = normal_axis(self.name, self.axis, len(x.dims))
        if prod(x.dims[:axis]) != 1:
            return ()
        row_bytes = prod(x.dims[axis + 1 :]) * ITEM_BYTES[x.dtype]
        return tuple((0, i, at * row_bytes) for i, at in enumerate(_starts(self.sizes)))

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        self.infer(TensorType("f32", x.shape))
        parts = np.split(x, _starts(self.sizes)[1:], axis=self.axis)
        return tuple(np.array(part, order="C") for part in parts)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return (Concat(self.axis)(*dys),)

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return node.inputs if len(self.sizes) == 1 else None

    def decompose(self, x: Value) -> tuple[Value, ...] | None:
        if x.type.shape is None:
            return None
        axis = normal_axis(self.name, self.axis, len(x.type.shape))
        spans = zip(_starts(self.sizes), self.sizes, strict=True)
        return tuple(along(axis, at, at + size)(x) for at, size in spans)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for sizes, axis, shape in (
            *(
                ((1, 2), 0, (3, 2)),
                ((1, 0, 2), -1, (2, 3)),
                ((2, 1), 1, (1, 3, 2)),
                ((3,), 0, (3,)),
            ),
            ((1, 1), 0, (2, 0)),
        ):
            yield Sample(cls(sizes, axis), (TensorType("f32", shape),))


class SplitLike(Op):
    """y0, y1, ... = x cut along `axis` into parts as long as those of the other inputs.

    The gradient of `Concat` where sizes are not known; `Split` once they are.
    """

    axis: int
    parts: int

    pattern = "injective"

    def __post_init__(self) -> None:
        object.__setattr__(self, "ignores", tuple(range(1, 1 + self.parts)))

    def infer(self, x: TensorType, *likes: TensorType) -> Types:
        if len(likes) != self.parts:
            raise ShapeError(f"split_like: {self.parts} parts of {x} like {len(likes)} others")
        (whole,) = Concat(self.axis).infer(*likes)
        what = f"x is {x}, and the {self.parts} parts add up to {whole}"
        if x.rank != whole.rank:
            raise ShapeError(f"{self.name}: {what}, of rank {whole.rank}")
        for a, b in zip(x.shape or (), whole.shape or (), strict=True):
            meet_dims(self.name, a, b, what)
        return tuple(TensorType(x.dtype, like.shape) for like in likes)

    def infer_unranked(self, x: TensorType, *likes: TensorType) -> Types:
        return tuple(TensorType(x.dtype, like.shape) for like in likes)

    def evaluate(self, x: Array, *likes: Array) -> tuple[Array, ...]:
        return Split(tuple(like.shape[self.axis] for like in likes), self.axis).evaluate(x)

    def gradient(self, node: Node, *dys: Value) -> tuple[Value | None, ...]:
        return (Concat(self.axis)(*dys), *(None for _ in dys))

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        sizes = _sizes(self.axis, [x.type for x in node.inputs[1:]])
        return None if sizes is None else Split(sizes, self.axis).outputs_of(node.inputs[0])

    def decompose(self, *inputs: Value) -> tuple[Value, ...] | None:
        return self.canonical(Node(self, inputs))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        shapes = (3, 2), (1, 2), (2, 2)
        yield Sample(cls(0, 2), tuple(TensorType("f32", s) for s in shapes))


def concat(xs: Sequence[Value], axis: int = 0) -> Value:
    """Join values end to end along `axis`."""
    rank = xs[0].type.rank if xs else None
    return Concat(axis if rank is None else normal_axis("concat", axis, rank))(*xs)


def split(x: Value, sizes: Union[int, Sequence[int]], axis: int = 0) -> tuple[Value, ...]:
    """Cut x along `axis` into `sizes` equal parts, or into parts of these sizes."""
    axis = given_axis("split", axis, x)
    if isinstance(sizes, int):
        size: Any = None if x.type.shape is None else x.type.shape[axis]
        if not isinstance(size, int) or sizes < 1 or size % sizes:
            raise ShapeError(f"split: axis {axis} of {x.type} is not cut into {sizes} equal parts")
        sizes = (size // sizes,) * sizes
    return Split(tuple(sizes), axis).outputs_of(x)


def stack(xs: Sequence[Value], axis: int = 0) -> Value:
    """Join values of one shape along a new axis; `axis` is its position in the result."""
    return Concat(axis)(*(ops.ExpandDims((axis,))(x) for x in xs))


def unstack(x: Value, axis: int = 0) -> tuple[Value, ...]:
    """Cut x into its slices along `axis`, and remove that axis; its size must be known."""
    size: Any = (
        x.type.shape[normal_axis("unstack", axis, len(x.type.shape))] if x.type.shape else None
    )
    if not isinstance(size, int):
        raise ShapeError(f"unstack: the size of axis {axis} of {x.type} is not known")
    if size == 0:
        return ()
    return tuple(ops.Squeeze((axis,))(part) for part in split(x, (1,) * size, axis))


def _common(name: str, xs: Sequence[TensorType]) -> str:
    if not xs:
        raise ShapeError(f"{name}: takes one value at least")
    return same_dtype(name, *xs)


def _total(sizes: Sequence[Dimension]) -> Dimension:
    """Add sizes; `None` if one is unknown."""
    total: Dimension = sum(d for d in sizes if isinstance(d, int))
    for d in sizes:
        if not isinstance(d, int):
            total = dimension("total+d", {"total": total, "d": d})
    return total


def _sizes(axis: int, xs: Sequence[TensorType]) -> tuple[int, ...] | None:
    """The size of each value along the axis, or `None` if one is not known."""
    dims = [None if x.shape is None else x.shape[axis] for x in xs]
    known = tuple(d for d in dims if isinstance(d, int))
    return known if len(known) == len(dims) else None


def _starts(sizes: Sequence[int]) -> list[int]:
    return [0, *accumulate(sizes)][:-1]
