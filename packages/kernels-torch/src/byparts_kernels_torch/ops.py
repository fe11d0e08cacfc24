"""Ops of this backend alone: each is what torch does in one call and the standard ops in two.

Passes put them in after legalize; no graph that a person writes has them.  As ordinary ops they
bring a meaning and samples, so the conformance kit tries their kernels like any other.  Importing
this imports no torch.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from byparts_graph_ir import FLOATS, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.attention import Attention, AttentionGradient
from byparts_opset.axes import Transpose
from byparts_opset.binary import add, mul
from byparts_opset.broadcast import broadcast_types, meet_types
from byparts_opset.domain import index_into
from byparts_opset.dtypes import Array, narrow, require, wide
from byparts_opset.pooling import CASES, Pool, images, restored, type_of_x, type_of_y, windows
from byparts_opset.window import offsets, padded


class MaxPoolIndices(Pool):
    """y, places: `MaxPool`, and where each maximum stands first: row * width + column.

    A window with a nan has the place of some nan.  Places are i32, half of what torch counts in:
    they are kept for the gradient, and widened some at a time.
    """

    def infer(self, x: TensorType) -> Types:
        # Torch counts places in the type of the elements, and i8 has no 128th.
        require(self.name, x, FLOATS)
        y = type_of_y(self, x)
        return (y, TensorType("i32", y.shape))

    infer_unranked = infer

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        counts, around = windows(self, x.shape)
        planes = images(self, x)
        real = np.arange(planes.shape[2] * planes.shape[3], dtype=np.int32)
        real = real.reshape(planes.shape[2:])
        place, framed = padded(real, around, -1), padded(planes, around)
        y = np.zeros((*planes.shape[:2], *counts), planes.dtype)
        places = np.full(y.shape, -1, np.int32)
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


class MaxPoolScatter(Pool):
    """dx in the shape of `like`: each dy added at the place of its window's maximum."""

    ignores = (2,)

    def infer(self, dy: TensorType, places: TensorType, like: TensorType) -> Types:
        if places.dtype != "i32":
            raise ShapeError(f"{self.name}: places are i32, got {places}")
        y = meet_types(self.name, type_of_y(self, like), dy)
        y = meet_types(self.name, y, TensorType(y.dtype, places.shape))
        return (type_of_x(self, like, y),)

    def infer_unranked(self, dy: TensorType, places: TensorType, like: TensorType) -> Types:
        return (meet_types(self.name, like, TensorType(dy.dtype, None)),)

    def domain(self, dy: Array, places: Array, like: Array) -> tuple[Array, ...]:
        height, width = images(self, like).shape[2:]
        return (dy, index_into(height * width, places), like)

    def evaluate(self, dy: Array, places: Array, like: Array) -> tuple[Array, ...]:
        gradients, at = images(self, dy), images(self, places)
        n, c, h, w = images(self, like).shape
        planes = np.zeros((n * c, h * w), gradients.dtype)
        rows = np.broadcast_to(np.arange(n * c)[:, None], (n * c, at[0, 0].size if n * c else 0))
        np.add.at(planes, (rows, at.reshape(rows.shape)), gradients.reshape(rows.shape))
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
            places = TensorType("i32", y.shape)
            yield Sample(op, (y, places, x), ((-1, 1), (0, area), (-1, 1)))


class AddMul(Op):
    """z = c + scale * x * y, elementwise, by broadcasting of all three; floats only."""

    name = "add_mul"

    scale: float = 1.0

    inplace = ((0, 0), (1, 0), (2, 0))
    pattern = "elementwise"
    cancels = True

    def infer(self, c: TensorType, x: TensorType, y: TensorType) -> Types:
        require(self.name, c, FLOATS)
        return (broadcast_types(self.name, c, broadcast_types(self.name, x, y)),)

    def infer_unranked(self, c: TensorType, x: TensorType, y: TensorType) -> Types:
        return (require(self.name, c, FLOATS) if c.shape is None else TensorType(c.dtype, None),)

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


