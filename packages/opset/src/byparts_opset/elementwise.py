"""The families of elementwise ops: one small base class for each, which says what they share.

A member of a family says its equation, its meaning (`evaluate`, or NumPy's `ufunc`) and `gradient`:

    class Sinh(Unary):
        \"\"\"y = sinh x = (e^x - e^-x) / 2.\"\"\"

        ufunc = np.sinh

        def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
            return (dy * ops.cosh(node.inputs[0]),)

and sets those class attributes in which it differs from its family.  The shape rules hold for
unknown ranks, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import FLOATS, Dimension, Node, Op, Sample, TensorType, Types, Value
from byparts_opset.broadcast import broadcast_types
from byparts_opset.dtypes import BOOLS, NUMBERS, Array, narrow, refuse, wide

Range = tuple[float, float]
Pairs = tuple[tuple[int, int], ...]


def flat(self: Op, node: Node, *dys: Value) -> tuple[Value | None, ...]:
    """The gradient of what is constant almost everywhere, or gives no floats: none."""
    return (None,) * len(node.inputs)


def same_shape_back(self: Op, inputs: Types, outputs: Types) -> Types:
    """The input of an op whose output has its shape."""
    return (TensorType(inputs[0].dtype, outputs[0].shape),)


def broadcast_back(self: Op, inputs: Types, outputs: Types) -> Types:
    """The inputs of a broadcasting op, with what its output tells of axes that only it knows."""
    if any(t.shape is None for t in (*inputs, *outputs)):
        return inputs
    known = []
    for i, x in enumerate(inputs):
        others = [t.shape or () for j, t in enumerate(inputs) if j != i]
        axes = range(-len(x.shape or ()), 0)
        known.append(TensorType(x.dtype, tuple(_dim_back(a, x, others, outputs[0]) for a in axes)))
    return tuple(known)


def _dim_back(
    axis: int, x: TensorType, others: Sequence[tuple[Dimension, ...]], y: TensorType
) -> Dimension:
    known, result = (x.shape or ())[axis], (y.shape or ())[axis]
    alone = all(len(shape) < -axis or shape[axis] == 1 for shape in others)
    return result if not isinstance(known, int) and (alone or result == 1) else known


class Elementwise(Op):
    """Each element of the output is computed from one element of each input.

    Attributes:
        ufunc: NumPy's function for it, if it has one; otherwise a member writes `evaluate`.
        takes: the dtypes that the inputs may have.
        advice: what to do about another dtype, if that is not what `dtypes.refuse` says.
        examples: the fields of the ops in the samples, each tried on all ranges.
    """

    pattern = "elementwise"
    ufunc: ClassVar[np.ufunc | None] = None
    takes: ClassVar[frozenset[str]] = FLOATS
    advice: ClassVar[str] = ""
    examples: ClassVar[tuple[tuple[object, ...], ...]] = ((),)

    def evaluate(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        return computed(self.ufunc, *inputs) if self.ufunc else super().evaluate()


class Unary(Elementwise):
    """y has the type of x, and may be written over it.

    Attributes:
        smooth: ranges of x on which the gradient exists; the samples are drawn from each.
    """

    inplace: ClassVar[Pairs] = ((0, 0),)
    smooth: ClassVar[tuple[Range, ...]] = ((-2.0, 2.0),)

    def infer(self, x: TensorType) -> Types:
        if x.dtype not in self.takes:
            refuse(self.name, x, self.takes, self.advice)
        return (x,)

    infer_unranked = infer
    infer_inputs = same_shape_back

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        """A matrix, a 0-d and an empty x."""
        dtype = "bool" if cls.takes is BOOLS else "f32"
        for fields in cls.examples:
            for limits in cls.smooth:
                for shape in ((3, 4), (), (0, 2)):
                    ranges = () if cls.takes is BOOLS else (limits,)
                    yield Sample(cls(*fields), (TensorType(dtype, shape),), ranges)


class Question(Unary):
    """y is a bool in the shape of x, which is a number."""

    inplace = ()
    takes = NUMBERS

    def infer(self, x: TensorType) -> Types:
        return (TensorType("bool", super().infer(x)[0].shape),)

    def evaluate(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        return answered(self.ufunc, *inputs) if self.ufunc else super().evaluate()

    infer_unranked = infer
    gradient = flat


class Binary(Elementwise):
    """z is broadcast from x and y, which have one dtype, and may be written over either.

    Attributes:
        smooth: ranges of x and of y on which the gradients exist; samples are drawn from them.
    """

    inplace: ClassVar[Pairs] = ((0, 0), (1, 0))
    takes = NUMBERS
    smooth: ClassVar[tuple[Range, ...]] = ((-2.0, 2.0), (-2.0, 2.0))

    def infer(self, x: TensorType, y: TensorType) -> Types:
        # Most types are equal in most programs, and building nodes should cost little.
        z = x if x is y or x == y else broadcast_types(self.name, x, y)
        if z.dtype not in self.takes:
            refuse(self.name, x, self.takes, self.advice)
        return (z,)

    infer_unranked = infer
    infer_inputs = broadcast_back

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for fields in cls.examples:
            for shapes in BROADCASTS:
                yield Sample(cls(*fields), _typed("f32", *shapes), cls.smooth)


class Comparison(Binary):
    """z is a bool, broadcast from x and y."""

    inplace = ()

    def infer(self, x: TensorType, y: TensorType) -> Types:
        return (TensorType("bool", super().infer(x, y)[0].shape),)

    def evaluate(self, *inputs: Any, **_: Any) -> tuple[Any, ...]:
        return answered(self.ufunc, *inputs) if self.ufunc else super().evaluate()

    infer_unranked = infer
    gradient = flat


class Logic(Binary):
    """z is broadcast from x and y, all of them bools."""

    takes = BOOLS
    gradient = flat

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shapes in BROADCASTS:
            yield Sample(cls(), _typed("bool", *shapes))


# Shapes of samples of two inputs: equal, broadcasting both ways, a 0-d operand, nothing at all.
BROADCASTS: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = (
    *(((3, 4), (3, 4)), ((3, 1), (4,)), ((2, 3), ()), ((), (2,)), ((), ()), ((0, 2), (1, 2))),
)


def computed(f: Callable[..., Any], x: Array, *more: Array) -> tuple[Array]:
    """`f` in wide types, rounded once to the dtype of x; floating point warnings are silent."""
    with np.errstate(all="ignore"):
        return (narrow(f(wide(x), *map(wide, more)), x.dtype),)


def answered(f: Callable[..., Any], x: Array, *more: Array) -> tuple[Array]:
    """`f` in wide types, as bools."""
    with np.errstate(all="ignore"):
        return (np.asarray(f(wide(x), *map(wide, more)), dtype=bool),)


def summed_back(node: Node, *gradients: Value) -> tuple[Value | None, ...]:
    """Gradients of the inputs, each summed from the shape of the output to the input's shape."""
    pairs = zip(gradients, node.inputs, strict=True)
    return tuple(ops.sum_like(dx, x) for dx, x in pairs)


def _typed(dtype: str, *shapes: tuple[int, ...]) -> Types:
    return tuple(TensorType(dtype, shape) for shape in shapes)
