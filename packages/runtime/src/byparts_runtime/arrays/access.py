"""Tensors in the memory of a space: views of it, and callables that copy into and out of it.

The callables are made once for an address, so that a copy in host memory is one call of C.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import Backend, Space, TensorType
from byparts_runtime.arrays.dtypes import Array, carrier, numpy_dtype


def view(memory: Any, offset: int, kind: TensorType) -> Array:
    """The tensor of this static type at `offset` of host memory."""
    array: Array = np.ndarray(kind.dims, carrier(kind.dtype), memory, offset)
    return array


def reader(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[], Array]:
    """A callable that gives a fresh copy of the tensor there."""
    if space.name == "host":
        return view(memory, offset, kind).copy  # bound once: a call is a C call
    return partial(_read, space, memory, offset, kind)


def fetcher(
    results: Optional[Backend], space: Space, memory: Any, offset: int, kind: TensorType
) -> Callable[[], Any]:
    """A callable that gives the caller an array of its own: of that backend, else of NumPy."""
    if results is not None and results.copy is not None:
        return partial(results.copy, results.view(memory, offset, kind))
    numpy_dtype(kind.dtype)  # bf16 may be absent
    return reader(space, memory, offset, kind)


def writer(space: Space, memory: Any, offset: int, kind: TensorType) -> Callable[[Any], object]:
    """A callable that copies there what `taken` gave for this type."""
    if space.name == "host":
        return partial(view(memory, offset, kind).__setitem__, ...)
    prepared = space.writer(memory, offset, kind)
    return partial(_write, space, memory, offset) if prepared is None else prepared


def put(space: Space, memory: Any, kind: TensorType, value: Any) -> None:
    """Copy there, this once, what `taken` gave for this type."""
    if space.name != "host" and isinstance(value, np.ndarray):
        _write(space, memory, 0, value)  # a prepared writer may hold on to pinned memory
    else:
        writer(space, memory, 0, kind)(value)


def to_bytes(array: Array) -> bytes:
    """The elements in row-major order."""
    return np.ascontiguousarray(array).tobytes()


def _read(space: Space, memory: Any, offset: int, kind: TensorType) -> Array:
    space.synchronize()
    data = space.read(memory, offset, kind.size_bytes)
    dtype = carrier(kind.dtype)
    flat = np.frombuffer(data, dtype, prod(kind.dims)) if kind.size else ()
    return np.array(flat, dtype).reshape(kind.dims)


def _write(space: Space, memory: Any, offset: int, array: Array) -> None:
    space.write(memory, offset, to_bytes(array))
