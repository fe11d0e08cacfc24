"""Convolution of images, its two gradients, and the transposed convolution.

`y = conv2d(x, w)` is linear in x and in w, so there are three operations and each is the gradient
of the other two: for s = <dy, conv2d(x, w)>, ds/dx is `conv2d_transpose(dy, w)` and ds/dw is
`conv2d_filter_gradient(x, dy)`, to whatever order.

Two shapes cannot be computed back from y.  `Conv2dInputGradient` and `Conv2dFilterGradient` take a
`like` for that, whose type they read and whose bytes they ignore.  Where the extents are known, the
former is a `Conv2dTranspose` with padding in numbers, so a backend needs three of the four.

Layouts: images NCHW with filters OIHW, or images NHWC with filters HWIO; o counts output channels,
i the input channels of one group.  The filter of a transposed convolution is that of the one it
reverses: its o are the channels of x (as TensorFlow and Torch have it, too).  The function of
`conv2d_transpose.py` finds that padding.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from byparts_graph_ir import (
    Dimension,
    Node,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
)
from byparts_opset.broadcast import meet_dims, meet_types
from byparts_opset.convolution import (
    CASES,
    TO_OIHW,
    Convolution,
    dims,
    grouped,
    grouped_filter,
    placed,
    transposed_side,
    type_of_y,
    types_back,
    ungrouped,
    ungrouped_filter,
)
from byparts_opset.domain import moderate
from byparts_opset.dtypes import Array, total_dtype, type_of
from byparts_opset.matmul import number_dtype
from byparts_opset.window import (
    Pair,
    from_nchw,
    nchw_dims,
    offsets,
    padded,
    padding_of,
    pair,
    remade,
    side,
    span,
)


class Conv2d(Convolution):
    """y[n, o, p, q] = sum over i, u, v of x[n, i, p s + u d, q s + v d] w[o, i, u, v].

    x is padded first; negative padding crops it.  s are the `strides`, d the `dilations`.
    """

    def infer(self, x: TensorType, filter: TensorType) -> Types:
        return (type_of_y(self, x, filter),)

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        x, filter = inputs
        return types_back(self, x, filter, outputs[0])

    def domain(self, x: Array, filter: Array) -> tuple[Array, ...]:
        return (x, moderate(filter))

    def evaluate(self, x: Array, filter: Array) -> tuple[Array, ...]:
        counts, around = placed(self, type_of(x), type_of(filter))
        images, w = grouped(self, x), grouped_filter(self, filter)
        y = np.zeros((*images.shape[:2], w.shape[1], *counts), images.dtype)
        framed = padded(images, around)
        with np.errstate(all="ignore"):
            for u, v, rows, columns in offsets(w.shape[3:], counts, self.strides, self.dilations):
                y += np.einsum("ngihw,goi->ngohw", framed[..., rows, columns], w[..., u, v])
        return (ungrouped(self, y, x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, filter = node.inputs
        dw = remade(Conv2dFilterGradient, self)(x, dy, filter)
        return (_input_gradient(self, dy, filter, x), dw)

    def flops(self, x: TensorType, filter: TensorType) -> int:
        return 2 * self.infer(x, filter)[0].size * _taps(self, filter)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x, filter in _cases():
            yield Sample(op, (x, filter))


class Conv2dTranspose(Convolution):
    """y[n, i, p s + u d, q s + v d] += x[n, o, p, q] w[o, i, u, v] for all p, q, u, v.

    What a `Conv2d` with these attributes, whose x is our y, sends back there.  Padding is cut off
    at the end, or where negative added as zeros: y has (extent - 1) s + span - padding elements.
    """

    padding: tuple[Pair, Pair] = ((0, 0), (0, 0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.padding, str):
            raise ShapeError(
                f"{self.name}: padding {self.padding!r} fits several extents of y; "
                "the function conv2d_transpose finds the numbers"
            )

    def infer(self, x: TensorType, filter: TensorType) -> Types:
        dtype = number_dtype(self.name, x, filter)
        (n, c, h, w), (o, i, kh, kw) = dims(self, x, filter)
        what = f"channels differ: x is {x} and the filter is {filter} (layout {self.layout})"
        meet_dims(self.name, c, o, what)
        c = i * self.groups if isinstance(i, int) else None
        return (
            from_nchw(dtype, (n, c, self._extent(0, h, kh), self._extent(1, w, kw)), self.layout),
        )

    infer_unranked = infer

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        x, filter = inputs
        y, filter = types_back(self, outputs[0], filter, x)
        return (meet_types(self.name, x, type_of_y(self, y, filter)), filter)

    def domain(self, x: Array, filter: Array) -> tuple[Array, ...]:
        return (x, moderate(filter))

    def evaluate(self, x: Array, filter: Array) -> tuple[Array, ...]:
        given, w = grouped(self, x), grouped_filter(self, filter)
        (y_type,) = self.infer(type_of(x), type_of(filter))
        extents = nchw_dims(self.name, "y", y_type, self.layout)[2:]
        frame = [int(e or 0) + sum(around) for e, around in zip(extents, self.padding, strict=True)]
        if min(frame) < 0:  # of no element of x, by strides longer than the filter
            return (np.zeros(y_type.dims, x.dtype),)
        y = np.zeros((*given.shape[:2], w.shape[2], *frame), given.dtype)
        with np.errstate(all="ignore"):
            for u, v, rows, columns in offsets(
                w.shape[3:], given.shape[3:], self.strides, self.dilations
            ):
                y[..., rows, columns] += np.einsum("ngohw,goi->ngihw", given, w[..., u, v])
        (top, bottom), (left, right) = self.padding
        return (ungrouped(self, padded(y, ((-top, -bottom), (-left, -right))), x),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        x, filter = node.inputs
        return (remade(Conv2d, self)(dy, filter), remade(Conv2dFilterGradient, self)(dy, x, filter))

    def flops(self, x: TensorType, filter: TensorType) -> int:
        return 2 * x.size * _taps(self, filter)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x, filter in _cases():
            around = _transposed_padding(op, x, filter)
            assert around is not None, "samples are static"
            yield Sample(remade(cls, op, padding=around), (*op.infer(x, filter), filter))

    def _extent(self, axis: int, extent: Dimension, kernel: Dimension) -> Dimension:
        reach, removed = span(kernel, self.dilations[axis]), sum(self.padding[axis])
        if reach is None:
            return None
        if not isinstance(extent, int):
            terms = {"d": extent, "s": self.strides[axis], "more": reach - removed}
            return dimension("(d-1)*s+more", terms)
        whole = (extent - 1) * self.strides[axis] + reach
        if removed > whole:
            around = self.padding[axis]
            raise ShapeError(
                f"{self.name}: padding {around} is more than the {whole} elements there are"
            )
        return whole - removed


class Conv2dInputGradient(Convolution):
    """dx in the shape of `like`: what a `Conv2d` with these attributes sends back to its x."""

    ignores = (2,)

    def infer(self, dy: TensorType, filter: TensorType, like: TensorType) -> Types:
        dy = meet_types(self.name, dy, type_of_y(self, like, filter))
        return types_back(self, like, filter, dy)[:1]

    infer_unranked = infer

    def domain(self, dy: Array, filter: Array, like: Array) -> tuple[Array, ...]:
        return (dy, moderate(filter), like)

    def evaluate(self, dy: Array, filter: Array, like: Array) -> tuple[Array, ...]:
        around = _transposed_padding(self, type_of(like), type_of(filter))
        return remade(Conv2dTranspose, self, padding=around).evaluate(dy, filter)

    def gradient(self, node: Node, g: Value) -> tuple[Value | None, ...]:
        dy, filter, _ = node.inputs
        return (
            remade(Conv2d, self)(g, filter),
            remade(Conv2dFilterGradient, self)(g, dy, filter),
            None,
        )

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        return self.decompose(*node.inputs)

    def decompose(self, dy: Value, filter: Value, like: Value) -> tuple[Value, ...] | None:
        around = _transposed_padding(self, like.type, filter.type)
        return (
            None if around is None else (remade(Conv2dTranspose, self, padding=around)(dy, filter),)
        )

    def flops(self, dy: TensorType, filter: TensorType, like: TensorType) -> int:
        return 2 * dy.size * _taps(self, filter)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x, filter in _cases():
            yield Sample(remade(cls, op), (*op.infer(x, filter), filter, x))


class Conv2dFilterGradient(Convolution):
    """dw in the shape of `like`: what a `Conv2d` with these attributes sends back to its filter.

    dw[o, i, u, v] = sum over n, p, q of dy[n, o, p, q] x[n, i, p s + u d, q s + v d].
    """

    ignores = (2,)

    def infer(self, x: TensorType, dy: TensorType, like: TensorType) -> Types:
        dy = meet_types(self.name, dy, type_of_y(self, x, like))
        return types_back(self, x, like, dy)[1:]

    infer_unranked = infer

    def domain(self, x: Array, dy: Array, like: Array) -> tuple[Array, ...]:
        return (moderate(x), moderate(dy), like)

    def evaluate(self, x: Array, dy: Array, like: Array) -> tuple[Array, ...]:
        counts, around = placed(self, type_of(x), type_of(like))
        framed, given = padded(grouped(self, x), around), grouped(self, dy)
        dtype = total_dtype(given.dtype)  # sums over all images and pixels
        framed, given = framed.astype(dtype), given.astype(dtype)
        w = np.zeros_like(grouped_filter(self, like), dtype)
        with np.errstate(all="ignore"):
            for u, v, rows, columns in offsets(w.shape[3:], counts, self.strides, self.dilations):
                w[..., u, v] = np.einsum("ngohw,ngihw->goi", given, framed[..., rows, columns])
        return (ungrouped_filter(self, w, x),)

    def gradient(self, node: Node, g: Value) -> tuple[Value | None, ...]:
        x, dy, _ = node.inputs
        return (_input_gradient(self, dy, g, x), remade(Conv2d, self)(x, g), None)

    def flops(self, x: TensorType, dy: TensorType, like: TensorType) -> int:
        return 2 * dy.size * _taps(self, like)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for op, x, filter in _cases():
            yield Sample(remade(cls, op), (x, *op.infer(x, filter), filter))


def conv2d(
    x: Value,
    filter: Value,
    strides: int | Pair = Conv2d.strides,
    padding: Any = Conv2d.padding,
    dilations: int | Pair = Conv2d.dilations,
    groups: int = Conv2d.groups,
    layout: str = Conv2d.layout,
) -> Value:
    """Convolution; the filter is OIHW for NCHW images and HWIO for NHWC.

    `padding`: "VALID", "SAME" (TensorFlow's), a number for all sides, one for each axis, or
    ((top, bottom), (left, right)).
    """
    op = Conv2d(pair(strides), padding_of(padding), pair(dilations), groups, layout)
    return op(x, filter)


def _input_gradient(op: Convolution, dy: Value, filter: Value, x: Value) -> Value:
    around = _transposed_padding(op, x.type, filter.type)
    if around is None:
        return remade(Conv2dInputGradient, op)(dy, filter, x)
    return remade(Conv2dTranspose, op, padding=around)(dy, filter)


def _transposed_padding(
    op: Convolution, x: TensorType, filter: TensorType
) -> tuple[Pair, Pair] | None:
    """The padding with which a transposed convolution gives the extents of x; `None` if unknown."""
    sides = []
    for axis, (extent, kernel) in enumerate(
        zip(*(d[2:] for d in dims(op, x, filter)), strict=True)
    ):
        reach = span(kernel, op.dilations[axis])
        if reach is None or not isinstance(extent, int):
            return None
        sides.append(transposed_side(side(op.padding, axis), extent, reach, op.strides[axis]))
    return (sides[0], sides[1])


def _taps(op: Convolution, filter: TensorType) -> int:
    """Number of products that are summed for one element of y."""
    o = filter.dims[TO_OIHW[op.layout][0]]
    return filter.size // o if o else 0


def _cases() -> Iterator[tuple[Conv2d, TensorType, TensorType]]:
    for attributes, x, filter in CASES:
        yield Conv2d(*attributes), TensorType("f32", x), TensorType("f32", filter)