class AttentionRows(Op):
    """y, logsumexp: `Attention` of heads that stand side by side in the rows of a projection.

    q: [b, s, heads, d]; k: [b, t, heads, d]; v: [b, t, heads, e]; y: [b, s, heads, e]; logsumexp:
    [b, heads, s].  Nothing is transposed in memory.
    """

    causal: bool = False
    scale: float | None = None

    def infer(self, q: TensorType, k: TensorType, v: TensorType) -> Types:
        y, logsumexp = Attention(self.causal, self.scale).infer(*map(_swapped, (q, k, v)))
        return (_swapped(y), logsumexp)

    def infer_unranked(self, q: TensorType, k: TensorType, v: TensorType) -> Types:
        return Attention(self.causal, self.scale).infer_unranked(q, k, v)

    def domain(self, q: Array, k: Array, v: Array) -> tuple[Array, ...]:
        return Attention(self.causal, self.scale).domain(q, k, v)

    def evaluate(self, q: Array, k: Array, v: Array) -> tuple[Array, ...]:
        swapped = (x.swapaxes(1, 2) for x in (q, k, v))
        y, logsumexp = Attention(self.causal, self.scale).evaluate(*swapped)
        return (y.swapaxes(1, 2).copy(), logsumexp)

    def decompose(self, q: Value, k: Value, v: Value) -> tuple[Value, ...] | None:
        swapped = (SWAP_AXES(x) for x in (q, k, v))
        y, logsumexp = Attention(self.causal, self.scale).outputs_of(*swapped)
        return (SWAP_AXES(y), logsumexp)

    def flops(self, q: TensorType, k: TensorType, v: TensorType) -> int:
        return Attention(self.causal, self.scale).flops(*map(_swapped, (q, k, v)))

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for causal, shapes in _ROWS:
            yield Sample(cls(causal), _types(*shapes), ((-2, 2),) * 3)


class AttentionRowsGradient(Op):
    """dq, dk, dv of `AttentionRows`, in the shapes of q, k, v, with the y and logsumexp it gave."""

    causal: bool = False
    scale: float | None = None

    def infer(self, dy: TensorType, *inputs: TensorType) -> Types:
        *rows, logsumexp = inputs
        op = AttentionGradient(self.causal, self.scale)
        return tuple(map(_swapped, op.infer(*[*map(_swapped, (dy, *rows)), logsumexp])))

    def infer_unranked(self, dy: TensorType, *inputs: TensorType) -> Types:
        return AttentionGradient(self.causal, self.scale).infer_unranked(dy, *inputs)

    def domain(self, dy: Array, *arrays: Array) -> tuple[Array, ...]:
        *rows, logsumexp = arrays
        swapped = [x.swapaxes(1, 2) for x in (dy, *rows)]
        op = AttentionGradient(self.causal, self.scale)
        *inputs, logsumexp = op.domain(*[*swapped, logsumexp])
        return (*(x.swapaxes(1, 2).copy() for x in inputs), logsumexp)

    def evaluate(self, dy: Array, *arrays: Array) -> tuple[Array, ...]:
        *rows, logsumexp = arrays
        swapped = [x.swapaxes(1, 2) for x in (dy, *rows)]
        gradients = AttentionGradient(self.causal, self.scale).evaluate(*[*swapped, logsumexp])
        return tuple(x.swapaxes(1, 2).copy() for x in gradients)

    def decompose(self, dy: Value, *inputs: Value) -> tuple[Value, ...] | None:
        *rows, logsumexp = inputs
        op = AttentionGradient(self.causal, self.scale)
        return tuple(map(SWAP_AXES, op.outputs_of(*map(SWAP_AXES, (dy, *rows)), logsumexp)))

    def flops(self, dy: TensorType, *inputs: TensorType) -> int:
        op = AttentionGradient(self.causal, self.scale)
        return op.flops(*map(_swapped, (dy, *inputs[:-1])), inputs[-1])

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for causal, (q, k, v) in _ROWS:
            y = (*q[:3], v[3])
            sums = (q[0], q[2], q[1])
            for half in (False, True):
                rows = tuple(TensorType("f16" if half else "f32", s) for s in (y, q, k, v, y))
                yield Sample(cls(causal), (*rows, *_types(sums)), (*((-1, 1),) * 5, (1, 2)))


SWAP_AXES = Transpose((0, 2, 1, 3))

_Dims = tuple[int, ...]
_ROWS: tuple[tuple[bool, tuple[_Dims, _Dims, _Dims]], ...] = (
    (False, ((2, 3, 2, 4), (2, 5, 2, 4), (2, 5, 2, 3))),
    (True, ((1, 4, 2, 2), (1, 4, 2, 2), (1, 4, 2, 2))),
    (True, ((2, 40, 3, 8), (2, 40, 3, 8), (2, 40, 3, 8))),
    (False, ((0, 3, 2, 4), (0, 3, 2, 4), (0, 3, 2, 4))),
)


def _types(*shapes: _Dims) -> Types:
    return tuple(TensorType("f32", shape) for shape in shapes)


def _swapped(t: TensorType) -> TensorType:
    """[b, s, heads, d] -> [b, heads, s, d], and back."""
    if t.shape is None or len(t.shape) != 4:
        raise ShapeError(f"attention_rows: rows of heads are [b, s, heads, d], got {t}")
    b, s, heads, d = t.shape
    return TensorType(t.dtype, (b, heads, s, d))


OPS: dict[str, type[Op]] = {
    op.name: op
    for op in (
        *(MaxPoolIndices, MaxPoolScatter, AddMul),
        *(AttentionRows, AttentionRowsGradient),
    )
}
