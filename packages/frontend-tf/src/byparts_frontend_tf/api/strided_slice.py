"""Slices: `x[1:, tf.newaxis, ..., i]`, `tf.slice`, `tf.strided_slice`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_frontend_tf.api.variables.assigning import make_assignable
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor, shape_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Value
from byparts_tf_files.dimension import Dimension
from byparts_tf_files.dtypes import bool_
from byparts_tf_files.shape import Dims

newaxis = None


class Part:
    """A number of a slice that a tensor gives: the input at `position`."""

    __slots__ = ("position",)

    def __init__(self, position: int) -> None:
        self.position = position


def getitem(x: TensorLike, key: Any) -> Tensor:
    """`x[key]`: numbers, slices, `...`, `None`, and tensors of one number.

    Raises:
        TypeError: something else stands in the key.
        ValueError: an index is known to be out of range.
    """
    if isinstance(key, bool) or getattr(key, "dtype", None) in (bool_, np.dtype(bool)):
        from byparts_frontend_tf.api.where import boolean_mask  # most slices need none of it

        return boolean_mask(x, key)
    variable = x if hasattr(x, "_as_tensor") else None
    x = convert_to_tensor(x)
    items = key if isinstance(key, (tuple, list)) else (key,)
    numbers: list[Tensor] = []
    normal = tuple([_item(item, numbers) for item in items])
    made: Tensor = STRIDED_SLICE(x, *numbers, name="strided_slice", key=normal)
    if variable is not None:
        make_assignable(made, variable, normal, lambda places: getitem(places, key))
    return made


def _item(item: Any, numbers: list[Tensor]) -> Any:
    if item is None or item is Ellipsis:
        return item
    if isinstance(item, slice):
        return slice(*[_number(v, numbers) for v in (item.start, item.stop, item.step)])
    return _number(item, numbers, index=True)


def _number(given: Any, numbers: list[Tensor], index: bool = False) -> Any:
    if given is None and not index:
        return None
    if isinstance(given, Dimension):
        given = given.value
        if given is None:
            raise ValueError("a dimension that is not known stands in a slice")
    if isinstance(given, (int, np.integer)) and not isinstance(given, bool):
        return int(given)
    if isinstance(given, np.ndarray) and given.ndim == 0 and given.dtype.kind in "iu":
        return int(given)
    if isinstance(given, Tensor) or hasattr(given, "_as_tensor"):
        tensor = convert_to_tensor(given)
        if not tensor.dtype.base_dtype.is_integer or tensor.dims not in (None, ()):
            raise TypeError(f"Value passed to slice has DataType {tensor.dtype.name}: {tensor}")
        known = static_value(tensor)
        if known is not None:
            return int(known)
        numbers.append(tensor)
        return Part(len(numbers))
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/"
        f"tf.int64 tensors are valid indices, got {given!r}"
    )


def _filled(item: Any, numbers: Sequence[Any]) -> Any:
    if isinstance(item, Part):
        return int(numbers[item.position - 1])
    if isinstance(item, slice):
        return slice(*[_filled(v, numbers) for v in (item.start, item.stop, item.step)])
    return item


def _strided_slice(x: Value, *numbers: Any, key: Any) -> Value:
    return ops.getitem(x, tuple([_filled(item, numbers) for item in key]))


def _strided_slice_on_host(x: Any, *numbers: Any, key: Any) -> Any:
    return x[tuple([_filled(item, numbers) for item in key])]


def _sliced(inputs: Sequence[Tensor], *, key: Any) -> Dims:
    dims = inputs[0].dims
    if dims is None:
        return None
    taken = sum(item is not None and item is not Ellipsis for item in key)
    if taken > len(dims):
        raise ValueError(
            f"Index out of range using input dim {len(dims)}; input has only {len(dims)}"
        )
    rest = list(dims)
    whole = len(dims) - taken
    shape: list[Optional[int]] = []
    for item in key if Ellipsis in key else (*key, Ellipsis):
        if item is None:
            shape.append(1)
        elif item is Ellipsis:
            shape += rest[:whole]
            del rest[:whole]
        elif isinstance(item, slice):
            shape.append(_length(item, rest.pop(0)))
        else:
            _check_index(item, rest.pop(0))
    return tuple(shape)


def _length(item: slice, d: Optional[int]) -> Optional[int]:
    if item == slice(None):
        return d
    bounds = (item.start, item.stop, item.step)
    if any(isinstance(b, Part) for b in bounds):
        return None
    if item.step == 0:
        raise ValueError("strides[0] must be non-zero")
    if d is not None:
        return len(range(d)[item])
    start, stop = item.start, item.stop
    if (
        item.step in (None, 1)
        and start is not None
        and stop is not None
        and start < 0 == (stop < 0)
    ):
        return None
    return 0 if stop == 0 and item.step in (None, 1) else None


def _check_index(item: Any, d: Optional[int]) -> None:
    if isinstance(item, int) and d is not None and not -d <= item < d:
        raise ValueError(f"slice index {item} of dimension 0 out of bounds: it has {d} elements.")


def _lower_strided_slice(lowering: Any, op: Operation) -> Value:
    """Indices that are known when it runs are gathered: they decide no shape.

    Likewise slices from one number to another, whose length alone decides the shape.
    """
    key = op.attributes["key"]
    x: Value = lowering.value(op.inputs[0], op)
    moving: list[tuple[int, Value]] = []  # of the axes that are left: what is gathered
    filled: list[Any] = []
    axis, read, indices = 0, 0, 0  # of what is left, of x, and indices among `moving`
    taken = sum(item is not None and item is not Ellipsis for item in key)
    for item in key:
        places = None
        if isinstance(item, Part):
            places = _moving_index(lowering, op, item, x.type.dims[read])
        elif isinstance(item, slice):
            places = _moving_slice(lowering, op, item, x.type.dims[read], axis - indices)
        if places is not None:
            moving.append((axis, places))
            indices += isinstance(item, Part)
        filled.append(_known(lowering, op, item) if places is None else slice(None))
        wide = len(x.type.dims) - taken if item is Ellipsis else 1
        read += 0 if item is None else wide
        axis += 0 if isinstance(filled[-1], int) else wide
    y = ops.getitem(x, tuple(filled))
    for at, places in reversed(moving):
        y = ops.gather(y, places, at)
    return y


def _moving_index(lowering: Any, op: Operation, item: Part, size: int) -> Optional[Value]:
    """An index that is not known before the run, or `None`."""
    index: Value = lowering.value(op.inputs[item.position], op)
    if lowering.is_constant(index):
        return None
    return ops.select(ops.less(index, 0), index + size, index)


def _moving_slice(
    lowering: Any, op: Operation, item: slice, size: int, axis: int
) -> Optional[Value]:
    """The places of a slice that begins where is not known before the run, or `None`.

    Args:
        lowering: what is asked.
        op: the slice.
        item: from where to where.
        size: of the dimension.
        axis: of the output.
    """
    if not isinstance(item.start, Part) or item.stop is None or item.step not in (None, 1):
        return None
    start: Value = lowering.value(op.inputs[item.start.position], op)
    if lowering.is_constant(start):
        return None
    dims = op.outputs[0].dims
    length = None if dims is None else dims[axis]
    begin = _within(start, size)
    if length is None and lowering.outer is not None:
        return None
    if length is None:
        asked = _length_asked(lowering, op, item.stop, start, size)
        length = max(0, int(lowering.run.numbers.number(asked, of_leaves=False)))
    return begin + ops.constant(np.arange(length), start.type.dtype)


def _length_asked(lowering: Any, op: Operation, stop: Any, start: Value, size: int) -> Value:
    """Length of a slice: the same value when its operation waited for it and is lowered again."""
    last = lowering.value(op.inputs[stop.position], op) if isinstance(stop, Part) else stop
    asked: Optional[Value] = lowering.lengths.get((start, last, size))
    if asked is None:
        end = last if isinstance(last, Value) else ops.constant(np.array(last), start.type.dtype)
        length = _within(ops.cast(end, start.type.dtype), size) - _within(start, size)
        asked = lowering.lengths[start, last, size] = length
    return asked


def _within(bound: Value, size: int) -> Value:
    """A bound of a slice as a number from 0 to `size`."""
    counted = ops.select(ops.less(bound, 0), bound + size, bound)
    return ops.minimum(ops.maximum(counted, 0), size)


def _known(lowering: Any, op: Operation, item: Any) -> Any:
    if isinstance(item, Part):
        return int(lowering.number(op.inputs[item.position], op))
    if isinstance(item, slice):
        return slice(*[_known(lowering, op, v) for v in (item.start, item.stop, item.step)])
    return item


STRIDED_SLICE = Kind(
    "StridedSlice",
    _strided_slice,
    special=_lower_strided_slice,
    host=_strided_slice_on_host,
    values=range(1, 64),
    shape=_sliced,
)


def _slice(x: Value, begin: Any, size: Any) -> Value:
    pieces = _pieces(begin, size)
    for b, s, d in zip(begin, size, x.type.dims, strict=True):
        if not 0 <= b <= d or (s != -1 and b + s > d):
            raise ValueError(f"Expected begin {b} and size {s} within a dimension of {d}")
    return ops.getitem(x, pieces) if pieces else ops.identity(x)


def _pieces(begin: Any, size: Any) -> tuple[slice, ...]:
    pairs = zip(begin, size, strict=True)
    return tuple([slice(int(b), None if s == -1 else int(b) + int(s)) for b, s in pairs])


def _slice_shape(inputs: Sequence[Tensor]) -> Dims:
    dims, size = inputs[0].dims, static_value(inputs[2])
    if size is None:
        parts = static_dims(inputs[2])
        return parts if parts is not None else None if dims is None else (None,) * len(dims)
    begin = static_value(inputs[1])
    given = dims if dims is not None else (None,) * size.size
    if len(given) != size.size:
        raise ValueError(f"Shape must be rank {size.size} but is rank {len(given)} for 'Slice'")
    starts: list[Any] = [None] * size.size if begin is None else begin.tolist()
    for b, s, d in zip(starts, size.tolist(), given, strict=True):
        if b is not None and d is not None and (b > d or (s != -1 and b + s > d)):
            raise ValueError(f"Slice of {s} from {b} goes beyond a dimension of {d}")
    return tuple(
        [
            s if s != -1 else None if d is None or b is None else d - b
            for b, s, d in zip(starts, size.tolist(), given, strict=True)
        ]
    )


def _lower_slice(lowering: Any, op: Operation) -> Value:
    """A part that begins where a value says is gathered along each axis."""
    x: Value = lowering.value(op.inputs[0], op)
    begin, size = lowering.value(op.inputs[1], op), lowering.number(op.inputs[2], op)
    if lowering.is_constant(begin) or any(int(s) == -1 for s in size):
        return _slice(x, lowering.number(op.inputs[1], op), size)
    for axis, s in enumerate(size):
        if int(s) != x.type.dims[axis]:
            start = ops.getitem(begin, axis)
            places = start + ops.constant(np.arange(int(s)), begin.type.dtype)
            x = ops.gather(x, places, axis)
    return x


SLICE = Kind(
    "Slice",
    _slice,
    special=_lower_slice,
    host=lambda x, begin, size: x[_pieces(begin, size)],
    values=(1, 2),
    shape=_slice_shape,
)


@symbol("slice")
def slice_(
    input_: TensorLike, begin: TensorLike, size: TensorLike, name: Optional[str] = None
) -> Any:
    """The elements from `begin`, `size` of them along each axis (-1: all that are left)."""
    x = convert_to_tensor(input_)
    return SLICE(x, shape_tensor(begin, "begin"), shape_tensor(size, "size"), name=name)


@symbol("strided_slice")
def strided_slice(
    input_: TensorLike,
    begin: TensorLike,
    end: TensorLike,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
    name: Optional[str] = None,
) -> Tensor:
    """`input_[begin:end:strides]`; a bit of a mask says of an item: no bound, `...`, a new axis.

    Raises:
        ValueError: begin and end differ in length, or their length is not known.
    """
    starts, stops = _numbers(begin), _numbers(end)
    steps = [1] * len(starts) if strides is None else _numbers(strides)
    if not len(starts) == len(stops) == len(steps):
        raise ValueError("begin, end and strides of a strided_slice differ in length")
    key: list[Any] = []
    for i, (a, b, s) in enumerate(zip(starts, stops, steps, strict=True)):
        bit = 1 << i
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(a)
        else:
            key.append(slice(None if begin_mask & bit else a, None if end_mask & bit else b, s))
    x, numbers = convert_to_tensor(input_), list[Tensor]()
    normal = tuple([_item(item, numbers) for item in key])
    return STRIDED_SLICE(x, *numbers, name=name or "StridedSlice", key=normal)


def _numbers(given: Any) -> list[Any]:
    """The numbers of a list or of a tensor of known length."""
    tensor = convert_to_tensor(given)
    known = static_value(tensor)
    if known is not None:
        return [int(v) for v in known.reshape(-1)]
    if tensor.dims is None or len(tensor.dims) != 1 or tensor.dims[0] is None:
        raise ValueError(f"strided_slice: how many numbers {tensor} has is not known")
    return [getitem(tensor, i) for i in range(tensor.dims[0])]


SYMBOLS = {"newaxis": "newaxis"}
