"""`Parameter`: the trained tensors of a graph by name, their embeddings, and files of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np

from byparts_frontend_pytensor.network.tensor import *  # noqa: F403
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_graph_ir import ArgumentError, ShapeError, Value


class Parameter:
    """The trained tensors of a graph.

    Args:
        xp: the array module of the values, such as `numpy` or `cupy`.
        dtype: of the values and gradients.

    Attributes:
        tensor_dict: name -> tensor.
        embeddings: name -> the rows of a matrix, a tensor each.
        temp_tensors: rows that this pass has used; an optimizer updates these alone.
    """

    def __init__(self, xp: Any = np, dtype: Any = np.float64) -> None:
        self.xp, self.dtype = xp, dtype
        self.tensor_dict: dict[str, Tensor] = {}
        self.embeddings: dict[str, Rows] = {}
        self.temp_tensors: list[Any] = []

    @property
    def variable_dict(self) -> dict[str, Tensor]:
        """`tensor_dict`, by its name of 2018."""
        return self.tensor_dict

    def get_tensor(self, name: str, shape: Sequence[int]) -> Tensor:
        """The tensor of this name; a new one is N(0, 1) / sqrt(shape[0]).

        Raises:
            ShapeError: it is there, with another shape.
        """
        return self._get(name, shape, Tensor)

    def get_embedding(self, name: str, shape: Sequence[int]) -> Rows:
        """The rows of a matrix, as tensors of shape (1, width) that share its memory.

        Args:
            name: of the matrix.
            shape: (words, width).
        """
        if len(shape) != 2:
            raise ShapeError(f"embedding {name!r} of shape {tuple(shape)}; it is (words, width)")
        table: Any = self._get(name, shape, Table)
        return self.embeddings.setdefault(name, Rows(table))

    def _get(self, name: str, shape: Sequence[int], kind: type[Tensor]) -> Tensor:
        tensor = self.tensor_dict.get(name)
        if tensor is None:
            start = np.random.standard_normal(tuple(shape)) / np.sqrt(shape[0])
            tensor = self.tensor_dict[name] = kind(start, name, self.dtype)
            tensor.move(self.xp)
        elif tuple(tensor.value.shape) != tuple(shape):
            raise ShapeError(
                f"parameter {name!r} has shape {tuple(tensor.value.shape)}, and was asked for with "
                f"{tuple(shape)}; give one of the operations another name"
            )
        elif type(tensor) is not kind and kind is Table:  # read from a file, which has arrays
            trainable, value = tensor.trainable, tensor.value
            tensor = self.tensor_dict[name] = Table(value, name, self.dtype, trainable)
        return tensor

    def add_temp_tensor(self, temp_tensor: Any) -> None:
        """Let the optimizer update a tensor after this pass; once, however often it is added."""
        if not any(t is temp_tensor for t in self.temp_tensors):
            self.temp_tensors.append(temp_tensor)

    def clear_temp_tensor(self) -> None:
        """Forget which rows were used."""
        self.temp_tensors = []

    def clear_grads(self) -> None:
        """Clear the gradients of all tensors."""
        for tensor in [*self.tensor_dict.values(), *self.temp_tensors]:
            tensor.clear_grad()

    get_variable = get_tensor  # names of 2018
    add_temp_variable = add_temp_tensor
    clear_temp_variable = clear_temp_tensor


class Table(Tensor):
    """A matrix whose gradient is kept by rows, until somebody asks for all of it."""

    rows: dict[int, Row]

    def __init__(self, *args: Any, **options: Any) -> None:
        self.rows = {}
        super().__init__(*args, **options)

    @property
    def grad(self) -> Any:
        """The gradient of the whole matrix; from then on the rows are views of it."""
        if self._grad is None:
            self._grad = self.xp.zeros_like(self._value)
            for row in self.rows.values():
                if row.own is not None:
                    self._grad = _added(self._grad, row.number, row.own)
                    row.own = None
        return self._grad

    @grad.setter
    def grad(self, new: Any) -> None:
        self.clear_grad()
        self.add_grad(new)

    def clear_grad(self) -> None:
        """Set the gradient to zero, rows and all."""
        self._grad = None
        for row in self.rows.values():
            row.own = None


class Row(Tensor):
    """A row of a matrix: its value is a view, its gradient is kept here or in the matrix."""

    def __init__(self, table: Table, number: int) -> None:
        self.name, self.trainable, self.xp = f"{table.name}[{number}]", True, table.xp
        self.table, self.number, self.late = table, number, None
        self.own: Any = None

    @property
    def _value(self) -> Any:  # type: ignore[override]  # a field of Tensor
        return self.table.value[self.number : self.number + 1]

    @_value.setter
    def _value(self, new: Any) -> None:
        table = self.table
        if isinstance(table.value, Value):  # arrays that never change
            at: Any = table.value.at  # type: ignore[attr-defined]  # of eager's arrays
            table.value = at[self.number : self.number + 1].set(new)
        else:
            table.value[self.number : self.number + 1] = new

    @property
    def _grad(self) -> Any:  # type: ignore[override]  # a field of Tensor
        whole = self.table._grad
        return self.own if whole is None else whole[self.number : self.number + 1]

    @_grad.setter
    def _grad(self, new: Any) -> None:
        if self.table._grad is None:
            self.own = new
        else:
            more = (0.0 if new is None else new) - self._grad
            self.table._grad = _added(self.table._grad, self.number, more)

    @property
    def has_grad(self) -> bool:
        """Whether the row has a gradient that is not part of the matrix's."""
        return self.own is not None


