"""Python's operators on tensors and variables, by the functions of `api/operators.py`."""

from __future__ import annotations

from typing import Any

from byparts_frontend_tf.graph import upper


class Operators:
    """Python's operators on tensors and variables: arithmetic, comparison, slices."""

    __slots__ = ()
    __array_priority__ = 100  # NumPy leaves `array + tensor` to the tensor

    def __add__(self, other: Any) -> Any:
        return upper.functions.operators.add(self, other)

    def __radd__(self, other: Any) -> Any:
        return upper.functions.operators.add(other, self)

    def __sub__(self, other: Any) -> Any:
        return upper.functions.operators.sub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return upper.functions.operators.sub(other, self)

    def __mul__(self, other: Any) -> Any:
        return upper.functions.operators.mul(self, other)

    def __rmul__(self, other: Any) -> Any:
        return upper.functions.operators.mul(other, self)

    def __truediv__(self, other: Any) -> Any:
        return upper.functions.operators.truediv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return upper.functions.operators.truediv(other, self)

    def __div__(self, other: Any) -> Any:
        return upper.functions.operators.div(self, other)

    def __rdiv__(self, other: Any) -> Any:
        return upper.functions.operators.div(other, self)

    def __floordiv__(self, other: Any) -> Any:
        return upper.functions.operators.floordiv(self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        return upper.functions.operators.floordiv(other, self)

    def __mod__(self, other: Any) -> Any:
        return upper.functions.operators.mod(self, other)

    def __rmod__(self, other: Any) -> Any:
        return upper.functions.operators.mod(other, self)

    def __pow__(self, other: Any) -> Any:
        return upper.functions.operators.pow(self, other)

    def __rpow__(self, other: Any) -> Any:
        return upper.functions.operators.pow(other, self)

    def __matmul__(self, other: Any) -> Any:
        return upper.functions.operators.matmul(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return upper.functions.operators.matmul(other, self)

    def __and__(self, other: Any) -> Any:
        return upper.functions.operators.logical_and(self, other)

    def __rand__(self, other: Any) -> Any:
        return upper.functions.operators.logical_and(other, self)

    def __or__(self, other: Any) -> Any:
        return upper.functions.operators.logical_or(self, other)

    def __ror__(self, other: Any) -> Any:
        return upper.functions.operators.logical_or(other, self)

    def __xor__(self, other: Any) -> Any:
        return upper.functions.operators.logical_xor(self, other)

    def __rxor__(self, other: Any) -> Any:
        return upper.functions.operators.logical_xor(other, self)

    def __lt__(self, other: Any) -> Any:
        return upper.functions.operators.less(self, other)

    def __le__(self, other: Any) -> Any:
        return upper.functions.operators.less_equal(self, other)

    def __gt__(self, other: Any) -> Any:
        return upper.functions.operators.greater(self, other)

    def __ge__(self, other: Any) -> Any:
        return upper.functions.operators.greater_equal(self, other)

    def __neg__(self) -> Any:
        return upper.functions.operators.neg(self)

    def __abs__(self) -> Any:
        return upper.functions.operators.absolute(self)

    def __invert__(self) -> Any:
        return upper.functions.operators.logical_not(self)

    def __getitem__(self, key: Any) -> Any:
        return upper.functions.getitem(self, key)
