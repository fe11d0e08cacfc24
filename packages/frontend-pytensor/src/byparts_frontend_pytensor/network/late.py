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
        self._values: dict[int, list[Any]] = {}  # by weight: (affine, x, y)
        self._grads: dict[int, list[Any]] = {}
        self._functions: list[Any] = []  # (function, x, y)
        self._held: set[int] = set()  # ids of tensors that may not be read or written before
        self._rows = 0

    def product(self, affine: Any, x: Any, y: Any) -> None:
        """Leave y = x w + b to be computed."""
        self._hold(x, y, affine.W, affine.b)
        self._join(self._values, affine, x, y)

    def gradients(self, affine: Any, x: Any, y: Any) -> None:
        """Leave the gradients of x, w and b to be computed from that of y, which is complete."""
        self._hold(x, affine.W, affine.b)
        self._join(self._grads, affine, x, y)

    def function(self, function: Any, x: Any, y: Any) -> None:
        """Leave y = function(x) for an x that waits itself."""
        self._hold(y)
        self._functions.append((function, x, y))

    def before(self, tensor: Any) -> None:
        """Settle what waits, if `tensor` takes part in it."""
        if id(tensor) in self._held:
            self.settle()

    def _hold(self, *tensors: Any) -> None:
        for tensor in tensors:
            if tensor is not None:
                if tensor.late is not None and tensor.late is not self:  # of another graph
                    tensor.late.before(tensor)
                tensor.late = self
                self._held.add(id(tensor))

    def _join(self, waiting: dict[int, list[Any]], affine: Any, x: Any, y: Any) -> None:
        waiting.setdefault(id(affine.W), []).append((affine, x, y))
        self._rows += x._value.shape[0]
        if self._rows > MOST:
            self.settle()

    def settle(self) -> None:
        """Compute all that waits."""
        values, self._values = self._values, {}
        grads, self._grads = self._grads, {}
        functions, self._functions = self._functions, []
        self._held, self._rows = set(), 0
        for rows in values.values():
            _multiply(rows)
        for function, x, y in functions:
            y._value = function(x._value)
        for rows in grads.values():
            _multiply_back(rows)


def _multiply(rows: list[Any]) -> None:
    affine = rows[0][0]
    product = np.concatenate([x._value for _, x, _ in rows]) @ affine.W._value
    if affine.b is not None:
        product += affine.b._value
    start = 0
    for _, x, y in rows:
        stop = start + x._value.shape[0]
        y._value, start = product[start:stop], stop


def _multiply_back(rows: list[Any]) -> None:
    affine = rows[0][0]
    xs = np.concatenate([x._value for _, x, _ in rows])
    dys = np.concatenate([y._grad for _, _, y in rows])
    affine.W.add_grad(xs.T @ dys)
    if affine.b is not None:
        affine.b.add_grad(dys.sum(0))
    dxs = dys @ affine.W._value.T
    start = 0
    for _, x, _ in rows:
        stop = start + x._value.shape[0]
        x.add_grad(dxs[start:stop])
        start = stop
