"""Ops of this backend's own: what torch does in one call, where the standard ops are two.

Passes put them in after legalize; no graph that a person writes has them.  As ordinary ops they
bring a meaning and samples, so the conformance kit tries their kernels like any other.  Importing
this imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import Op, Sample, ShapeError, TensorType, Types, Value
from byparts_graph_ir.lazy_dataclass import dataclass
from byparts_opset.binary import add, mul
from byparts_opset.broadcast import broadcast_types, meet_types
from byparts_opset.dtypes import Array, narrow, wide
from byparts_opset.elementwise import floats
from byparts_opset.matmul import MatMul
from byparts_opset.pooling import CASES, check, images, restored, type_of_x, type_of_y, windows
from byparts_opset.window import Padding, Pair, offsets, padded


@dataclass(frozen=True)
class MaxPoolIndices(Op):
    """y, places: `MaxPool`, and where each maximum stands first: row * width + column.

    A window with a nan has the place of some nan.
    """

    ksize: Pair
    strides: Pair
    padding: Padding = "VALID"
    layout: str = "NCHW"
    ceil_mode: bool = False

    def __post_init__(self) -> None:
        check(self)

    def infer(self, x: TensorType) -> Types:
        if x.dtype == "bool":
            raise ShapeError(f"{self.name}: bools have no maximum, got {x}; cast(x, 'u8') first")
        y = type_of_y(self, x)
        return (y, TensorType("i64", y.shape))

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        counts, around = windows(self, x.shape)
        planes = images(self, x)
        real = np.arange(planes.shape[2] * planes.shape[3]).reshape(planes.shape[2:])
        place, framed = padded(real, around, -1), padded(planes, around)
        y = np.zeros((*planes.shape[:2], *counts), planes.dtype)
        places = np.full(y.shape, -1, np.int64)
        for _, _, rows, columns in offsets(self.ksize, counts, self.strides):
            seen, here = framed[..., rows, columns], place[rows, columns]
            with np.errstate(invalid="ignore"):
                better = (here >= 0) & ((places < 0) | (seen > y) | np.isnan(seen))
            y, places = np.where(better, seen, y), np.where(better, here, places)
        return (restored(self, y, x), restored(self, places, places))

    def flops(self, x: TensorType) -> int:
        return self.infer(x)[0].size * self.ksize[0] * self.ksize[1]

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for attributes, shape in CASES:
            yield Sample(cls(*attributes), (TensorType("f32", shape),))


@dataclass(frozen=True)
class MaxPoolScatter(Op):
    """dx in the shape of `like`: each dy added at the place of its window's maximum."""

    ksize: Pair
    strides: Pair
    padding: Padding = "VALID"
    layout: str = "NCHW"
    ceil_mode: bool = False

    ignores = (2,)

    def __post_init__(self) -> None:
        check(self)

    def infer(self, dy: TensorType, places: TensorType, like: TensorType) -> Types:
        if places.dtype != "i64":
            raise ShapeError(f"{self.name}: places are i64, got {places}")
        y = meet_types(self.name, type_of_y(self, like), dy)
        y = meet_types(self.name, y, TensorType(y.dtype, places.shape))
        return (type_of_x(self, like, y),)

    def infer_unranked(self, dy: TensorType, places: TensorType, like: TensorType) -> Types:
        return (meet_types(self.name, like, TensorType(dy.dtype, None)),)

    def evaluate(self, dy: Array, places: Array, like: Array) -> tuple[Array, ...]:
        given, at = images(self, dy), images(self, places)
        n, c, h, w = images(self, like).shape
        planes = np.zeros((n * c, h * w), given.dtype)
        rows = np.broadcast_to(np.arange(n * c)[:, None], (n * c, at[0, 0].size if n * c else 0))
        np.add.at(planes, (rows, at.reshape(rows.shape)), given.reshape(rows.shape))
        return (restored(self, planes.reshape(n, c, h, w), dy),)

    def flops(self, dy: TensorType, places: TensorType, like: TensorType) -> int:
        return dy.size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """Places drawn from the whole plane: the kernel asks for no more than that."""
        for attributes, shape in CASES:
            op, x = cls(*attributes), TensorType("f32", shape)
            y = type_of_y(op, x)
            area = shape[1] * shape[2] if op.layout == "NHWC" else shape[2] * shape[3]
            places = TensorType("i64", y.shape)
            yield Sample(op, (y, places, x), ((-1, 1), (0, area), (-1, 1)))


