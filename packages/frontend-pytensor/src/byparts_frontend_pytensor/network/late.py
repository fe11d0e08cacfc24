"""`Late`: products of rows with one large matrix, computed together when the first is needed.

A language model multiplies each word's state with one matrix of 8 MB.  Row by row that reads the
matrix 2 n times and writes its gradient n times.  Together it is three products of matrices, of
which the gradient's is subtracted from the matrix block by block and never written: 6 times faster.
So an `Affine` whose weight is large leaves its rows here.  Reading the value or the gradient of a
tensor that takes part settles what waits, and so does the end of `backward`.  A program does not
notice, if it changes a matrix by its tensor: `w.value -= ...` reads `w.value`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SMALLEST = 1 << 16  # elements of a weight: half a megabyte, which stays in a cache
MOST = 256  # rows left before they are settled anyway
_BLOCK = 1 << 16  # elements of a gradient computed at a time


class Late:
    """Rows of one graph that wait for their products.

    Attributes:
        weights: by id: a weight, and the rows [(x, dy)] whose x^T dy is its gradient.
    """

    def __init__(self) -> None:
        self.weights: dict[int, tuple[Any, list[Any]]] = {}
        self._values: dict[int, list[Any]] = {}  # by weight: (affine, x, y)
        self._inputs: dict[int, list[Any]] = {}  # by weight: (it, dy, the tensor of x)
        self._functions: list[Any] = []  # (function, x, y)
        self._held: set[int] = set()  # ids of tensors that may not be read or written before
        self._rows = 0

    def product(self, affine: Any, x: Any, y: Any) -> None:
        """Leave y = x w + b to be computed."""
        self._hold(x, y, *affine.weights)
        self._values.setdefault(id(affine.W), []).append((affine, x, y))
        self._count(x._value)

    def then(self, function: Any, x: Any, y: Any) -> None:
        """Leave y = function(x) for an x that waits itself."""
        self._hold(y)
        self._functions.append((function, x, y))

    def gradient(self, weight: Any, x: Any, dy: Any) -> None:
        """Leave the gradient of a weight."""
        self._adopt(weight)
        self.weights.setdefault(id(weight), (weight, []))[1].append((x, dy))
        if len(self.weights[id(weight)][1]) > MOST:
            self.weigh(weight)

    def input(self, weight: Any, x: Any, dy: Any) -> None:
        """Leave the gradient of the tensor `x`."""
        self._hold(x, weight)
        self._inputs.setdefault(id(weight), []).append((weight, dy, x))
        self._count(dy)

    def before(self, tensor: Any) -> None:
        """Settle what waits, if `tensor` takes part in it."""
        if id(tensor) in self._held:
            self.settle()

    def weigh(self, weight: Any) -> None:
        """Compute the gradient that was left of a weight."""
        if rows := self.weights.pop(id(weight), None):
            x, dy = map(np.concatenate, zip(*rows[1], strict=True))
            weight.add_grad(x.T @ dy)

    def subtract(self, weight: Any, lr: float) -> bool:
        """Subtract lr * gradient from a weight, if nothing but rows of it is known."""
        if weight._grad is not None or id(weight) not in self.weights:
            return False
        x, dy = map(np.concatenate, zip(*self.weights[id(weight)][1], strict=True))
        x, value = lr * x.T, weight.value
        step = max(1, _BLOCK // len(value))
        for start in range(0, value.shape[1], step):
            value[:, start : start + step] -= x @ dy[:, start : start + step]
        return True

    def _hold(self, *tensors: Any) -> None:
        for tensor in tensors:
            self._adopt(tensor)
            self._held.add(id(tensor))

    def _adopt(self, tensor: Any) -> None:
        if tensor.late is not None and tensor.late is not self:  # of another graph
            tensor.late.before(tensor)
            tensor.late.weigh(tensor)
        tensor.late = self

    def _count(self, rows: Any) -> None:
        self._rows += len(rows)
        if self._rows > MOST:
            self.settle()

    def settle(self) -> None:
        """Compute all that waits, but for gradients of weights."""
        values, functions, inputs = self._values, self._functions, self._inputs
        self._values, self._functions, self._inputs = {}, [], {}
        self._held, self._rows = set(), 0
        for rows in values.values():
            weights = [w._value for w in rows[0][0].weights]
            xs = [x._value for _, x, _ in rows]
            product = rows[0][0].compute(np.concatenate(xs), *weights)
            for (_, _, y), part in zip(rows, _split(product, xs), strict=True):
                y._value = part
        for function, x, y in functions:
            y._value = function(x._value)
        for rows in inputs.values():
            dys = [dy for _, dy, _ in rows]
            product = np.concatenate(dys) @ rows[0][0]._value.T
            for (_, _, x), part in zip(rows, _split(product, dys), strict=True):
                x.add_grad(part)


def _split(rows: Any, parts: Any) -> list[Any]:
    return np.split(rows, np.cumsum([len(part) for part in parts])[:-1])
