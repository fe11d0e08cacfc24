"""`Kind`: a type on a device, made once for each, so that kinds compare as objects.

What an op does on arrays depends on their types and on the backend that computes (the device);
plans are looked up by kinds, at each op, and hashing a type would take longer than adding two
numbers.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from byparts_graph_ir import ArgumentError, Backend, TensorType
from byparts_runtime.arrays.dtypes import numpy_dtype
from byparts_runtime.building.discover import find_backends


class Kind:
    """The type of an array, and the backend whose arrays hold its elements.

    Attributes:
        type: the static type.
        dims: its shape.
        dtype: NumPy's dtype; of NumPy arrays.
        backend: computes with arrays of this kind.
        on_numpy: whether the elements are a NumPy array.
    """

    __slots__ = ("backend", "dims", "dtype", "on_numpy", "type")

    type: TensorType
    dims: tuple[int, ...]
    dtype: np.dtype[Any]
    backend: Backend
    on_numpy: bool

    def empty(self) -> Any:
        """An array of this kind with memory of its own, whose elements are undefined."""
        if self.on_numpy:
            return np.empty(self.dims, self.dtype)
        space = self.backend.space
        return self.backend.view(space.allocate(self.type.size_bytes), 0, self.type)

    def __repr__(self) -> str:
        return f"{self.type} on {self.backend.name!r}"


_MOST_KINDS = 1 << 14
_kinds: dict[tuple[TensorType, str], Kind] = {}
caches: list[dict[Any, Any]] = [_kinds]  # of what is known of kinds; all are forgotten together


def forget() -> None:
    """Forget all that is known of kinds: a program whose shapes never repeat needs no more memory.

    Arrays keep their kinds; what is asked again is found again.
    """
    for known in caches:
        known.clear()


def kind_of(type: TensorType, backend: Backend) -> Kind:
    """The kind of this type on this backend, the same object each time."""
    known = _kinds.get((type, backend.name))
    if known is None:
        if len(_kinds) >= _MOST_KINDS:
            forget()
        known = Kind()
        known.type, known.dims, known.backend = type, type.dims, backend
        known.on_numpy = backend.name == "numpy"
        known.dtype = numpy_dtype(type.dtype)
        known = _kinds.setdefault((type, backend.name), known)
    return known


@cache
def device_backend(device: str) -> Backend:
    """The backend that computes ops on arrays of this device: "numpy" (or "cpu"), "torch", "cuda".

    Raises:
        ArgumentError: it is a backend that compiles each op, which would take seconds.
        PartError: it is not installed, or does not start.
    """
    name = "numpy" if device == "cpu" else device
    (backend,) = find_backends((name,))
    if backend.slow_to_build:
        raise ArgumentError(
            f"device={device!r}: this backend compiles each op, which takes a second each; use "
            f'device="numpy", and compile(f, backends=({device!r},)) for whole functions'
        )
    return backend
