"""Variables: named tensors that a program remembers between runs, outside every arena.

    w = Variable("w", np.zeros((784, 10), "float32"))
    seen = w.lend()  # read-only, without a copy; follows each step

Graphs are pure, so a variable is an input of a graph (its old value) and an output (its new one);
`build` is told which.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import repeat
from operator import length_hint
from typing import Any, Optional, Union

import numpy as np

from byparts_graph_ir import HOST, ArgumentError, GraphError, ShapeError, Space, TensorType
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_runtime.arrays.accept import accepted, has_type, with_type
from byparts_runtime.arrays.access import fetcher, put, reader, view
from byparts_runtime.arrays.dtypes import Array, numpy_dtype
from byparts_runtime.building.discover import find_results
from byparts_runtime.building.options import ResultsArgument
from byparts_runtime.memory.adopt import adopt, claim
from byparts_runtime.memory.pickling import stays

_HOST_DEVICE = (1, 0)  # as DLPack names it
unknown: set[Variable] = set()  # in a forked child: those that a thread of the parent was writing


class Variable:
    """A tensor with a name, a fixed static type and memory of its own.

    Args:
        name: what errors, tables and saved files call it.
        value: an array, whose type and contents it takes, or a type: then it is zeros.
        space: where its memory is.
        lock: held while it is read or written; by default one of its own.

    Attributes:
        memory: the value's bytes, as the space gave them; the same object as long as it lives.
        counter: an iterator; `next(variable.counter)`, which is one call of C, adds one to
            `version`.  Whoever writes the memory calls it, holding the lock.

    Raises:
        ShapeError: the value has no definite type: a Python number, an unknown dimension.
    """

    __slots__ = ("__weakref__", "counter", "lock", "memory", "name", "space", "type")

    @checked
    def __init__(
        self,
        name: str,
        value: Union[TensorType, Array],
        *,
        space: Space = HOST,
        lock: Optional[Any] = None,
    ) -> None:
        kind = _static_type(name, value, space)
        memory = space.allocate(kind.size_bytes)
        self._begin(name, kind, space, memory, lock)
        if not isinstance(value, TensorType):
            put(space, memory, kind, accepted(value, kind, space, f"variable {name!r}"))

    @classmethod
    @checked
    def adopt(
        cls, name: str, array: Any, *, space: Space = HOST, lock: Optional[Any] = None
    ) -> Variable:
        """A variable whose memory is that of the array: nothing is copied.

        Programs write to it from now on.  What the caller writes to it is the variable's value,
        not counted by `version`, and must not happen while a program that uses it runs.

        Args:
            name: as above.
            array: of NumPy, or of a library that speaks DLPack, in the space: contiguous, writable,
                aligned to its items, and of this process alone.
            space: as above.
            lock: as above.

        Raises:
            ShapeError: it is no array, or its dtype is none of ours.
            GraphError: it cannot be used as it is, or belongs to a variable already.
        """
        memory, kind = adopt(array, space, f"variable {name!r}")
        variable = cls.__new__(cls)
        variable._begin(name, kind, space, memory, lock)
        if space.name == "host":
            claim(variable, memory, name)
        return variable

    def _begin(
        self, name: str, kind: TensorType, space: Space, memory: Any, lock: Optional[Any]
    ) -> None:
        if not (lock is None or hasattr(lock, "__enter__")):
            raise ArgumentError(f"variable {name!r}: lock is {lock!r:.60}; give a threading.Lock()")
        self.name, self.space, self.type, self.memory = name, space, kind, memory
        self.lock = make_lock() if lock is None else lock
        self.counter: Iterator[None] = repeat(None, sys.maxsize)

    @property
    def version(self) -> int:
        """The number of times the variable was written: by `write`, and by programs that update it.

        Two equal versions, read while the lock is held, mean that the value is the same.
        """
        return sys.maxsize - length_hint(self.counter)

    def lend(self) -> Array:
        """A read-only NumPy view of the value, which sees later updates; see `version`.

        It keeps the memory alive.  What is read while a program runs may be partly old and partly
        new; hold the lock, or `read()` a copy.

        Raises:
            GraphError: the variable is not in host memory, or its value is not known.
            ImportError: bf16, and ml_dtypes is not installed.
        """
        dtype, bytes = numpy_dtype(self.type.dtype), self._lendable()[: self.type.size_bytes]
        # `frombuffer`: the flag of an `ndarray(buffer=...)` could be set to writeable again
        return np.frombuffer(bytes.toreadonly(), np.uint8).view(dtype).reshape(self.shape)

    def __dlpack__(
        self,
        *,
        stream: None = None,
        max_version: Optional[tuple[int, int]] = None,
        dl_device: Optional[tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """The value as a DLPack capsule, for `torch.from_dlpack(variable)`; read-only like `lend`.

        Libraries that know read-only arrays get one.  Torch does not: what is written to its
        tensor is the variable's value, and not counted by `version`.
        """
        from byparts_runtime.arrays.dlpack import capsule  # ctypes: only where it is asked for

        elsewhere = dl_device is not None and tuple(map(int, dl_device)) != _HOST_DEVICE
        if stream is not None or elsewhere:
            raise BufferError(
                f"variable {self.name!r} is in host memory, which has no streams: "
                f"stream={stream}, dl_device={dl_device}"
            )
        value = self.carried() if copy else view(self._lendable(), 0, self.type)
        bf16 = self.type.dtype == "bf16"
        return capsule(value.view("u2") if bf16 else value, bf16, max_version, not copy)

    def __dlpack_device__(self) -> tuple[int, int]:
        """In host memory.

        Raises:
            GraphError: it is not.
        """
        self._check_host()
        return _HOST_DEVICE

    def _lendable(self) -> memoryview:
        """The memory, noted as taken, so that no other variable adopts it."""
        self._check_host()
        self.check_known()
        claim(self, self.memory, self.name)
        memory: memoryview = self.memory
        return memory

    def _check_host(self) -> None:
        if self.space.name != "host":
            raise GraphError(
                f"variable {self.name!r} is in {self.space.name}, and only host memory is lent; "
                "read() copies it"
            )

    def read(self, results: ResultsArgument = "numpy") -> Any:
        """A copy of the value, as a NumPy array or as an array of a backend ("torch")."""
        backend = find_results(results, self.space)
        with self.lock:
            self.check_known()
            return fetcher(backend, self.space, self.memory, 0, self.type)()

    def write(self, value: object) -> None:
        """Give it a new value: numbers, an array, or an array that is in its space already.

        Raises:
            ShapeError: the value is not of its type.
            GraphError: it is on another device.
        """
        ready = accepted(value, self.type, self.space, f"variable {self.name!r}")
        with self.lock:
            try:
                begin(self, (self,))
                next(self.counter)
                put(self.space, self.memory, self.type, ready)
                unknown.discard(self)
            finally:
                end(self)

    def carried(self) -> Array:
        """A copy of the value; without ml_dtypes elements of bf16 and i4 are untyped bytes."""
        with self.lock:
            self.check_known()
            return reader(self.space, self.memory, 0, self.type)()

    def forget(self) -> None:
        """Note, in a forked child, that a thread of the parent was writing the variable."""
        unknown.add(self)

    def check_known(self) -> None:
        """Refuse a value that this process does not know.

        Raises:
            GraphError: another thread of the parent was writing it during the fork.
        """
        if self in unknown:
            raise GraphError(
                f"variable {self.name!r} was being written by another thread when this process was "
                "forked from it, so its value is not known here; write() it, or load() a file"
            )

    @property
    def size_bytes(self) -> int:
        """The size of the value, in bytes."""
        return self.type.size_bytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's dtype, so that a variable is accepted wherever an array is; it is copied."""
        return numpy_dtype(self.type.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return self.type.dims

    def __array__(self, dtype: object = None, copy: Optional[bool] = None) -> Array:
        """A copy of the value, for `numpy.asarray`; never a view, which a program would change.

        Raises:
            ValueError: `copy=False`.
        """
        if copy is False:
            raise ValueError(f"variable {self.name!r} cannot be read without a copy")
        value: Array = self.read()
        return value if dtype is None else value.astype(dtype, copy=False)  # type: ignore[call-overload]  # what NumPy calls with

    def __float__(self) -> float:
        return float(self._number())

    def __int__(self) -> int:
        return int(self._number())

    def _number(self) -> Any:
        if self.type.size_bytes != self.dtype.itemsize:
            raise ShapeError(f"variable {self.name!r} is {self.type}, no single number; read() it")
        return self.read().item()

    def __eq__(self, other: object) -> bool:
        """Whether the other one is this very variable.

        Raises:
            ArgumentError: `other` is a number or an array.
        """
        if isinstance(other, Variable):
            return self is other
        if isinstance(other, (int, float, complex, list, tuple)) or hasattr(other, "dtype"):
            raise ArgumentError(
                f"variable {self.name!r}: == asks whether it is that very variable, and "
                f"{other!r:.40} is a {type(other).__name__}; compare variable.read()"
            )
        return NotImplemented

    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return f"Variable({self.name!r}, {self.type})"

    __reduce__ = stays("send variable.read() and make a Variable of it there")


def _static_type(name: str, value: object, space: Space) -> TensorType:
    what = f"variable {name!r}"
    if isinstance(value, TensorType):
        kind = value
    elif has_type(value, space, what):
        kind = with_type(value, TensorType("f32", None), space, what)[1]
    else:
        raise ShapeError(f"{what}: {value!r:.60} has no dtype; give an array, e.g. np.float32(...)")
    if not kind.static:
        raise ShapeError(f"variable {name!r}: {kind} is not static, and memory needs numbers")
    return kind
