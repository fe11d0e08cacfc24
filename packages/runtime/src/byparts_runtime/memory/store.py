"""Variables by name, which share one lock; saved to a file and loaded from one.

    store = Store()
    w = store.create("w", np.zeros((784, 10), "float32"))
    b = store.adopt("b", array)  # whose memory the variable uses from now on

A program holds the lock from the first read of an old value to the last write of a new one, so
nobody ever sees half a step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from os import PathLike
from types import ModuleType
from typing import Any, Optional, Union

from byparts_graph_ir import HOST, GraphError, ShapeError, Space, TensorType
from byparts_graph_ir.errors import PartError
from byparts_graph_ir.fork import begin, end, make_lock
from byparts_runtime.arrays.dtypes import Array
from byparts_runtime.memory.pickling import stays
from byparts_runtime.memory.variable import Variable


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
        return self._add(name, lambda: Variable(name, value, space=self.space, lock=self.lock))

    def adopt(self, name: str, array: Any) -> Variable:
        """A new variable in the memory of the array, as `Variable.adopt` makes it.

        Raises:
            ShapeError, GraphError: it cannot be adopted, or the name is taken.
        """
        return self._add(
            name, lambda: Variable.adopt(name, array, space=self.space, lock=self.lock)
        )

    def _add(self, name: str, make: Callable[[], Variable]) -> Variable:
        with self.lock:
            if name in self._variables:
                old = self._variables[name].type
                raise GraphError(f"variable {name!r} exists already, as {old}; names are unique")
            self._variables[name] = make()
            return self._variables[name]

    def save(self, path: Union[str, PathLike[str]]) -> None:
        """Write all values to a file, which is replaced as a whole: `byparts_weights.save`.

        A path that ends in .safetensors gets that format, any other .npz, which `numpy.load` opens.

        Raises:
            PartError: byparts-weights is not installed.
            GraphError: a name cannot be stored in a file.
            ImportError: a .safetensors, and the library is not installed.
            OSError: the file cannot be written.
        """
        weights = _weights()
        with self.lock:
            values = {name: v.carried() for name, v in self._variables.items()}
        weights.save(path, values)

    def load(self, path: Union[str, PathLike[str]], only: Optional[Iterable[str]] = None) -> None:
        """Give the variables (or `only` those named) their values in the file; all or none.

        Raises:
            PartError: byparts-weights is not installed.
            GraphError: a name is in the store or in the file, but not in both.
            ShapeError: a value is of another type than its variable.
            FormatError: the file is damaged, or none of arrays; at which byte.
            OSError: there is no such file, or it cannot be read.
            ImportError: a .safetensors, and the library is not installed.
        """
        weights = _weights()
        with self.lock, weights.open_file(path) as file:
            names = list(self._variables if only is None else only)
            in_file = [name for name in file.names if only is None or name in names]
            _check_names(names, self._variables, in_file)
            variables = [self._variables[name] for name in names]
            for v in variables:
                if file.type(v.name) != v.type:  # before its bytes are read: they may be too many
                    what = f"expected {v.type}, got {file.type(v.name)}"
                    raise ShapeError(f"variable {v.name!r} in {path}: {what}")
            arrays = [file.read(v.name) for v in variables]
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


def _weights() -> ModuleType:
    """The part that reads and writes files, imported on use: `zipfile` takes 4 ms and 1 MB."""
    try:
        import byparts_weights  # the extra byparts-runtime[weights]
    except ImportError as error:
        from byparts_graph_ir.parts.install import install_command  # only for a message

        how = install_command("byparts-weights")
        raise PartError(f"files of arrays need byparts-weights: {how}") from error
    return byparts_weights


def _check_names(names: Iterable[str], in_store: Iterable[str], in_file: Iterable[str]) -> None:
    wanted = set(names)
    for what, missing in (
        ("in the store", wanted - set(in_store)),
        ("in the file", wanted - set(in_file)),
        ("in the store, but in the file", set(in_file) - wanted),
    ):
        if missing:
            listed = ", ".join(map(repr, sorted(missing)[:12]))
            more = ", ..." if len(missing) > 12 else ""
            raise GraphError(f"not {what}: {listed}{more}; load(path, only=[...]) takes some")
