"""Arrays from nothing: constants, ranges, grids.

While a function is traced they are constants of its graph, whose sizes may differ from call to
call; else arrays of their own, each time new ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Optional

import numpy as np

import byparts_opset as ops
from byparts_eager.apply import new_constant
from byparts_eager.array import Array, asarray
from byparts_eager.dtype import our_name
from byparts_eager.kind import device_backend
from byparts_eager.size import Size
from byparts_eager.standard.manipulation import broadcast_to, expand_dims, permute_dims, reshape
from byparts_eager.state import state
from byparts_eager.trace import add_node
from byparts_graph_ir import ArgumentError, Op, Value


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of this shape, each element `fill_value` (a number, or a 0-d array).

    Raises:
        ShapeError: the dtype cannot hold the number.
    """
    sizes = _sizes(shape)
    if isinstance(fill_value, Value):
        return broadcast_to(asarray(fill_value, dtype=dtype, device=device), sizes)
    name = _dtype_of(fill_value) if dtype is None else our_name(dtype)
    value = bool(fill_value) if name == "bool" else fill_value
    number = int(value) if isinstance(value, bool) and name != "bool" else value
    return _made(ops.Fill(number, name, sizes), device)


def zeros(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of zeros, of f32 unless `dtype` says otherwise."""
    return full(shape, 0, dtype="f32" if dtype is None else dtype, device=device)


def ones(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of ones, of f32 unless `dtype` says otherwise."""
    return full(shape, 1, dtype="f32" if dtype is None else dtype, device=device)


def empty(shape: Any, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of zeros: elements of arrays never change, so undefined ones have no use."""
    return zeros(shape, dtype=dtype, device=device)


def full_like(
    x: Any, /, fill_value: Any, *, dtype: Any = None, device: Optional[str] = None
) -> Any:
    """An array of the shape, dtype and device of `x`, each element `fill_value`."""
    x = asarray(x)
    name = x.type.dtype if dtype is None else our_name(dtype)
    if None in (x.type.shape or (None,)) and not x.type.static:
        return ops.fill_like(ops.cast(x, name), fill_value)
    where = x.device if device is None and isinstance(x, Array) else device
    return full(x.type.shape, fill_value, dtype=name, device=where)


def zeros_like(x: Any, /, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of zeros of the shape, dtype and device of `x`."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x: Any, /, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of ones of the shape, dtype and device of `x`."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x: Any, /, *, dtype: Any = None, device: Optional[str] = None) -> Any:
    """An array of zeros of the shape, dtype and device of `x`, as `empty`."""
    return full_like(x, 0, dtype=dtype, device=device)


def arange(
    start: Any, /, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Any:
    """The numbers start, start + step, ... before stop; from 0 where one number is given.

    Integers give i64, others f32, unless `dtype` says otherwise.
    """
    first, last = (0, start) if stop is None else (start, stop)
    if isinstance(last, Size) and (first, step) == (0, 1):  # a size that differs: count ones
        counts = ops.cumsum(full((last,), 1, dtype="i64"), 0, exclusive=True)
        return asarray(counts, dtype=dtype)
    begin, end, by = [x if isinstance(x, (int, float)) else index(x) for x in (first, last, step)]
    whole = all(isinstance(x, int) for x in (begin, end, by))
    name = ("i64" if whole else "f32") if dtype is None else our_name(dtype)
    return _made(ops.Range(begin, end, by, name), device)


def linspace(
    start: float,
    stop: float,
    /,
    num: int,
    *,
    dtype: Any = None,
    device: Optional[str] = None,
    endpoint: bool = True,
) -> Any:
    """`num` numbers in equal steps from start to stop, or up to it without the `endpoint`."""
    elements = np.linspace(start, stop, num, endpoint=endpoint)
    return Array(elements, "f32" if dtype is None else dtype, device or "numpy")


def eye(
    n_rows: int,
    n_cols: Optional[int] = None,
    /,
    *,
    k: int = 0,
    dtype: Any = None,
    device: Optional[str] = None,
) -> Any:
    """A matrix of zeros with ones where column - row is `k`."""
    name = "f32" if dtype is None else our_name(dtype)
    if k == 0 and name != "bool":
        return _made(ops.Eye(n_rows, n_rows if n_cols is None else n_cols, name), device)
    return Array(np.eye(n_rows, n_cols, k), name, device or "numpy")


def from_dlpack(x: Any, /, *, device: Optional[str] = None, copy: Optional[bool] = None) -> Any:
    """An array of the elements of another library's array, copied: others may change theirs."""
    return asarray(x if isinstance(x, Value) else np.from_dlpack(x), device=device, copy=copy)


def tril(x: Any, /, *, k: int = 0) -> Any:
    """`x` with zeros where column - row is above `k`, in the matrices of the last two axes."""
    return _triangle(x, k, ops.LessEqual())


def triu(x: Any, /, *, k: int = 0) -> Any:
    """`x` with zeros where column - row is below `k`, in the matrices of the last two axes."""
    return _triangle(x, k, ops.GreaterEqual())


def meshgrid(*arrays: Any, indexing: str = "xy") -> list[Any]:
    """Each 1-d array along an axis of its own, broadcast to the grid of all.

    With "xy" the first two axes are exchanged: rows of a picture are the second array's.

    Raises:
        ArgumentError: `indexing` is neither "xy" nor "ij".
    """
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f'meshgrid: indexing is {indexing!r}, and should be "xy" or "ij"')
    n, values = len(arrays), [asarray(x) for x in arrays]
    dims = tuple([size for x in values for size in x.shape or (1,)])
    grids = [
        broadcast_to(reshape(x, (1,) * i + (dims[i],) + (1,) * (n - 1 - i)), dims)
        for i, x in enumerate(values)
    ]
    turned = indexing == "xy" and n > 1
    return [permute_dims(g, (1, 0, *range(2, n))) for g in grids] if turned else grids


def _triangle(x: Any, k: int, keep: Op) -> Any:
    x = asarray(x)
    device = x.device if isinstance(x, Array) else None
    rows, columns = (arange(size, device=device) for size in x.shape[-2:])
    kept = keep(ops.sub(columns, expand_dims(rows, axis=-1)), k)
    return ops.select(kept, x, zeros((), dtype=x.type.dtype, device=device))


def _made(op: Op, device: Optional[str]) -> Any:
    if state.frame is not None:
        return add_node(op, ())[0]
    return new_constant(op, device_backend(device or "numpy"))


def _sizes(shape: Any) -> tuple[Any, ...]:
    several = shape if isinstance(shape, Sequence) and not isinstance(shape, str) else (shape,)
    return tuple([str(d) if isinstance(d, str) else index(d) for d in several])


def _dtype_of(number: Any) -> str:
    if isinstance(number, bool):
        return "bool"
    return "i64" if isinstance(number, int) else "f32"
