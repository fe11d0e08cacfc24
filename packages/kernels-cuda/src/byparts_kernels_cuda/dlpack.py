"""Arrays on a GPU from and to other libraries, through DLPack, without a copy or an import of them.

https://dmlc.github.io/dlpack/latest/c_api.html.  A capsule owns a structure with the address, the
type, and a function that lets go of it; whoever takes the array renames the capsule and calls that
function at the end.
"""

from __future__ import annotations

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    PYFUNCTYPE,
    Structure,
    c_char_p,
    c_int64,
    c_void_p,
    py_object,
    pythonapi,
)
from typing import TYPE_CHECKING, Any

from byparts_graph_ir import ITEM_BYTES, SUB_BYTE, GraphError, ShapeError, TensorType
from byparts_kernels_cuda.gpu import Gpu

if TYPE_CHECKING:
    from byparts_kernels_cuda.memory import DeviceArray

_CUDA = 2
_KINDS = {0: "i", 1: "u", 2: "f", 4: "bf", 6: "bool"}
_CODES = {kind: code for code, kind in _KINDS.items()}
_OLD, _USED = b"dltensor", b"used_dltensor"
_Deleter = CFUNCTYPE(None, c_void_p)


class _Tensor(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("dimensions", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),  # in elements; null where it is row-major
        ("offset", ctypes.c_uint64),
    )


class _Managed(Structure):
    _fields_ = (("tensor", _Tensor), ("context", c_void_p), ("deleter", _Deleter))


_given: dict[int, tuple[Any, ...]] = {}  # address of a structure -> it, its shape, its memory


def adopted(value: Any, gpu: Gpu) -> tuple[int, TensorType, object]:
    """The address and the type of another library's array on this GPU, and what keeps it alive.

    The library makes our stream wait for what writes the array.

    Raises:
        GraphError: it is not contiguous, or its library does not give it away.
        ShapeError: its dtype is none of ours.
    """
    try:
        capsule = value.__dlpack__(stream=gpu.stream)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise GraphError(f"{type(value).__name__} gives no array: {error}") from error
    managed = ctypes.cast(_pointer(capsule, _OLD), POINTER(_Managed)).contents
    tensor = managed.tensor
    dims = tuple(tensor.shape[: tensor.dimensions])
    kind = TensorType(_dtype(tensor), dims)
    if tensor.strides and not _is_contiguous(dims, tensor.strides[: len(dims)]):
        strides = tuple(tensor.strides[: len(dims)])
        raise GraphError(f"the array has strides {strides}: make it contiguous first")
    address = (tensor.data or 0) + tensor.offset
    return address, kind, capsule


def _dtype(tensor: _Tensor) -> str:
    kind = _KINDS.get(tensor.code, f"of code {tensor.code} and bits ")
    name = kind if kind == "bool" else f"{kind}{tensor.bits}"
    if tensor.lanes != 1 or name not in ITEM_BYTES or name in SUB_BYTE:
        raise ShapeError(f"elements {name} are none of our dtypes")
    return name


def _is_contiguous(dims: tuple[int, ...], strides: Any) -> bool:
    step = 1
    for n, stride in zip(reversed(dims), reversed(strides), strict=True):
        if n != 1 and stride != step:
            return 0 in dims
        step *= n
    return True


def capsule(array: DeviceArray) -> Any:
    """A capsule of an array, which it keeps alive until the consumer lets go of it."""
    dims = array.type.dims
    shape = (c_int64 * max(1, len(dims)))(*dims)
    dtype = array.type.dtype
    kind = dtype.rstrip("0123456789")
    managed = _Managed()
    managed.tensor = _Tensor(
        array.address,
        _CUDA,
        array.gpu.index,
        len(dims),
        _CODES[kind],
        8 * ITEM_BYTES[dtype],
        1,
        ctypes.cast(shape, POINTER(c_int64)),
    )
    managed.deleter = _let_go
    place = ctypes.addressof(managed)
    _given[place] = managed, shape, array.memory
    return _new(place, _OLD, ctypes.cast(_drop, c_void_p))


def _forget(place: int) -> None:
    """The consumer is done."""
    _given.pop(place, None)


def _forget_untaken(capsule: int) -> None:
    """A capsule is gone; nobody has taken it, if it still has its name."""
    if _is_valid(capsule, _OLD):
        _given.pop(_pointer_of(capsule, _OLD), None)


_let_go, _drop = _Deleter(_forget), CFUNCTYPE(None, c_void_p)(_forget_untaken)


_pointer = pythonapi.PyCapsule_GetPointer
_pointer.restype, _pointer.argtypes = c_void_p, (py_object, c_char_p)
_new = PYFUNCTYPE(py_object, c_void_p, c_char_p, c_void_p)(("PyCapsule_New", pythonapi))
# A capsule that is being freed must not become a Python object again: these take its address.
_is_valid = PYFUNCTYPE(ctypes.c_int, c_void_p, c_char_p)(("PyCapsule_IsValid", pythonapi))
_pointer_of = PYFUNCTYPE(c_void_p, c_void_p, c_char_p)(("PyCapsule_GetPointer", pythonapi))