@dataclass(frozen=True)
class AddMatMul(Op):
    """y = c + scale * a @ b, for c that broadcasts to the product: a bias, or a sum so far.

    a: [..., m, k], or [k, m] with `transpose_a`; b: [k, n], or [n, k]; c: up to [..., m, n].
    """

    name = "add_matmul"

    transpose_a: bool = False
    transpose_b: bool = False
    scale: float = 1.0

    inplace = ((0, 0),)
    pattern = "contraction"

    def infer(self, c: TensorType, a: TensorType, b: TensorType) -> Types:
        if b.rank != 2 or (a.rank != 2 and self.transpose_a):
            raise ShapeError(f"{self.name}: b is one matrix, and a is if transposed: {a}, {b}")
        (product,) = floats(self, *MatMul(self.transpose_a, self.transpose_b).infer(a, b))
        if broadcast_types(self.name, c, product) != product:
            raise ShapeError(f"{self.name}: c is {c}, which does not broadcast to {product}")
        return (product,)

    def infer_unranked(self, c: TensorType, a: TensorType, b: TensorType) -> Types:
        return floats(self, *MatMul(self.transpose_a, self.transpose_b).infer_unranked(a, b))

    def evaluate(self, c: Array, a: Array, b: Array) -> tuple[Array, ...]:
        product = MatMul(self.transpose_a, self.transpose_b).evaluate(wide(a), wide(b))[0]
        return (narrow(wide(c) + product * self.scale, a.dtype),)

    def decompose(self, c: Value, a: Value, b: Value) -> tuple[Value, ...] | None:
        product = MatMul(self.transpose_a, self.transpose_b)(a, b)
        return (add(c, product if self.scale == 1 else product * self.scale),)

    def flops(self, c: TensorType, a: TensorType, b: TensorType) -> int:
        product = MatMul(self.transpose_a, self.transpose_b)
        return product.flops(a, b) + product.infer(a, b)[0].size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for c, a, b in (
            *(((4,), (3, 2), (2, 4)), ((3, 4), (3, 2), (2, 4)), ((3, 1), (3, 2), (2, 4))),
            *(((), (3, 2), (2, 4)), ((4,), (2, 3, 2), (2, 4)), ((2, 3, 4), (2, 3, 2), (2, 4))),
            *(((3, 4), (2, 3, 2), (2, 4)), ((4,), (0, 2), (2, 4)), ((4,), (3, 0), (0, 4))),
        ):
            types = tuple(TensorType("f32", shape) for shape in (c, a, b))
            yield Sample(cls(), types)
        flipped = (TensorType("f32", s) for s in ((4,), (2, 3), (4, 2)))
        yield Sample(cls(True, True, -2.0), tuple(flipped))


@dataclass(frozen=True)
class AddMul(Op):
    """z = c + scale * x * y, elementwise, by broadcasting of all three; floats only."""

    name = "add_mul"

    scale: float = 1.0

    inplace = ((0, 0), (1, 0), (2, 0))
    pattern = "elementwise"

    def infer(self, c: TensorType, x: TensorType, y: TensorType) -> Types:
        floats(self, c)
        return (broadcast_types(self.name, c, broadcast_types(self.name, x, y)),)

    def infer_unranked(self, c: TensorType, x: TensorType, y: TensorType) -> Types:
        return (floats(self, c)[0] if c.shape is None else TensorType(c.dtype, None),)

    def evaluate(self, c: Array, x: Array, y: Array) -> tuple[Array, ...]:
        with np.errstate(all="ignore"):
            return (narrow(wide(c) + self.scale * wide(x) * wide(y), c.dtype),)

    def decompose(self, c: Value, x: Value, y: Value) -> tuple[Value, ...] | None:
        return (add(c, mul(x * self.scale if self.scale != 1 else x, y)),)

    def flops(self, c: TensorType, x: TensorType, y: TensorType) -> int:
        return 2 * self.infer(c, x, y)[0].size

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for c, x, y in (
            *(((3, 4), (3, 4), (3, 4)), ((4,), (3, 1), (3, 4)), ((2, 3, 4), (3, 4), ())),
            *(((), (), ()), ((0, 3), (3,), (0, 1))),
        ):
            types = tuple(TensorType("f32", shape) for shape in (c, x, y))
            yield Sample(cls(), types)
            yield Sample(cls(-0.5), types)


OPS: dict[str, type[Op]] = {
    op.name: op for op in (MaxPoolIndices, MaxPoolScatter, AddMatMul, AddMul)
}
