"""A caller's array as the memory of a variable, without a copy, where that is safe.

It is refused where another process could write the bytes (a file mapped into memory, shared
tensors), where writing them is forbidden, and where they belong to a variable already: a program
writes new values over old ones while it still reads other variables.
"""

from __future__ import annotations

from typing import Any
from weakref import ref

import numpy as np

from byparts_graph_ir import GraphError, ShapeError, Space, TensorType
from byparts_graph_ir.fork import make_lock
from byparts_runtime.arrays.accept import resident, to_array
from byparts_runtime.arrays.dtypes import Array, type_of

_lock = make_lock()
_taken: list[tuple[int, int, Any, str]] = []  # start, end, owner (weak), name


def adopt(value: Any, space: Space, what: str) -> tuple[Any, TensorType]:
    """The memory of the array and its type; `what` names it in errors.

    An array in host memory must be contiguous, writable and aligned to its items, as arrays that
    a program is bound to are.

    Raises:
        ShapeError: it is no array, or its dtype is none of ours.
        GraphError: it cannot be used as it is; says why, and what to do.
    """
    own = resident(value, space, what)
    if own is not None:
        return own
    known = isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")
    if not known or hasattr(value, "carried"):  # a variable
        raise ShapeError(f"{what}: {type(value).__name__} {value!r:.60} is no array to adopt")
    if space.name != "host":
        where = f"the array is in host memory, the variable in {space.name}"
        raise GraphError(f"{what}: {where}; Variable(name, array, space=...) copies it")
    array = to_array(value, TensorType("f32", None), what)
    kind = type_of(array)
    reason = _reason(value, array)
    if reason:
        raise GraphError(f"{what}: {reason}, so it cannot be adopted; Variable(name, array) copies")
    if array.size == 0:
        return space.allocate(0), kind
    return array.reshape(-1).view(np.uint8).data, kind  # no copy: it is contiguous


def claim(owner: Any, memory: Any, name: str) -> None:
    """Note that these bytes of the host belong to a variable for as long as it lives.

    Raises:
        GraphError: some of them belong to another one.
    """
    start = np.frombuffer(memory, np.uint8).ctypes.data
    end = start + len(memory)
    with _lock:
        _taken[:] = [entry for entry in _taken if entry[2]() is not None]
        for other_start, other_end, other, other_name in _taken:
            if other() is owner:
                return
            if start < other_end and other_start < end:
                raise GraphError(
                    f"variable {name!r}: bytes of the array are those of variable {other_name!r} "
                    "already; two variables need memory of their own"
                )
        _taken.append((start, end, ref(owner), name))


def _reason(value: Any, array: Array) -> str:
    """Why these bytes cannot be a variable's; empty if they can."""
    if not array.flags.c_contiguous:
        return f"the array of shape {array.shape} has strides {array.strides} and is not contiguous"
    if not array.flags.aligned:
        place = array.ctypes.data % array.dtype.alignment
        return f"the array begins {place} bytes after a multiple of {array.dtype.alignment}"
    if not array.flags.writeable:
        return "the array is read-only"
    owner = _owner(array) if isinstance(value, np.ndarray) else None
    if owner is not None:
        return f"the memory of the array belongs to a {type(owner).__name__}"
    shared = getattr(value, "is_shared", None)
    return "other processes share its memory" if shared is not None and shared() else ""


def _owner(array: Array) -> Any:
    """The object that owns the memory, if that is no NumPy array; else `None`."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):
        if isinstance(owner, np.ndarray) and owner.flags.owndata:
            return None
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    return owner
