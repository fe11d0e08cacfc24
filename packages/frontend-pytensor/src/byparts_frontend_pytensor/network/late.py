"""`Late`: products of rows with one large matrix, computed together when the first is needed.

A language model multiplies each word's state with one matrix of 8 MB.  Row by row that reads the
matrix 2 n times and writes its gradient n times; together it is three products of matrices, and 5
times faster.  So an `Affine` whose weight is large leaves its rows here.  Reading the value or the
gradient of a tensor that takes part settles everything, and so does the end of `backward`.  A
program does not notice, if it changes a matrix by its tensor: `w.value -= ...` reads `w.value`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

SMALLEST = 1 << 16  # elements of a weight: half a megabyte, which stays in a cache
MOST = 256  # rows left before they are settled anyway


class Late:
    """Rows of one graph that wait for their products."""

    def __init__(self) -> None:
        self._held: set[int] = set()
        self._forget()

    def _forget(self) -> None:
        self._values: dict[int, list[Any]] = {}  # by weight: (affine, x, y)
        self._grads: dict[int, Any] = {}  # by weight: it, its bias, and rows (x, dy, tensor)
        self._functions: list[Any] = []  # (function, x, y)
        self._held.clear()  # ids of tensors that may not be read or written before
        self._rows = 0

    def product(self, affine: Any, x: Any, y: Any) -> None:
        """Leave y = x w + b to be computed."""
        self._hold(x, y, *affine.weights)
        self._values.setdefault(id(affine.W), []).append((affine, x, y))
        self._rows += len(x._value)
        if self._rows > MOST:
            self.settle()

    def gradients(self, weight: Any, x: Any, dy: Any, tensor: Any, bias: Any) -> None:
        """Leave the gradients of a weight, and of a bias and the tensor of x if there are such."""
        self._hold(*[t for t in (weight, bias, tensor) if t is not None])
        rows = self._grads.setdefault(id(weight), (weight, bias, []))[2]
        rows.append((x, dy, tensor))

    def then(self, function: Any, x: Any, y: Any) -> None:
        """Leave y = function(x) for an x that waits itself."""
        self._hold(y)
        self._functions.append((function, x, y))

    def before(self, tensor: Any) -> None:
        """Settle what waits, if `tensor` takes part in it."""
        if id(tensor) in self._held:
            self.settle()

    def _hold(self, *tensors: Any) -> None:
        for tensor in tensors:
            if tensor.late is not None and tensor.late is not self:  # of another graph
                tensor.late.before(tensor)
            tensor.late = self
            self._held.add(id(tensor))

    def settle(self) -> None:
        """Compute all that waits."""
        values, functions, grads = self._values, self._functions, self._grads
        self._forget()
        for rows in values.values():
            weights = [w._value for w in rows[0][0].weights]
            xs = [x._value for _, x, _ in rows]
            product = rows[0][0].compute(np.concatenate(xs), *weights)
            for (_, _, y), part in zip(rows, _split(product, xs), strict=True):
                y._value = part
        for function, x, y in functions:
            y._value = function(x._value)
        for weight, bias, entries in grads.values():
            parts = [*zip(*entries, strict=True)]
            x, dy = np.concatenate(parts[0]), np.concatenate(parts[1])
            spare, weight.spare = weight.spare, None
            weight.add_grad(np.matmul(x.T, dy, out=spare))
            if bias is not None:
                bias.add_grad(dy.sum(0))
            if parts[2][0] is not None:
                dxs = _split(dy @ weight._value.T, parts[1])
                for tensor, dx in zip(parts[2], dxs, strict=True):
                    tensor.add_grad(dx)


def _split(rows: Any, parts: Any) -> list[Any]:
    return np.split(rows, np.cumsum([len(part) for part in parts])[:-1])
