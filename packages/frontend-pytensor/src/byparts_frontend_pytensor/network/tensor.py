"""`Tensor`, a value with its gradient, and `LongTensor`, integers.

A value is an array of NumPy, which programs write in place, or of an array module with NumPy's
names.  The gradient is made when it is first read or added to, so that clearing one costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import byparts_eager as bp
from byparts_graph_ir import ArgumentError, ShapeError, Value


class Tensor:
    """A value and its gradient.

    Args:
        value: an array, which keeps its dtype if that is a float, or numbers and lists.
        name: of a parameter, as it is printed and saved.
        dtype: of the value; what is no array of floats becomes float32 by default.
        trainable: whether an optimizer changes the value.
        grad: the first gradient, of the shape of the value; zeros by default.
    """

    _value: Any
    late: Any = None  # products in which the tensor may take part: `Late`
    xp: Any = np  # the array module of the value

    def __init__(
        self,
        value: Any,
        name: str = "Tensor",
        dtype: Any = None,
        trainable: bool = True,
        grad: Any = None,
    ) -> None:
        floats = isinstance(value, Value) or getattr(value, "dtype", np.dtype("i4")).kind == "f"
        dtype = np.float32 if dtype is None and not floats else dtype
        self._value = value if isinstance(value, Value) else np.array(value, dtype)
        self.name, self.trainable, self._grad = name, trainable, None
        if grad is not None:
            self.grad = grad

    @classmethod
    def of(cls, value: Any, xp: Any = np) -> Tensor:
        """A tensor of an array that an operation has just computed, not copied."""
        tensor = cls.__new__(cls)
        tensor.name, tensor.trainable, tensor.xp = "Tensor", True, xp
        tensor._value, tensor._grad = value, None
        return tensor

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the value."""
        return tuple(self.value.shape)

    @property
    def value(self) -> Any:
        """The array; NumPy's may be written in place."""
        if self.late is not None:
            self.late.before(self)
        return self._value

    @value.setter
    def value(self, new: Any) -> None:
        if self.late is not None:
            self.late.before(self)
        self._value = new

    @property
    def grad(self) -> Any:
        """The gradient: an array of the shape and dtype of the value."""
        if self.late is not None:
            self.late.before(self)
            self.late.weigh(self)
        if self._grad is None:
            self._grad = self.xp.zeros_like(self._value)
        return self._grad

    @grad.setter
    def grad(self, new: Any) -> None:
        self.clear_grad()
        self.add_grad(new)

    @property
    def has_grad(self) -> bool:
        """Whether anything was added to the gradient since it was cleared."""
        if self.late is not None:
            self.late.before(self)
            return self._grad is not None or id(self) in self.late.weights
        return self._grad is not None

    def add_grad(self, more: Any) -> None:
        """Add to the gradient an array that nobody else keeps.

        Raises:
            ShapeError: it is of another shape than the value.
        """
        value = self._value
        if more.shape != value.shape:
            raise ShapeError(
                f"tensor {self.name!r} has shape {tuple(value.shape)}, and was given a gradient of "
                f"shape {tuple(more.shape)}"
            )
        if self._grad is not None:
            self._grad += more
        elif more.dtype == value.dtype:
            self._grad = more
        else:
            self._grad = self.xp.asarray(more, dtype=value.dtype)

    def clear_grad(self) -> None:
        """Set the gradient to zero."""
        if self.late is not None:
            self.late.before(self)
            self.late.weights.pop(id(self), None)
        self._grad = None

    def move(self, parameter: Any) -> None:
        """Make an array of NumPy one of the array module and dtype of `parameter`."""
        if parameter.xp is not self.xp and isinstance(self._value, np.ndarray):
            value = self.value.astype(parameter.dtype)
            self.value, self.xp = parameter.xp.asarray(value), parameter.xp

    def reshape(self, shape: Any) -> None:
        """Give value and gradient another shape, of as many elements."""
        grad = self.xp.reshape(self._grad, shape) if self.has_grad else None
        self._value, self._grad = self.xp.reshape(self.value, shape), grad

    def __repr__(self) -> str:
        return f"Tensor {{name: {self.name}}}\n- value    : {self.value}\n- gradient : {self.grad}"


class LongTensor:
    """Integers, such as ids of words and labels; floats that are whole numbers become integers."""

    def __init__(self, value: Any, name: str = "LongTensor", trainable: bool = False) -> None:
        self.name, self.trainable, self.value = name, trainable, whole(value, name)

    def clear_grad(self) -> None:
        pass

    def reshape(self, shape: Any) -> None:
        self.value = self.value.reshape(shape)

    def __repr__(self) -> str:
        return f"LongTensor {{name: {self.name}}}\n- value    : {self.value}"


def whole(value: Any, what: str) -> Any:
    """Integers of an array, a tensor, or a list, which may be floats that are whole numbers."""
    if isinstance(value, LongTensor):
        return value.value
    value = getattr(value, "value", value)
    if isinstance(value, list) and any([isinstance(x, Value) for x in value]):
        return bp.stack([bp.asarray(x) for x in value])
    if isinstance(value, Value):
        return value
    numbers = np.asarray(value)
    if numbers.dtype.kind in "iub":
        return numbers.astype(np.int32, copy=False)
    for wrong in numbers[numbers != np.floor(numbers)].ravel():
        advice = "labels and word ids are whole numbers, as in LongTensor([3])"
        raise ArgumentError(f"{what}: {wrong} is no integer; {advice}")
    return numbers.astype(np.int32)


Variable = Tensor  # the name of 2018
LongVariable = LongTensor
