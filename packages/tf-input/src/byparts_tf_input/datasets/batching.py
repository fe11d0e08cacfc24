"""Several elements as one: batches, padded batches, windows; and the reverse."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.nest import flatten, flatten_up_to, map_structure, pack_sequence_as
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.static import static_dims, static_value
from byparts_tf_files.dtypes import bool_, int64, string, variant
from byparts_tf_files.errors import DataLossError, InvalidArgumentError
from byparts_tf_files.shape import Dims, as_dims
from byparts_tf_input.datasets.elements import Row, Spec, stacked, with_dims
from byparts_tf_input.datasets.pipeline import (
    Context,
    EndOfSequence,
    Next,
    Pipeline,
    listed,
    number,
)
from byparts_tf_input.datasets.sources import sliced


def batched(source: Pipeline, batch_size: Any, drop_remainder: Any) -> Pipeline:
    """Rows of `batch_size` elements along a new first axis."""
    size, drop = _sizes(batch_size, drop_remainder)
    first = _static(size, drop)
    element = with_dims(source.element, lambda d: None if d is None else (first, *d))

    def start(context: Context) -> Next:
        gather = _gatherer(source, context, size, drop)
        return lambda: stacked(gather())

    return Pipeline(element, start, (source,), (size, drop))


def _sizes(batch_size: Any, drop_remainder: Any) -> tuple[Tensor, Tensor]:
    if isinstance(batch_size, int) and batch_size <= 0:
        batch_size = -1  # refused when it starts
    return number(batch_size, "batch_size"), convert_to_tensor(
        drop_remainder, bool_, "drop_remainder"
    )


def _static(size: Tensor, drop: Tensor) -> Optional[int]:
    known, drops = static_value(size), static_value(drop)
    return int(known) if known is not None and drops is not None and bool(drops) else None


def _gatherer(source: Pipeline, context: Context, size: Tensor, drop: Tensor) -> Any:
    get, count, drops = source.start(context), context.number(size), bool(context.value(drop))
    if count <= 0:
        raise InvalidArgumentError(None, None, "Batch size must be greater than zero.")
    ended = False

    def gather() -> list[Row]:
        nonlocal ended
        rows: list[Row] = []
        while len(rows) < count and not ended:
            try:
                rows.append(get())
            except EndOfSequence:
                ended = True
        if not rows or (drops and len(rows) < count):
            raise EndOfSequence
        return rows

    return gather


def padded(
    source: Pipeline, batch_size: Any, shapes: Any, values: Any, drop_remainder: Any
) -> Pipeline:
    """Batches as of `batched`, whose elements are filled up to a shape first.

    Args:
        source: the elements.
        batch_size: how many.
        shapes: the shape of each leaf; `None` or -1: the largest of the batch.
        values: what they are filled up with; `None`: zeros, empty strings.
        drop_remainder: leave out a last batch that is smaller.

    Raises:
        ValueError: a shape does not fit, or a leaf is sparse.
        TypeError: a value is of another dtype.
    """
    specs: list[Spec] = flatten(source.element)
    if any(s.kind is not Tensor for s in specs):
        raise TypeError("Batching of padded sparse tensors is not currently supported")
    size, drop = _sizes(batch_size, drop_remainder)
    wanted = [_shape(s) for s in flatten_up_to(source.element, shapes)]
    for spec, (dims, _) in zip(specs, wanted, strict=True):
        _check_shape(spec, dims)
    fills = _fills(source.element, specs, values)
    first = _static(size, drop)
    rows = zip(specs, wanted, strict=True)
    leaves = [Spec(s.dtype, None if d is None else (first, *d)) for s, (d, _) in rows]
    tensors = [t for _, t in wanted]

    def start(context: Context) -> Next:
        gather = _gatherer(source, context, size, drop)
        sizes = [[int(d) for d in context.value(t)] for t in tensors]
        filled = [context.value(t) for t in fills]
        return lambda: _padded(gather(), sizes, filled)

    needed = (size, drop, *tensors, *fills)
    return Pipeline(pack_sequence_as(source.element, leaves), start, (source,), needed)


def _shape(given: Any) -> tuple[Dims, Tensor]:
    """The known part of a shape to fill up to, and the shape as a tensor with -1."""
    if isinstance(given, Tensor):
        tensor = convert_to_tensor(given, int64)
        return static_dims(tensor), tensor
    dims = as_dims([None if d == -1 else d for d in given] if _listed(given) else given)
    if dims is None:
        raise ValueError("padded_shapes: the rank of a shape is not known")
    numbers = np.array([-1 if d is None else d for d in dims], np.int64)
    return dims, convert_to_tensor(numbers)


def _listed(given: Any) -> bool:
    return isinstance(given, (list, tuple, np.ndarray))


def _check_shape(spec: Spec, dims: Dims) -> None:
    if spec.dims is None or dims is None:
        return
    pairs = zip(spec.dims, dims, strict=False)
    smaller = any(a is not None and b is not None and b < a for a, b in pairs)
    if len(spec.dims) != len(dims) or smaller:
        raise ValueError(
            f"The padded shape {dims} is not compatible with the corresponding input component "
            f"shape {spec.dims}."
        )


def _fills(element: Any, specs: Sequence[Spec], values: Any) -> list[Tensor]:
    given = [None] * len(specs) if values is None else flatten_up_to(element, values)
    made = []
    for spec, value in zip(specs, given, strict=True):
        default = b"" if spec.dtype is string else spec.dtype.as_numpy_dtype(0)
        try:
            tensor = convert_to_tensor(default if value is None else value, name="padding_value")
            if tensor.dtype is not spec.dtype and not isinstance(value, Tensor):
                tensor = convert_to_tensor(value, spec.dtype, "padding_value")
        except TypeError:
            tensor = convert_to_tensor(value, name="padding_value")
        if tensor.dtype.base_dtype is not spec.dtype:
            raise TypeError(
                f"The padding value type ({tensor.dtype!r}) does not match the component type "
                f"({spec.dtype!r})."
            )
        made.append(tensor)
    return made


def _padded(rows: list[Row], sizes: list[list[int]], fills: list[Any]) -> Row:
    columns = zip(*rows, strict=True)
    return tuple(
        [
            _filled(column, size, fill, i)
            for i, (column, size, fill) in enumerate(zip(columns, sizes, fills, strict=True))
        ]
    )


def _filled(column: Sequence[Any], size: list[int], fill: Any, place: int) -> Any:
    for array in column:
        if array.ndim != len(size):
            raise InvalidArgumentError(
                None,
                None,
                "All elements in a batch must have the same rank as the padded shape for component"
                f"{place}: expected rank {len(size)} but got element with rank {array.ndim}",
            )
    shape = [max([a.shape[axis] for a in column]) if d == -1 else d for axis, d in enumerate(size)]
    made = np.empty((len(column), *shape), column[0].dtype)
    made[...] = fill
    for i, array in enumerate(column):
        if any(a > d for a, d in zip(array.shape, shape, strict=True)):
            raise DataLossError(
                None, None, "Attempted to pad to a smaller size than the input element."
            )
        key: Any = (i, *[slice(0, d) for d in array.shape], ...)
        made[key] = array
    return made


def unbatched(source: Pipeline) -> Pipeline:
    """The slices of each element along its first axis."""
    element = with_dims(source.element, lambda d: None if d is None else d[1:])

    def start(context: Context) -> Next:
        get = source.start(context)
        current: Optional[Next] = None

        def following() -> Row:
            nonlocal current
            while True:
                if current is None:
                    current = sliced(get())
                try:
                    return current()
                except EndOfSequence:
                    current = None

        return following

    return Pipeline(element, start, (source,))


def windows(
    source: Pipeline, size: Any, shift: Any, stride: Any, drop_remainder: Any, kind: Any
) -> Pipeline:
    """Datasets of `size` elements, `stride` apart, each `shift` behind the one before."""
    count, by = number(size, "size"), number(size if shift is None else shift, "shift")
    apart, drop = number(stride, "stride"), convert_to_tensor(drop_remainder, bool_)
    element = map_structure(lambda s: Spec(variant, (), kind, s), source.element)

    def start(context: Context) -> Next:
        most, between, distance = [context.number(t) for t in (count, by, apart)]
        for value, name in ((most, "size"), (between, "shift"), (distance, "stride")):
            if value <= 0:
                raise InvalidArgumentError(
                    None, None, f"Window {name} must be greater than zero, but {value} given."
                )
        drops = bool(context.value(drop))
        return _windows(source.start(context), most, between, distance, drops)

    return Pipeline(element, start, (source,), (count, by, apart, drop))


def _windows(get: Next, size: int, shift: int, stride: int, drop: bool) -> Next:
    buffer: list[Row] = []
    skip = 0
    more = True
    span = (size - 1) * stride + 1

    def following() -> Row:
        nonlocal skip, more
        try:
            while more and (skip or len(buffer) < span):
                row = get()
                if skip:
                    skip -= 1
                else:
                    buffer.append(row)
        except EndOfSequence:
            more = False
        if not buffer or (drop and len(buffer) < span):
            raise EndOfSequence
        rows = buffer[:span:stride]
        skip = max(0, shift - len(buffer))
        del buffer[:shift]
        columns = zip(*rows, strict=True)
        return tuple([partial(listed, [(leaf,) for leaf in column]) for column in columns])

    return following
