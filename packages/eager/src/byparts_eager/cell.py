"""`Cell`: a place for an array, which functions read and assign; parameters and states are cells.

A cell has one of two homes: an array, or a variable that programs of compiled functions update in
place.  Reading one whose home is a variable copies the value, once for each new one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import numpy as np
from numpy.typing import NDArray

from byparts_eager.array import Array, array_of, asarray
from byparts_eager.kind import device_backend, kind_of
from byparts_eager.state import state
from byparts_graph_ir import GraphError, TensorType, Value, compatible
from byparts_runtime import Variable
from byparts_runtime.arrays.dtypes import numpy_dtype

Initializer = Callable[[tuple[int, ...]], NDArray[Any]]
_changes = 0  # of plain fields that compiled functions may have read


def changed() -> None:
    """Say that a plain field changed that a traced function may have read (`depends_on`)."""
    global _changes  # one number, compared at each call of a compiled function
    _changes += 1


def changes() -> int:
    """The number of such changes so far."""
    return _changes


class Cell:
    """A place for an array of one type.

    Args:
        start: an array, what `asarray` makes one of, or a type: then the first value is what
            `initializer` gives for its shape, or zeros.  Dimensions of `None` are found by use.
        initializer: takes the shape, gives a NumPy array; called when the value is first needed.
        trainable: whether functions of a module are differentiated by it.
        name: for errors and tables.

    Attributes:
        name: as above.
    """

    __slots__ = (
        "__weakref__",
        "_array",
        "_initializer",
        "_trainable",
        "_type",
        "_variable",
        "name",
    )

    def __init__(
        self,
        start: Any,
        *,
        initializer: Optional[Initializer] = None,
        trainable: bool = False,
        name: str = "",
    ) -> None:
        self.name, self._initializer, self._trainable = name, initializer, trainable
        self._variable: Optional[Variable] = None
        # The value, if it is known here; `None`: it is in the variable, or not made yet.
        self._array: Optional[Array] = None if isinstance(start, TensorType) else asarray(start)
        self._type: TensorType = start if self._array is None else self._array.type

    @property
    def type(self) -> TensorType:
        """The type; some dimensions may be `None` before the first use."""
        return self._type

    @property
    def is_open(self) -> bool:
        """Whether some dimension is not known yet."""
        return not self._type.static

    @property
    def trainable(self) -> bool:
        """Whether functions of a module are differentiated by it."""
        return self._trainable

    @trainable.setter
    def trainable(self, on: bool) -> None:
        if on != self._trainable:
            self._trainable = on
            changed()

    @property
    def value(self) -> Any:
        """The value now: an array, or a traced value while a function is traced.

        Raises:
            GraphError: its shape is not known yet.
        """
        if state.frame is not None:
            return state.frame.read(self)
        if state.overlay is not None and self in state.overlay:
            return state.overlay[self]
        if self._array is None:
            self._array = self._started() if self._variable is None else self._read()
        return self._array

    @value.setter
    def value(self, new: Any) -> None:
        self.assign(new)

    def assign(self, new: Any) -> None:
        """Give the cell a value of its type; within a traced function, an update of the program.

        Raises:
            GraphError: it is of another type, or a value of a function whose tracing has ended.
        """
        value = asarray(new, dtype=None if isinstance(new, Value) else self._type.dtype)
        if value.type != self._type and not (self.is_open and compatible(value.type, self._type)):
            raise GraphError(
                f"cell {self.name!r} is {self._type}, and cannot become {value.type}; "
                "make a new cell, or cast or reshape the value"
            )
        if state.frame is not None:
            state.frame.assign(self, value)
            return
        if not isinstance(value, Array):
            raise GraphError(
                f"cell {self.name!r} would keep a value of a function no longer traced"
            )
        if state.overlay is not None and self in state.overlay:
            state.overlay[self] = value
        self._type, self._array = value.type, value
        if value.past is not None:
            state.assigned = (*state.assigned, self)
        if self._variable is not None:
            self._variable.write(value.numpy())

    def fix(self, type: TensorType) -> None:
        """Give an open cell its type.

        Raises:
            GraphError: the type does not fit, or is open itself.
        """
        if not (type.static and compatible(type, self._type)):
            raise GraphError(f"cell {self.name!r} is {self._type}, and cannot be of type {type}")
        self._type = type

    def variable(self) -> Variable:
        """The variable that programs update; the home of the value from now on."""
        if self._variable is None:
            array = self._array if self._array is not None else self._started()
            self._variable = Variable(self.name or "cell", array.numpy())
        return self._variable

    def written(self) -> None:
        """Forget the array that was read: a program has written the variable."""
        self._array = None

    def _read(self) -> Array:
        """The value of the variable, as an array."""
        assert self._variable is not None, "a cell whose home is a variable"
        return array_of(kind_of(self._type, device_backend("numpy")), self._variable.read())

    def forget_node(self) -> None:
        """Keep the value without the node that made it."""
        if self._array is not None:
            self._array = array_of(self._array.kind, self._array.data)

    def _started(self) -> Array:
        """The first value."""
        if self.is_open:
            raise GraphError(
                f"cell {self.name!r} is {self._type}, and nothing has told its shape yet; call the "
                "module on data once, or init(model, *types)"
            )
        dims, dtype = self._type.dims, numpy_dtype(self._type.dtype)
        data = np.zeros(dims, dtype) if self._initializer is None else self._initializer(dims)
        array = Array(np.asarray(data, dtype))
        if array.shape != dims:
            raise GraphError(
                f"cell {self.name!r} is {self._type}; its initializer gave {array.type}"
            )
        self._array = array
        return array

    def __deepcopy__(self, memo: dict[int, Any]) -> Cell:
        new = Cell(self._type, initializer=self._initializer, trainable=self._trainable)
        new.name = self.name
        new._array = self._array if self._variable is None else self._read()
        memo[id(self)] = new
        return new

    def __reduce__(self) -> tuple[Any, ...]:
        array = None if self.is_open else self.value
        return _restored, (array if array is not None else self._type, self._trainable, self.name)

    def __repr__(self) -> str:
        return f"Cell({self.name!r}, {self._type})"


def _restored(start: Any, trainable: bool, name: str) -> Cell:
    return Cell(start, trainable=trainable, name=name)
