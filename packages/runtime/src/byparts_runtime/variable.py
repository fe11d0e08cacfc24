"""What a program remembers between runs: named tensors, outside every arena.

    store = Store()
    w = store.create("w", np.zeros((784, 10), "float32"))

Graphs are pure, so a variable is an input of a graph (its old value) and an output (its new one);
`build` is told which.  All variables of a store share one lock: a program holds it from the first
read of an old value to the last write of a new one, so nobody ever sees half a step.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from os import PathLike
from typing import Any, Optional, Union

import numpy as np

from byparts_graph_ir import HOST, ArgumentError, GraphError, ShapeError, Space, TensorType
from byparts_graph_ir.contract import checked
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_runtime.arrays import (
    Array,
    fetcher,
    has_type,
    measured,
    numpy_dtype,
    put,
    reader,
    taken,
)
from byparts_runtime.discover import ResultsArgument, find_results
from byparts_runtime.pickling import stays

UNKNOWN = 2  # in the place of a variable's side


class Variable:
    """A tensor with a name, a fixed static type and memory of its own.

    Args:
        name: what errors, tables and saved files call it.
        value: an array, whose type and contents it takes, or a type: then it is zeros.
        space: where its memory is.
        lock: held while it is read or written; by default one of its own.

    Raises:
        ShapeError: the value has no definite type: a Python number, an unknown dimension.
    """

    __slots__ = ("_memories", "lock", "name", "side", "space", "type")

    @checked
    def __init__(
        self,
        name: str,
        value: Union[TensorType, Array],
        *,
        space: Space = HOST,
        lock: Optional[Any] = None,
    ) -> None:
        if not hasattr(space, "allocate"):
            raise ArgumentError(
                f"variable {name!r}: space is {space!r:.60}; give a backend's space"
            )
        if not (lock is None or hasattr(lock, "__enter__")):
            raise ArgumentError(f"variable {name!r}: lock is {lock!r:.60}; give a threading.Lock()")
        self.name, self.space = name, space
        self.type = _static_type(name, value, space)
        self.lock = make_lock() if lock is None else lock
        self.side = [0]  # which of its memories is the value; a list, so that C code can set it
        self._memories: dict[int, Any] = {}
        self.memory(0)
        if not isinstance(value, TensorType):
            self.write(value)

    def memory(self, side: int) -> Any:
        """Memory 0, or memory 1, which exists once a program asked for it (`commit="exchange"`)."""
        if side not in self._memories:
            self._check_known()
            self._memories[side] = self.space.allocate(self.type.size_bytes)
        return self._memories[side]

    def read(self, results: ResultsArgument = "numpy") -> Any:
        """A copy of the value, as a NumPy array or as an array of a backend ("torch")."""
        backend = find_results(results, self.space)
        with self.lock:
            return fetcher(backend, self.space, self.memory(self.side[0]), 0, self.type)()

    def write(self, value: object) -> None:
        """Give it a new value: numbers, an array, or an array that is in its space already.

        Raises:
            ShapeError: the value is not of its type.
            GraphError: it is on another device.
        """
        ready = taken(value, self.type, self.space, f"variable {self.name!r}")
        with self.lock:
            try:
                begin(self, (self,))
                if self.side[0] == UNKNOWN:
                    self.side[0] = 0
                put(self.space, self._memories[self.side[0]], self.type, ready)
            finally:
                end(self)

    def turn(self) -> None:
        """Move the value to the other memory.  The caller holds the lock."""
        now = self.side[0]
        put(self.space, self.memory(1 - now), self.type, self.carried())
        self.side[0] = 1 - now

    def carried(self) -> Array:
        """A copy as NumPy can move it: where ml_dtypes is missing, bf16 is two bytes each."""
        with self.lock:
            return reader(self.space, self.memory(self.side[0]), 0, self.type)()

    def forget(self) -> None:
        """In a forked child: another thread of the parent was writing it."""
        self.side[0] = UNKNOWN

    def _check_known(self) -> None:
        if self.side[0] == UNKNOWN:
            raise GraphError(
                f"variable {self.name!r} was being written by another thread when this process was "
                "forked from it, so its value is not known here; write() it, or load() a file"
            )

    @property
    def size_bytes(self) -> int:
        """Of all its memories."""
        return len(self._memories) * self.type.size_bytes

    @property
    def dtype(self) -> np.dtype[Any]:
        """As NumPy calls it, so that a variable is taken wherever an array is, as a copy."""
        return numpy_dtype(self.type.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the value."""
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
        """Whether it is this very variable.

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


class Store:
    """Variables by name, in the order in which they were created."""

    def __init__(self, space: Space = HOST) -> None:
        self.space = space
        self.lock = make_lock()
        self._variables: dict[str, Variable] = {}

    def create(self, name: str, value: Union[TensorType, Array]) -> Variable:
        """A new variable.

        Raises:
            GraphError: the name is taken.
        """
        with self.lock:
            if name in self._variables:
                old = self._variables[name].type
                raise GraphError(f"variable {name!r} exists already, as {old}; names are unique")
            made = Variable(name, value, space=self.space, lock=self.lock)
            self._variables[name] = made
            return made

    def save(self, path: Union[str, PathLike[str]]) -> None:
        """Write all values to a file; replaces it whole or not.

        A file called .safetensors is one, any other is an .npz, which `numpy.load` opens.

        Raises:
            GraphError: a name cannot stand in a file.
            ImportError: a .safetensors, and the library is not installed.
        """
        from byparts_runtime.checkpoint import write_tensors  # zipfile: 4 ms and 1 MB

        with self.lock:
            values = {name: v.carried() for name, v in self._variables.items()}
        write_tensors(path, values)

    def load(self, path: Union[str, PathLike[str]], only: Optional[Iterable[str]] = None) -> None:
        """Give the variables (or `only` those named) their values in the file; all or none.

        Raises:
            GraphError: a name is in the store or in the file, but not in both.
            ShapeError: a value is of another type than its variable.
            FormatError: the file is damaged, or none of arrays; at which byte.
            OSError: there is no such file, or it cannot be read.
            ImportError: a .safetensors, and the library is not installed.
        """
        from byparts_runtime.checkpoint import open_tensors, read_tensor  # likewise

        with self.lock, open_tensors(path) as file:
            names = list(self._variables if only is None else only)
            found = [name for name in file.names if only is None or name in names]
            _check_names(names, self._variables, found)
            variables = [self._variables[name] for name in names]
            for v in variables:
                if file.type(v.name) != v.type:  # before its bytes are read: they may be too many
                    what = f"expected {v.type}, got {file.type(v.name)}"
                    raise ShapeError(f"variable {v.name!r} in {path}: {what}")
            arrays = [read_tensor(file, v.name, path) for v in variables]
            try:
                begin(self, variables)
                for variable, array in zip(variables, arrays, strict=True):
                    variable.write(array)
            finally:
                end(self)

    def __getitem__(self, name: str) -> Variable:
        if name not in self._variables:
            known = ", ".join(self._variables) or "none"
            raise GraphError(f"no variable {name!r}; there are: {known}")
        return self._variables[name]

    def __contains__(self, name: object) -> bool:
        return name in self._variables

    def __iter__(self) -> Iterator[Variable]:
        return iter(tuple(self._variables.values()))

    def __len__(self) -> int:
        return len(self._variables)

    __reduce__ = stays(
        "send {v.name: v.read() for v in store}, or save(path) here and load(path) there"
    )


def _static_type(name: str, value: object, space: Space) -> TensorType:
    what = f"variable {name!r}"
    if isinstance(value, TensorType):
        kind = value
    elif has_type(value, space, what):
        kind = measured(value, TensorType("f32", None), space, what)[1]
    else:
        raise ShapeError(f"{what}: {value!r:.60} has no dtype; give an array, e.g. np.float32(...)")
    if not kind.static:
        raise ShapeError(f"variable {name!r}: {kind} is not static, and memory needs numbers")
    return kind


def _check_names(names: Iterable[str], have: Iterable[str], found: Iterable[str]) -> None:
    wanted = set(names)
    for what, missing in (
        ("in the store", wanted - set(have)),
        ("in the file", wanted - set(found)),
        ("in the store, but in the file", set(found) - wanted),
    ):
        if missing:
            listed = ", ".join(map(repr, sorted(missing)[:12]))
            more = ", ..." if len(missing) > 12 else ""
            raise GraphError(f"not {what}: {listed}{more}; load(path, only=[...]) takes some")
