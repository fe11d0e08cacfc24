"""Values that are known when the graph is built: constants, and what is computed from them.

They decide the static shapes of what reads them, as `tf.reshape(x, [tf.shape(y)[0], 10])` has one
known dimension.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Optional

import numpy as np

from byparts_graph_ir import Value
from byparts_opset import constant
from byparts_tf_files.shape import Dims, count_of, is_static

if TYPE_CHECKING:
    from byparts_frontend_tf.graph.operation import Operation, Tensor

_LARGEST = 4096  # elements of a value that is computed while a graph is built
_UNKNOWN = object()


def static_value(tensor: Tensor) -> Optional[Any]:
    """The value of a tensor as an array, where it is known while the graph is built, or `None`."""
    known = tensor.static
    if known is None:
        known = _find(tensor)
        tensor.static = _UNKNOWN if known is None else known
    return None if known is _UNKNOWN else known


def _find(tensor: Tensor) -> Optional[Any]:
    op = tensor.op
    if op.type == "Const":
        return op.attributes["value"]
    if op.type == "PlaceholderWithDefault":
        return None  # it may be fed
    if op.type in _MEASURES and op.inputs[0].dims is not None:
        return _MEASURES[op.type](op)
    if op.kind.meaning is None or not op.inputs or not tensor.dtype.own:
        return None
    count = count_of(tensor.dims)
    if count is None or count > _LARGEST:
        return None
    known = [static_value(t) for t in op.inputs]
    if any(a is None or a.size > _LARGEST or a.dtype == object for a in known):
        return None
    return _evaluated(op, known)[tensor.value_index]


def _evaluated(op: Operation, arrays: list[Any]) -> tuple[Any, ...]:
    numbers = op.kind.numbers(len(arrays))
    given = [a if i in numbers else constant(a) for i, a in enumerate(arrays)]
    assert op.kind.meaning is not None, "asked for above"
    made = op.kind.meaning(*given, **op.attributes)
    return evaluated((made,) if isinstance(made, Value) else tuple(made))


def evaluated(
    values: tuple[Value, ...], known: Optional[dict[Value, Any]] = None
) -> tuple[Any, ...]:
    """The arrays that values are, by NumPy; all they depend on is constant or in `known`."""
    from byparts_graph_ir import producers

    arrays: dict[Value, Any] = {} if known is None else dict(known)
    with np.errstate(all="ignore"):
        for node in producers(values):
            if not all(v in arrays for v in node.outputs):
                results = node.op.evaluate(*[arrays[v] for v in node.inputs])
                arrays.update(zip(node.outputs, results, strict=True))
    return tuple([np.asarray(arrays[v]) for v in values])


def _shape(op: Operation) -> Optional[Any]:
    dims = op.inputs[0].dims
    return np.array(dims, op.outputs[0].dtype.as_numpy_dtype) if is_static(dims) else None


def _size(op: Operation) -> Optional[Any]:
    dims = op.inputs[0].dims
    kind = op.outputs[0].dtype.as_numpy_dtype
    count = count_of(dims)
    return None if count is None else np.array(count, kind)


def _rank(op: Operation) -> Optional[Any]:
    return np.array(len(op.inputs[0].dims or ()), op.outputs[0].dtype.as_numpy_dtype)


_MEASURES = {"Shape": _shape, "Size": _size, "Rank": _rank}


def static_dims(tensor: Tensor) -> Dims:
    """The shape that a tensor of one axis names, where parts of it are known; -1 is not known."""
    value = static_value(tensor)
    if value is not None:
        return tuple([None if d < 0 else int(d) for d in value.reshape(-1).tolist()])
    parts = _parts(tensor)
    if parts is not None:
        return parts
    return (None,) * tensor.dims[0] if tensor.dims and tensor.dims[0] is not None else None


def _parts(tensor: Tensor) -> Dims:
    op = tensor.op
    if op.type == "Shape":
        return op.inputs[0].dims
    if op.type in ("Cast", "Identity", "StopGradient"):
        return static_dims(op.inputs[0])
    if op.type == "Pack" and tensor.dims is not None and len(tensor.dims) == 1:
        return tuple([_number(t) for t in op.inputs])
    if op.type == "ConcatV2":
        return _joined([static_dims(t) for t in op.inputs])
    if op.type == "StridedSlice":
        return _sliced(op)
    return None


def _joined(pieces: list[Dims]) -> Dims:
    dims: list[Optional[int]] = []
    for piece in pieces:
        if piece is None:
            return None
        dims += piece
    return tuple(dims)


def _number(tensor: Tensor) -> Optional[int]:
    """A number, where it is known; also an element of a partly known shape."""
    value = static_value(tensor)
    if value is not None:
        return None if value.size != 1 or int(value.item()) < 0 else int(value.item())
    op = tensor.op
    if op.type in ("Cast", "Identity"):
        return _number(op.inputs[0])
    if op.type == "StridedSlice":
        parts = _sliced(op)
        return parts[0] if parts is not None and len(parts) == 1 else None
    return None


def _sliced(op: Operation) -> Dims:
    whole = static_dims(op.inputs[0])
    key = op.attributes.get("key")
    if whole is None or key is None or len(key) != 1 or op.inputs[0].dims is None:
        return None
    if len(op.inputs[0].dims) != 1 or len(op.inputs) != 1:
        return None
    (item,) = key
    if isinstance(item, slice):
        return whole[item]
    return (whole[item],) if isinstance(item, int) and -len(whole) <= item < len(whole) else None


static_number = _number
