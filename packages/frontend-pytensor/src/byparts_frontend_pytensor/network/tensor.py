"""`Tensor`, a value with its gradient, and `LongTensor`, integers.

A value is an array of the array module `xp`: NumPy's, which programs write in place, or those of
any module with NumPy's names.  The gradient is made when it is first read or added to, so that
clearing one costs nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from byparts_graph_ir import ArgumentError, ShapeError, Value


class Tensor:
    """A value and its gradient.

    Args:
        value: an array, which keeps its dtype if that is a float, or numbers and lists.
        name: of a parameter, as it is printed and saved.
        dtype: the elements are cast to it; by default what is no array of floats becomes float32.
        trainable: whether an optimizer changes the value.
        grad: the first gradient, of the shape of the value; zeros by default.
        xp: the array module, as in `xp.tanh`.

    Raises:
        ShapeError: `grad` has another shape than the value.
    """

    def __init__(
        self,
        value: Any,
        name: str = "Tensor",
        dtype: Any = None,
        trainable: bool = True,
        grad: Any = None,
        xp: Any = np,
    ) -> None:
        self.name, self.trainable, self.xp = name, trainable, xp
        self.late: Any = None  # products whose values or gradients may be waited for: `Late`
        self._value = _elements(value, dtype, xp)
        self._grad: Any = None
        if grad is not None:
            self.grad = grad

    @classmethod
    def of(cls, value: Any, xp: Any = np) -> Tensor:
        """A tensor of an array that an operation has just computed, not copied."""
        tensor = cls.__new__(cls)
        tensor.__dict__.update(
            name="Tensor", trainable=True, xp=xp, late=None, _value=value, _grad=None
        )
        return tensor

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
        if self._grad is None:
            self._grad = self.xp.zeros_like(self._value)
        return self._grad

    @grad.setter
    def grad(self, new: Any) -> None:
        if self.late is not None:
            self.late.before(self)
        self._set_grad(new)

    def _set_grad(self, new: Any) -> None:
        if tuple(new.shape) != tuple(self._value.shape):
            raise ShapeError(
                f"tensor {self.name!r} has shape {tuple(self._value.shape)}, and was given a "
                f"gradient of shape {tuple(new.shape)}"
            )
        if new.dtype != self._value.dtype:
            new = self.xp.asarray(new, dtype=self._value.dtype)
        self._grad = new

    @property
    def has_grad(self) -> bool:
        """Whether anything was added to the gradient since it was cleared."""
        if self.late is not None:
            self.late.before(self)
        return self._grad is not None

    def add_grad(self, more: Any) -> None:
        """Add to the gradient an array that nobody else keeps."""
        if self._grad is None:
            self._set_grad(more)
        else:
            self._grad += more

    def clear_grad(self) -> None:
        """Set the gradient to zero."""
        if self.late is not None:
            self.late.before(self)
        self._grad = None

    def move(self, xp: Any) -> None:
        """Make an array of NumPy one of the array module `xp`."""
        if xp is not np and isinstance(self._value, np.ndarray):
            self.value, self.xp = xp.asarray(self.value), xp

    def reshape(self, shape: Any) -> None:
        """Give value and gradient another shape.

        Raises:
            ShapeError: it has another number of elements.
        """
        size = np.zeros(self.value.shape, bool)
        try:
            size.reshape(shape)
        except ValueError as error:
            raise ShapeError(f"tensor {self.name!r}: {error}") from None
        grad = self.grad.reshape(shape) if self.has_grad else None
        self._value, self._grad = self._value.reshape(shape), grad

    def __repr__(self) -> str:
        return f"Tensor {{name: {self.name}}}\n- value    : {self.value}\n- gradient : {self.grad}"


class LongTensor:
    """Integers: ids of words, or labels.  They have no gradient.

    Args:
        value: integers, or floats that are whole numbers; arrays or lists.
        name: for errors.
        trainable: kept for programs that pass it; integers are never trained.

    Raises:
        ArgumentError: a number is not whole.
    """

    def __init__(self, value: Any, name: str = "LongTensor", trainable: bool = False) -> None:
        self.name, self.trainable = name, trainable
        self.value = whole(value, name)

    def clear_grad(self) -> None:
        """Do nothing: integers have no gradient."""

    def reshape(self, shape: Any) -> None:
        """Give the integers another shape."""
        self.value = self.value.reshape(shape)

    def __repr__(self) -> str:
        return f"LongTensor {{name: {self.name}}}\n- value    : {self.value}"


def whole(value: Any, what: str) -> Any:
    """Integers of an array, a tensor, or a list, which may be floats that are whole numbers.

    Raises:
        ArgumentError: a number is not whole.
    """
    value = getattr(value, "value", value)
    if isinstance(value, (list, tuple)) and any(isinstance(x, Value) for x in value):
        import byparts_eager as bp  # a model is recorded: eager is loaded already

        return bp.stack([bp.asarray(x) for x in value])
    if isinstance(value, Value):
        return value
    numbers = np.asarray(value)
    with np.errstate(invalid="ignore"):  # of NaN: found below
        integers = numbers.astype(np.int32)
    if numbers.dtype.kind not in "iub" and not np.array_equal(integers, numbers):
        wrong = numbers[integers != numbers].ravel()[0]
        raise ArgumentError(
            f"{what}: {wrong} is no integer; labels and word ids are whole numbers, as in "
            "LongTensor([3])"
        )
    return integers


def _elements(value: Any, dtype: Any, xp: Any) -> Any:
    if isinstance(value, Value) or not (xp is np or isinstance(value, (np.ndarray, list))):
        return value if dtype is None else xp.asarray(value, dtype=dtype)
    if dtype is None and not (isinstance(value, np.ndarray) and value.dtype.kind == "f"):
        dtype = np.float32
    return np.array(value, dtype) if xp is np else xp.asarray(np.array(value, dtype))


Variable = Tensor  # the name of 2018
LongVariable = LongTensor
