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
from byparts_runtime.arrays import Array, adopted, guess, type_of

_lock = make_lock()
_taken: list[tuple[int, int, Any, str]] = []  # first byte, end, weak reference to who has it, name


def adopt(value: Any, space: Space, what: str) -> tuple[Any, TensorType]:
    """The memory of the array and its type; `what` names it in errors.

    An array in host memory must be contiguous, writable and aligned to its items: kernels take
    that, since arrays that a program is bound to are no better.

    Raises:
        ShapeError: it is no array, or its dtype is none of ours.
        GraphError: it cannot be used as it is; says why, and what to do.
    """
    found = adopted(value, space, what)
    if found is not None:
        return found
    known = isinstance(value, np.ndarray) or hasattr(value, "__dlpack__")
    if not known or hasattr(value, "carried"):  # a variable
        raise ShapeError(f"{what}: {type(value).__name__} {value!r:.60} is no array to adopt")
    if space.name != "host":
        where = f"the array is in host memory, the variable in {space.name}"
        raise GraphError(f"{what}: {where}; Variable(name, array, space=...) copies it")
    array = guess(value, TensorType("f32", None), what)
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
        for first, last, other, known in _taken:
            if other() is owner:
                return
            if start < last and first < end:
                raise GraphError(
                    f"variable {name!r}: bytes of the array are those of variable {known!r} "
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
    """What the memory belongs to that is no array of NumPy's; `None` if it is one."""
    owner: Any = array
    while isinstance(owner, (np.ndarray, memoryview)):
        if isinstance(owner, np.ndarray) and owner.flags.owndata:
            return None
        owner = owner.obj if isinstance(owner, memoryview) else owner.base
    return owner
