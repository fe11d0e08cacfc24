"""Arrays of other libraries, through DLPack: read where they are, without importing who made them.

NumPy's own `from_dlpack` knows no bf16, which is half of what torch tensors are made of nowadays,
so the capsule is read here; https://dmlc.github.io/dlpack/latest/c_api.html.
"""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint64,
    c_void_p,
    cast,
    py_object,
    pythonapi,
)
from typing import Any

import numpy as np

from byparts_graph_ir import GraphError, ShapeError
from byparts_runtime.arrays import Array, carrier

_ON_HOST = (1, 3, 11)  # plain memory; pinned by CUDA; pinned by ROCm
_DEVICES = {2: "cuda", 7: "vulkan", 8: "mps", 10: "rocm", 14: "xpu"}
_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool"}


class _Tensor(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("dimensions", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),  # in elements; null where it is row-major
        ("offset", c_uint64),
    )


def host_array(value: Any, what: str) -> Array:
    """A NumPy array on the bytes of `value`, which has `__dlpack__`; `what` names it in errors.

    Raises:
        GraphError: it is not in host memory, or its library does not give it away.
        ShapeError: its dtype is none of ours.
    """
    try:
        place, index = value.__dlpack_device__()
        if int(place) not in _ON_HOST:
            raise GraphError(
                f"{what}: the array is on {_DEVICES.get(int(place), f'device {int(place)}')}:"
                f"{index}, not in host memory; copy it first, for torch with .cpu()"
            )
        capsule = value.__dlpack__()
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GraphError(f"{what}: {type(value).__name__} gives no array: {error}") from error
    return _array(capsule, what)


def _array(capsule: Any, what: str) -> Array:
    """The array of a capsule, which lives as long as the array does."""
    tensor = cast(_pointer(capsule, b"dltensor"), POINTER(_Tensor)).contents
    dtype = _dtype(tensor, what)
    shape = tuple(tensor.shape[: tensor.dimensions])
    if not tensor.data or 0 in shape:
        return np.empty(shape, dtype)
    strides = _strides(tensor, shape)
    first = sum(min(0, s * (d - 1)) for s, d in zip(strides, shape, strict=True))
    last = sum(max(0, s * (d - 1)) for s, d in zip(strides, shape, strict=True))
    size_bytes = (last - first + 1) * dtype.itemsize
    start = tensor.data + tensor.offset + first * dtype.itemsize
    memory = (c_uint8 * size_bytes).from_address(start)
    memory.owner = capsule  # frees the tensor when it is freed
    step_bytes = tuple(s * dtype.itemsize for s in strides)
    array: Array = np.ndarray(shape, dtype, memory, -first * dtype.itemsize, step_bytes)
    return array


def _dtype(tensor: _Tensor, what: str) -> np.dtype[Any]:
    kind = _KINDS.get(tensor.code, f"of code {tensor.code} and bits ")
    name = kind if kind == "bool" else f"{kind}{tensor.bits}"
    try:
        return carrier(name) if tensor.lanes == 1 else carrier("of several lanes")
    except KeyError:
        raise ShapeError(f"{what}: elements {name} are none of our dtypes") from None


def _strides(tensor: _Tensor, shape: tuple[int, ...]) -> tuple[int, ...]:
    if tensor.strides:
        return tuple(tensor.strides[: len(shape)])
    strides, step = [], 1
    for dimension in reversed(shape):
        strides.append(step)
        step *= dimension
    return tuple(reversed(strides))


_pointer = pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, (py_object, c_char_p)
