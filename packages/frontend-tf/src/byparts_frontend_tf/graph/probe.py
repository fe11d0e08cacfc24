"""Shapes of results, found by trying a meaning on sizes.

Dimensions that are not known are tried with one large prime and then with another: what is equal
both times is known, what differs is not.  A kind without a shape rule of its own has this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Optional

from byparts_frontend_tf.graph.static import static_value
from byparts_graph_ir import GraphError, Input, ShapeError, TensorType, Value
from byparts_tf_files.shape import Dims, agreed, is_static

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.kind import Kind
    from byparts_frontend_tf.graph.operation import Tensor

_SIZES = (5987, 6997)  # such that no sum or product of usual sizes is one of them


def probed(
    kind: Kind, inputs: Sequence[Tensor], attributes: dict[str, Any], outputs: int
) -> list[Dims]:
    """Static shapes of the outputs, as far as the inputs tell them.

    Raises:
        ValueError: all is known of the inputs, and they do not fit.
    """
    unknown: list[Dims] = [None] * outputs
    if kind.meaning is None or any(t.dims is None for t in inputs):
        return unknown
    numbers = kind.numbers(len(inputs))
    given: list[Any] = [static_value(t) if i in numbers else t for i, t in enumerate(inputs)]
    if any(v is None for v in given):
        return unknown
    if all(is_static(t.dims) for t in inputs):
        try:
            return _tried(kind, given, attributes, 0)
        except ShapeError as error:
            raise ValueError(str(error)) from error
    try:
        first = _tried(kind, given, attributes, _SIZES[0])
        second = _tried(kind, given, attributes, _SIZES[1])
    except (GraphError, ValueError):  # sizes that have to fit others: nothing is known
        return unknown
    return [agreed(a, b) for a, b in zip(first, second, strict=True)]


def _tried(kind: Kind, given: Sequence[Any], attributes: dict[str, Any], size: int) -> list[Dims]:
    values = [_value(v, size) for v in given]
    if any(v is None for v in values):
        return [None]
    assert kind.meaning is not None, "asked for above"
    made = kind.meaning(*values, **attributes)
    return [v.type.dims for v in ((made,) if isinstance(made, Value) else made)]


def _value(given: Any, size: int) -> Optional[Any]:
    if not hasattr(given, "dims") or not hasattr(given, "op"):
        return given
    own = given.dtype.own
    dims = tuple([size if d is None else d for d in given.dims])
    return Input(TensorType(own, dims), None, "", "") if own else None
