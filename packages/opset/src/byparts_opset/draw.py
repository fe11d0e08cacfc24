"""What every random op shares: a key, a counter, and a shape of its own or of another value.

A draw takes a 0-d i64 key and a 0-d i64 counter.  Its shape is a field, or it is left to the
running program: then the field is `None` and a third input says what the draw is shaped like.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Optional, Union

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
from byparts_graph_ir.lazy_dataclass import replace
from byparts_opset.dtypes import Array

FieldShape = Optional[tuple[Dimension, ...]]  # None: shaped like a third input
Shape = Union[Iterable[Dimension], Value]
Stream = Union[Value, int]


def draw(op: Any, key: Stream, counter: Stream, shape: Shape) -> Value:
    """Apply a draw of unknown shape, once it has one."""
    key, counter = _i64(key), _i64(counter)
    if not isinstance(shape, Value):
        return replace(op, shape=tuple(shape))(key, counter)  # type: ignore[no-any-return]
    if _definite(shape.type):
        return replace(op, shape=shape.type.shape)(key, counter)  # type: ignore[no-any-return]
    return op(key, counter, shape)  # type: ignore[no-any-return]


def _i64(x: Stream) -> Value:
    """A number as a 0-d i64 with the same low 64 bits."""
    return x if isinstance(x, Value) else ops.fill((x + 2**63) % 2**64 - 2**63, "i64")


def check_float(name: str, dtype: str) -> None:
    """Raise ShapeError unless the dtype is a float."""
    if dtype not in FLOATS:
        raise ShapeError(f"{name}: draws floats, not {dtype!r}; random_int draws integers")


def drawn_type(
    op: Op, shape: FieldShape, dtype: str, key: TensorType, counter: TensorType, *like: TensorType
) -> Types:
    """The shape rule of every draw."""
    for what, t in (("key", key), ("counter", counter)):
        if t.dtype != "i64" or t.shape not in ((), None):
            raise ShapeError(f"{op.name}: the {what} is a 0-d i64, got {t}")
    if len(like) != (shape is None):
        got = f"{len(like)} values to be shaped like"
        raise GraphError(
            f"{op.name}: takes a shape or one value to be shaped like, got {got}"
            + (f" and the shape {shape}" if shape is not None else "")
        )
    return (TensorType(dtype, like[0].shape if shape is None else shape),)


def placed(op: Any, node: Node) -> tuple[Value, ...] | None:
    """`canonical` of every draw: the shape of what it is shaped like, once that is known."""
    if op.shape is not None or not _definite(node.inputs[2].type):
        return None
    return (replace(op, shape=node.inputs[2].type.shape)(*node.inputs[:2]),)


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


def wide_dtype(dtype: str) -> str:
    """What a draw is computed in: half types in f32."""
    return "f64" if dtype == "f64" else "f32"


def draw_samples(*ops: Any) -> Iterator[Sample]:
    """These draws, each with a key and a counter."""
    stream = (TensorType("i64", ()), TensorType("i64", ()))
    for op in ops:
        like = () if op.shape is not None else (TensorType("f32", (2, 3)),)
        yield Sample(op, (*stream, *like), ((0, 1 << 40), (0, 1 << 20), (-1, 1))[: 2 + len(like)])
