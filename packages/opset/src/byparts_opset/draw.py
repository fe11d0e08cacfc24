"""The family of random draws: a key, a counter, and a shape of its own or of another value.

A draw takes a 0-d i64 key and a 0-d i64 counter.  Its shape is a field, or it is left to the
running program: then the field is `None` and a third input says what the draw is shaped like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Optional, Union

import byparts_opset as ops
from byparts_graph_ir import (
    FLOATS,
    Dimension,
    GraphError,
    Node,
    Op,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
)
from byparts_graph_ir.model.frozen import replace
from byparts_opset.dtypes import Array
from byparts_opset.elementwise import flat

FieldShape = Optional[tuple[Dimension, ...]]  # None: shaped like a third input
Shape = Union[Iterable[Dimension], Value]
Stream = Union[Value, int]


class Draw(Op):
    """A draw; a member has the fields `shape` and `dtype`, or gives bools.

    Attributes:
        examples: the fields of the ops in the samples.
    """

    ignores = (2,)
    shape_fields = ("shape",)
    gradient = flat
    examples: ClassVar[tuple[tuple[Any, ...], ...]]

    def infer(self, key: TensorType, counter: TensorType, *like: TensorType) -> Types:
        op: Any = self
        for what, t in (("key", key), ("counter", counter)):
            if t.dtype != "i64" or t.shape not in ((), None):
                raise ShapeError(f"{self.name}: the {what} is a 0-d i64, got {t}")
        if len(like) != (op.shape is None):
            got = f"{len(like)} values to be shaped like"
            raise GraphError(
                f"{self.name}: takes a shape or one value to be shaped like, got {got}"
                + (f" and the shape {op.shape}" if op.shape is not None else "")
            )
        dtype = getattr(self, "dtype", "bool")
        return (TensorType(dtype, like[0].shape if op.shape is None else op.shape),)

    infer_unranked = infer

    def canonical(self, node: Node) -> tuple[Value, ...] | None:
        """The same draw with a `shape` of its own, once the shape of the third input is known."""
        op: Any = self
        if op.shape is not None or not _definite(node.inputs[2].type):
            return None
        return (replace(op, shape=node.inputs[2].type.shape)(*node.inputs[:2]),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        stream = (TensorType("i64", ()), TensorType("i64", ()))
        for fields in cls.examples:
            op: Any = cls(*fields)
            like = () if op.shape is not None else (TensorType("f32", (2, 3)),)
            ranges = ((0, 1 << 40), (0, 1 << 20), (-1, 1))[: 2 + len(like)]
            yield Sample(op, (*stream, *like), ranges)


class FloatDraw(Draw):
    """A draw of floats."""

    shape: FieldShape = None
    dtype: str = "f32"

    examples = (((3, 5),), ((7,), "f64"), ((),), ((0, 2),), ())

    def __post_init__(self) -> None:
        if self.dtype not in FLOATS:
            what = f"draws floats, not {self.dtype!r}; random_int draws integers"
            raise ShapeError(f"{self.name}: {what}")

    @property
    def wide_dtype(self) -> str:
        """The dtype in which the draw is computed: f32 for half types."""
        return "f64" if self.dtype == "f64" else "f32"


def draw(op: Any, key: Stream, counter: Stream, shape: Shape) -> Value:
    """Apply a draw, whose `shape` is still `None`, in this shape or in that of this value."""
    key, counter = _i64(key), _i64(counter)
    if not isinstance(shape, Value):
        return replace(op, shape=tuple(shape))(key, counter)  # type: ignore[no-any-return]
    if _definite(shape.type):
        return replace(op, shape=shape.type.shape)(key, counter)  # type: ignore[no-any-return]
    return op(key, counter, shape)  # type: ignore[no-any-return]


def _i64(x: Stream) -> Value:
    """A number as a 0-d i64 with the same low 64 bits."""
    return x if isinstance(x, Value) else ops.fill((x + 2**63) % 2**64 - 2**63, "i64")


def _definite(t: TensorType) -> bool:
    return t.shape is not None and None not in t.shape


def known_shape(shape: FieldShape, like: tuple[Value, ...]) -> FieldShape:
    """The shape of a draw when it is decomposed, or `None`."""
    if shape is not None:
        return shape
    return like[0].type.shape if _definite(like[0].type) else None


def numbers(shape: FieldShape, like: tuple[Array, ...]) -> tuple[int, ...]:
    """The shape of a draw when it is evaluated."""
    return TensorType("f32", like[0].shape if shape is None else shape).dims
