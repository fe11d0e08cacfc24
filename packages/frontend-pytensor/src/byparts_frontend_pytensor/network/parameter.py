"""`Parameter`: the trained tensors of a graph by name, their embeddings, and files of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

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
        temp_tensors: rows that this pass has used; an optimizer changes these alone.
    """

    def __init__(self, xp: Any = np, dtype: Any = np.float64) -> None:
        self.xp, self.dtype = xp, dtype
        self.tensor_dict: dict[str, Any] = {}
        self.embeddings: dict[str, list[Row]] = {}
        self.temp_tensors: list[Any] = []

    @property
    def variable_dict(self) -> dict[str, Any]:
        """`tensor_dict`, by its name of 2018."""
        return self.tensor_dict

    def get_tensor(self, name: str, shape: Sequence[int], kind: type[Tensor] = Tensor) -> Any:
        """The tensor of this name; a new one is N(0, 1) / sqrt(shape[0]).

        Raises:
            ShapeError: it is there, with another shape.
        """
        tensor = self.tensor_dict.get(name)
        if tensor is None:
            start = np.random.standard_normal(tuple(shape)) / np.sqrt(shape[0])
            tensor = self.tensor_dict[name] = kind(start, name, self.dtype)
            tensor.move(self)
        if tuple(tensor.value.shape) != tuple(shape):
            raise ShapeError(
                f"parameter {name!r} has shape {tuple(tensor.value.shape)}, and was asked for with "
                f"{tuple(shape)}; give one of the operations another name"
            )
        return tensor

    def get_embedding(self, name: str, shape: Sequence[int]) -> list[Row]:
        """The rows of a matrix (words, width), as tensors (1, width) that share its memory."""
        table = self.get_tensor(name, shape, Table)
        if type(table) is Tensor:  # of a file
            table = self.tensor_dict[name] = Table(table.value, name, None, table.trainable)
            table.move(self)
        self.embeddings[name] = table.rows
        return self.embeddings[name]

    def add_temp_tensor(self, temp_tensor: Any) -> None:
        """Let the optimizer change a tensor after this pass; once, however often it is added."""
        if not any([t is temp_tensor for t in self.temp_tensors]):
            self.temp_tensors.append(temp_tensor)

    def clear_temp_tensor(self) -> None:
        """Forget which rows were used."""
        self.temp_tensors = []

    def clear_grads(self) -> None:
        """Clear the gradients of all tensors."""
        for tensor in [*self.tensor_dict.values(), *self.temp_tensors]:
            tensor.clear_grad()

    def changed(self) -> list[Any]:
        """The trainable tensors that have a gradient, each once."""
        rows = [t for t in self.temp_tensors if not (isinstance(t, Row) and t.table.has_grad)]
        return [t for t in [*self.tensor_dict.values(), *rows] if t.trainable and t.has_grad]

    get_variable = get_tensor  # names of 2018
    add_temp_variable, clear_temp_variable = add_temp_tensor, clear_temp_tensor


class Table(Tensor):
    """A matrix whose gradient is kept by rows, until all of it is read; then rows are views."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self.rows = [Row(self, i) for i in range(len(self._value))]
        self.used: list[Row] = []  # which have a gradient of their own

    @property
    def grad(self) -> Any:
        """The gradient of the whole matrix."""
        rows = {row.at.start: row for row in self.used if row.own is not None}.values()
        self.used = []
        _ = Tensor.grad.fget(self)  # type: ignore[attr-defined]  # zeros, if there is none
        for row in rows:
            own, row.own = row.own, None
            row.add_grad(own)
        return self._grad

    @grad.setter
    def grad(self, new: Any) -> None:
        self.clear_grad()
        self.add_grad(new)

    def clear_grad(self) -> None:
        """Set the gradient to zero, rows and all."""
        super().clear_grad()
        for row in self.used:
            row.own = None
        self.used = []


class Row(Tensor):
    """A row of a matrix: its value is a view, its gradient is its own or a view of the matrix's."""

    def __init__(self, table: Table, number: int) -> None:
        self.name, self.trainable = table.name, True
        self.table, self.at, self.own = table, slice(number, number + 1), None

    @property
    def xp(self) -> Any:
        return self.table.xp

    @property
    def _value(self) -> Any:
        return self.table.value[self.at]

    @_value.setter
    def _value(self, new: Any) -> None:
        self.table._value = _set(self.table.value, self.at, new)

    @property
    def _grad(self) -> Any:
        return self.own if self.table._grad is None else self.table._grad[self.at]

    @_grad.setter
    def _grad(self, new: Any) -> None:
        if self.table._grad is None:
            self.own = new
            if new is not None:
                self.table.used.append(self)
        else:
            zero = self._value * 0 if new is None else new
            self.table._grad = _set(self.table._grad, self.at, zero)


def _set(matrix: Any, rows: slice, new: Any) -> Any:
    """The matrix with other rows: itself, or a new array where arrays never change."""
    if isinstance(matrix, Value):
        return matrix.at[rows].set(new)  # type: ignore[attr-defined]  # of eager's arrays
    matrix[rows] = new
    return matrix


def write_parameter(parameter: Parameter, path: str | Path) -> None:
    """Write the values to an .npz file: arrays by name, no pickles."""
    with Path(path).open("wb") as file:
        arrays: Any = {name: np.asarray(t.value) for name, t in parameter.tensor_dict.items()}
        np.savez(file, **arrays)


def read_parameter(path: str | Path) -> Parameter:
    """Read the values that `write_parameter` wrote.

    Raises:
        ArgumentError: the file is no .npz of arrays.
    """
    parameter = Parameter()
    try:
        with np.load(Path(path), allow_pickle=False) as file:
            parameter.tensor_dict.update({name: Tensor(file[name], name) for name in file.files})
    except (ValueError, AttributeError, TypeError) as error:
        raise ArgumentError(
            f"{path}: no .npz file of arrays ({error}); pytensor's files are pickles, which are "
            "never loaded: write them again with numpy.savez"
        ) from None
    return parameter
