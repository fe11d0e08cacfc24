"""Arrays of other libraries, through DLPack: read where they are, without importing who made them.

NumPy's own `from_dlpack` and `__dlpack__` know no bf16, which is half of what torch tensors are
made of nowadays, so capsules are read here, and those that NumPy makes are corrected;
https://dmlc.github.io/dlpack/latest/c_api.html.  A capsule of version 1 can say that its bytes must
not be written, an older one cannot.
"""

from __future__ import annotations

from contextlib import suppress
from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_int,
    c_int32,
    c_int64,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    cast,
    py_object,
    pythonapi,
)
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import ITEM_BYTES, SUB_BYTE, GraphError, ShapeError
from byparts_runtime.arrays.dtypes import Array, carrier

_ON_HOST = (1, 3, 11)  # plain memory; pinned by CUDA; pinned by ROCm
_DEVICES = {2: "cuda", 7: "vulkan", 8: "mps", 10: "rocm", 14: "xpu"}
_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool"}
_BF = 4
_READ_ONLY = 1
_VERSION = (1, 0)  # that we ask for
_OLD, _NEW = b"dltensor", b"dltensor_versioned"


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


class _Versioned(Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", _Tensor),
    )


def host_array(value: Any, what: str) -> Array:
    """A NumPy array on the bytes of `value`, which has `__dlpack__`; `what` names it in errors.

    It is read-only if the capsule says so.

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
        capsule = _capsule(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GraphError(f"{what}: {type(value).__name__} gives no array: {error}") from error
    return _array(capsule, what)


def capsule(
    array: Array, bf16: bool, max_version: Optional[tuple[int, int]], read_only: bool
) -> Any:
    """A DLPack capsule of an array, which it keeps alive.

    Args:
        array: writable, contiguous; of bf16, the bits as `u16`.
        bf16: whether the elements are bf16.
        max_version: what the consumer understands; `None`: nothing newer than 0.8.
        read_only: where the version can say it, the capsule does.
    """
    exported: Any = None
    if max_version is not None and max_version[0] >= _VERSION[0]:
        with suppress(TypeError):  # NumPy before 2.1
            exported = array.__dlpack__(max_version=_VERSION)
    exported = array.__dlpack__() if exported is None else exported
    tensor, versioned = _content(exported)
    if bf16:
        tensor.code = _BF
    if versioned is not None and read_only:
        versioned.flags |= _READ_ONLY
    return exported


def _capsule(value: Any) -> Any:
    try:
        return value.__dlpack__(max_version=_VERSION)
    except TypeError:  # made before there were versions
        return value.__dlpack__()


def _content(capsule: Any) -> tuple[_Tensor, Optional[_Versioned]]:
    if not _is_valid(capsule, _NEW):
        return cast(_pointer(capsule, _OLD), POINTER(_Tensor)).contents, None
    versioned = cast(_pointer(capsule, _NEW), POINTER(_Versioned)).contents
    return versioned.tensor, versioned


def _array(capsule: Any, what: str) -> Array:
    """The array of a capsule, which lives as long as the array does."""
    tensor, versioned = _content(capsule)
    if versioned is not None and versioned.major != _VERSION[0]:
        raise GraphError(f"{what}: a capsule of DLPack {versioned.major}; expected {_VERSION[0]}")
    array = _array_of(tensor, capsule, what)
    if versioned is not None and versioned.flags & _READ_ONLY:
        array.flags.writeable = False
    return array


def _array_of(tensor: _Tensor, capsule: Any, what: str) -> Array:
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
    if tensor.lanes != 1 or name not in ITEM_BYTES:
        raise ShapeError(f"{what}: elements {name} are none of our dtypes")
    if name in SUB_BYTE:
        raise ShapeError(f"{what}: elements {name} of DLPack share bytes, ours do not; unpack them")
    return carrier(name)


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
_is_valid = pythonapi.PyCapsule_IsValid
_is_valid.restype, _is_valid.argtypes = c_int, (py_object, c_char_p)
