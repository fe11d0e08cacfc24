"""An op of one's own in one class: `forward` and `backward` in NumPy.

    class Snake(Function):
        def forward(self, x):
            return x + np.sin(self.a * x) ** 2 / self.a

        def backward(self, dy, x, y):
            return dy * (1 + np.sin(2 * self.a * x))

    snake = Snake(a=2.0)

An instance is a function of arrays and of traced values, on every device of the host.
"""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

from byparts_eager.array import asarray
from byparts_eager.kind import device_backend
from byparts_graph_ir import ArgumentError, Node, Op, TensorType, Types, Value
from byparts_runtime.arrays.dtypes import numpy_dtype, type_of

_functions: dict[int, Function] = {}  # by the field of their op; a graph with one stays in memory
_numbers = count()


class Function:
    """Subclass with `forward(*arrays)` and `backward(dy, *arrays, y)`, of NumPy arrays.

    `backward` gives the gradient of each array, one or a tuple.  A subclass may have
    `shape(*types) -> TensorType`; else `forward` is called on zeros to find the type of the result.

    Args:
        attributes: set on the instance.
    """

    def __init__(self, **attributes: Any) -> None:
        self.__dict__.update(attributes)
        self._op = CustomForward(type(self).__name__, next(_numbers))
        _functions[self._op.number] = self

    def forward(self, *arrays: Any) -> Any:
        """The result for these arrays."""
        raise NotImplementedError(f"{type(self).__name__} lacks forward(self, *arrays)")

    def backward(self, dy: Any, *arrays: Any) -> Any:
        """The gradients by the inputs; `arrays` are the inputs, then the result."""
        raise NotImplementedError(f"{type(self).__name__} lacks backward(self, dy, *arrays)")

    def __call__(self, *arrays: Any) -> Any:
        return self._op(*[asarray(x) for x in arrays])


class CustomForward(Op):
    """y = forward(*inputs) of a `Function` of this process."""

    title: str
    number: int

    def infer(self, *types: TensorType) -> Types:
        function: Any = _functions[self.number]
        if hasattr(function, "shape"):
            return (function.shape(*types),)
        zeros = [np.zeros(t.dims, numpy_dtype(t.dtype)) for t in types]
        return (type_of(np.asarray(function.forward(*zeros))),)

    def evaluate(self, *inputs: Any) -> tuple[Any, ...]:
        return (np.asarray(_functions[self.number].forward(*inputs)),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        op = CustomBackward(self.title, self.number, len(node.inputs))
        return op.outputs_of(dy, *node.inputs, *node.outputs)


class CustomBackward(Op):
    """The gradients by the inputs, of a `Function` of this process."""

    title: str
    number: int
    count: int

    def infer(self, dy: TensorType, *types: TensorType) -> Types:
        return types[: self.count]

    def evaluate(self, dy: Any, *arrays: Any) -> tuple[Any, ...]:
        inputs, y = arrays[: self.count], arrays[self.count]
        given = _functions[self.number].backward(dy, *inputs, y)
        gradients = given if isinstance(given, tuple) else (given,)
        if len(gradients) != self.count:
            raise ArgumentError(
                f"{self.title}.backward gave {len(gradients)} gradients for {self.count} inputs"
            )
        return tuple([np.asarray(d, x.dtype) for d, x in zip(gradients, inputs, strict=True)])


def _evaluated(op: Op, *inputs: Any) -> tuple[Any, ...]:
    return op.evaluate(*inputs)


for _op in (CustomForward, CustomBackward):
    device_backend("numpy").functions.on(_op)(_evaluated)