def _added(matrix: Any, number: int, row: Any) -> Any:
    if isinstance(matrix, Value):
        at: Any = matrix.at  # type: ignore[attr-defined]  # of eager's arrays
        return at[number : number + 1].add(row)
    matrix[number : number + 1] += row
    return matrix


class Rows(Sequence[Row]):
    """The rows of a matrix as a sequence of tensors, made when they are first asked for."""

    def __init__(self, table: Table) -> None:
        self.table = table

    @overload
    def __getitem__(self, number: int) -> Row: ...
    @overload
    def __getitem__(self, number: slice) -> list[Row]: ...
    def __getitem__(self, number: int | slice) -> Row | list[Row]:
        if isinstance(number, slice):
            return [self[i] for i in range(*number.indices(len(self)))]
        number = int(number)
        if not -len(self) <= number < len(self):
            raise IndexError(f"{self.table.name}: row {number} of {len(self)}")
        number %= len(self)
        if number not in self.table.rows:
            self.table.rows[number] = Row(self.table, number)
        return self.table.rows[number]

    def __len__(self) -> int:
        return int(self.table.value.shape[0])

    def __iter__(self) -> Iterator[Row]:
        return (self[i] for i in range(len(self)))


def write_parameter(parameter: Parameter, path: str | Path) -> None:
    """Write the values to an .npz file: arrays by name, no pickles."""
    with Path(path).open("wb") as file:
        np.savez(file, **{k: np.asarray(t.value) for k, t in parameter.tensor_dict.items()})


def read_parameter(path: str | Path, xp: Any = np) -> Parameter:
    """Read the values that `write_parameter` wrote.

    Raises:
        ArgumentError: the file is no .npz of arrays.
    """
    parameter = Parameter(xp)
    try:
        with np.load(Path(path), allow_pickle=False) as file:
            for name in file.files:
                parameter.tensor_dict[name] = Tensor(file[name], name)
    except (ValueError, AttributeError, TypeError) as error:
        raise ArgumentError(
            f"{path}: no .npz file of arrays ({error}); pytensor's files are pickles, which are "
            "never loaded: write them again with numpy.savez"
        ) from None
    return parameter
