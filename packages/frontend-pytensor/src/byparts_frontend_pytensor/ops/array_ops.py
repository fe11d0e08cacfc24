"""Stacks of tensors."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from byparts_frontend_pytensor.network.operation import *  # noqa: F403
from byparts_frontend_pytensor.network.operation import Operation
from byparts_frontend_pytensor.network.tensor import Tensor
from byparts_graph_ir import ShapeError


class Stack(Operation):
    """Tensors side by side along an axis."""

    any_array = True
    axis: ClassVar[int]

    def __init__(self, name: str = "", argument: Any = None, graph: Any = None) -> None:
        super().__init__(name or type(self).__name__, argument, graph)

    def forward(self, input_tensors: Any) -> Tensor:
        self.register(input_tensors)
        self.input_cnt = len(input_tensors)
        shapes = [tuple(t.value.shape) for t in input_tensors]
        # A vector is a row, as NumPy's hstack and vstack have it.
        self.rows = [x.value.reshape((1, -1)) if len(x.value.shape) == 1 else x.value for x in input_tensors]
        axis = self.axis
        others = {(*row.shape[:axis], *row.shape[axis + 1 :]) for row in self.rows}
        if len(others) != 1:
            raise ShapeError(f"{self.name}: shapes {shapes} differ beside axis {axis}")
        joined = (getattr(self.xp, "concat", None) or self.xp.concatenate)(self.rows, axis=axis)
        if axis == 1 and len(shapes[0]) == 1:
            joined = joined.reshape((-1,))
        self.output_tensor = Tensor.of(joined, self.xp)
        return self.output_tensor

    def backward(self) -> None:
        grad, start = self.output_tensor.grad, 0
        if len(grad.shape) == 1:
            grad = grad.reshape((1, -1))
        for tensor, row in zip(self.input_tensors, self.rows, strict=True):
            stop = start + row.shape[self.axis]
            part = grad[:, start:stop] if self.axis else grad[start:stop]
            tensor.add_grad(part.reshape(tuple(tensor.value.shape)) * 1)  # an array of its own
            start = stop


class HStack(Stack):
    """Columns side by side: (n, a) and (n, b) give (n, a + b); vectors give a longer one."""

    axis = 1


class VStack(Stack):
    """Rows one above the other: (a, n) and (b, n) give (a + b, n); vectors are rows."""

    axis = 0
