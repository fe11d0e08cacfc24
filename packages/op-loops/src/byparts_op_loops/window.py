"""Convolution as a tensor computed from the inputs; and what pooling has in common with it.

Images are indexed by n, c, h, w and filters by o, i, u, v here, whatever their layout is.  Padding
is a computed tensor around the image, so that the loops over a window have no conditions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import byparts_opset as ops
from byparts_graph_ir import Op, TensorType
from byparts_op_loops.function import Function, function
from byparts_opset.convolution import FROM_OIHW, TO_OIHW, Convolution, placed
from byparts_opset.window import FROM_NCHW, TO_NCHW, Pair
from byparts_tensor_ir.expression import Expr, as_expr, const
from byparts_tensor_ir.functions import select
from byparts_tensor_ir.lower import lower
from byparts_tensor_ir.statement import Buffer
from byparts_tensor_ir.tensor import Elements, Tensor, compute, placeholder, reduce_axis, sum

Rule = Callable[..., Elements]
Program = Callable[..., Tensor]


def as_loops(rule: Program) -> Callable[..., Function]:
    """The function of a rule for the output, given the op, placeholders, and their types."""

    def made(op: Op, types: Sequence[TensorType]) -> Function:
        inputs = [placeholder(t.dims, f"x{i}", t.dtype) for i, t in enumerate(types)]
        return Function(lower([*inputs, rule(op, inputs, types)], op.name))

    return made


@dataclass(frozen=True)
class View:
    """A tensor of rank 4 that is indexed in one order of axes and stored in another."""

    buffer: Buffer
    to: tuple[int, ...]
    back: tuple[int, ...]

    @property
    def shape(self) -> tuple[Expr, ...]:
        """Extents in the order of the index."""
        return tuple([self.buffer.shape[a] for a in self.to])

    def __getitem__(self, index: Sequence[Expr]) -> Expr:
        return self.buffer[tuple([index[a] for a in self.back])]

    def computed(self, extents: Sequence[int], rule: Rule, name: str = "y") -> Tensor:
        """A new tensor stored in the same order."""
        axes = self.to

        def stored(a: Expr, b: Expr, c: Expr, d: Expr) -> Elements:
            return rule(*[(a, b, c, d)[x] for x in axes])

        return compute([extents[a] for a in self.back], stored, name)


def images_of(op: Op, x: Buffer) -> View:
    """Images in the layout of the op, by n, c, h, w."""
    layout: str = op.layout  # type: ignore[attr-defined]  # a Convolution or a Pool
    return View(x, TO_NCHW[layout], FROM_NCHW[layout])


def _filter(op: Convolution, w: Buffer) -> View:
    return View(w, TO_OIHW[op.layout], FROM_OIHW[op.layout])


def numbers(shape: Sequence[Expr]) -> tuple[int, ...]:
    """Extents that are known."""
    return tuple([e.attr for e in shape])


def framed_images(x: View, around: tuple[Pair, Pair], value: float) -> View | Tensor:
    """Images [n, c, h, w] with padding; themselves where there is none."""
    n, c, h, w = numbers(x.shape)
    (top, bottom), (left, right) = around
    if around == ((0, 0), (0, 0)):
        return x
    fill = const(value, x.buffer.dtype)

    def element(a: Expr, b: Expr, p: Expr, q: Expr) -> Expr:
        row, column = p - top, q - left
        inside = (as_expr(0) <= row) & (row < h) & (as_expr(0) <= column) & (column < w)
        return select(inside, x[a, b, row, column], fill)

    return compute((n, c, top + h + bottom, left + w + right), element, "framed")


# -- convolution ----------------------------------------------------------------------------------


@function.on(ops.Conv2d)
@as_loops
def _conv2d(op: ops.Conv2d, inputs: Sequence[Tensor], types: Sequence[TensorType]) -> Tensor:
    """y[n, o, p, q] = sum over i, u, v of x[n, i, p s + u d, q s + v d] w[o, i, u, v]."""
    images, w = images_of(op, inputs[0]), _filter(op, inputs[1])
    (height, width), around = placed(op, *types)
    framed, (o, i, *kernel) = framed_images(images, around, 0), numbers(w.shape)
    axes = [reduce_axis(i, "i"), reduce_axis(kernel[0], "u"), reduce_axis(kernel[1], "v")]

    def element(n: Expr, c: Expr, p: Expr, q: Expr) -> Elements:
        channel = c // (o // op.groups) * i + axes[0]
        row, column = (_at(op, k, e, axes[1 + k]) for k, e in enumerate((p, q)))
        return sum(framed[n, channel, row, column] * w[c, axes[0], axes[1], axes[2]], axes)

    return images.computed((numbers(images.shape)[0], o, height, width), element)


@function.on(ops.Conv2dTranspose)
@as_loops
def _conv2d_transpose(
    op: ops.Conv2dTranspose, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """y[n, i, p s + u d, q s + v d] += x[n, o, p, q] w[o, i, u, v], for all p, q, u, v."""
    images, w = images_of(op, inputs[0]), _filter(op, inputs[1])
    (o, i, *kernel), (_, _, *counts) = numbers(w.shape), numbers(images.shape)
    extents = [op.infer(*types)[0].dims[a] for a in TO_NCHW[op.layout]]
    axes = [
        reduce_axis(o // op.groups, "o"),
        reduce_axis(kernel[0], "u"),
        reduce_axis(kernel[1], "v"),
    ]

    def element(b: Expr, c: Expr, h: Expr, k: Expr) -> Elements:
        channel = c // i * (o // op.groups) + axes[0]
        inside, index = const(True, "bool"), []
        for a, place in enumerate((h, k)):
            start = place + op.padding[a][0] - axes[1 + a] * op.dilations[a]
            s, count = op.strides[a], counts[a]
            inside = inside & (as_expr(0) <= start) & (start < count * s) & (start % s).equal(0)
            index.append(start // s)
        product = images[b, channel, index[0], index[1]] * w[channel, c % i, axes[1], axes[2]]
        return sum(product, axes, where=inside)

    return images.computed(extents, element)


@function.on(ops.Conv2dFilterGradient)
@as_loops
def _conv2d_filter_gradient(
    op: ops.Conv2dFilterGradient, inputs: Sequence[Tensor], types: Sequence[TensorType]
) -> Tensor:
    """dw[o, i, u, v] = sum over n, p, q of dy[n, o, p, q] x[n, i, p s + u d, q s + v d]."""
    images, dy = images_of(op, inputs[0]), images_of(op, inputs[1])
    w, x = _filter(op, inputs[2]), types[0]
    _, around = placed(op, x, types[2])
    framed, (n, _, *counts) = framed_images(images, around, 0), numbers(dy.shape)
    o, i, *kernel = numbers(w.shape)
    axes = [reduce_axis(n, "n"), reduce_axis(counts[0], "p"), reduce_axis(counts[1], "q")]

    def element(c: Expr, k: Expr, u: Expr, v: Expr) -> Elements:
        row, column = (_at(op, a, axes[1 + a], e) for a, e in enumerate((u, v)))
        channel = c // (o // op.groups) * i + k
        return sum(dy[axes[0], c, axes[1], axes[2]] * framed[axes[0], channel, row, column], axes)

    return w.computed((o, i, *kernel), element)


def _at(op: Convolution, axis: int, place: Expr, tap: Expr) -> Expr:
    """The row or column of the padded image under an element of the filter."""
    return place * op.strides[axis] + tap * op.dilations[axis]
