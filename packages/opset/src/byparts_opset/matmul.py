"""Products of matrices, one for each index of the leading (batch) axes.

Transposes are flags, because every BLAS takes them for nothing and because the gradient of a
product is then two products and no copy: with y = a b, da = dy bᵀ and db = aᵀ dy.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import byparts_opset as ops
from byparts_graph_ir import Dimension, Node, Op, Sample, ShapeError, TensorType, Types, Value
from byparts_opset.broadcast import broadcast_shape, meet_dims, same_dtype
from byparts_opset.dtypes import Array, narrow, total_dtype, wide


class MatMul(Op):
    """y[..., m, n] = sum over k of a[..., m, k] b[..., k, n].

    A flag says that the last two axes of that operand are stored the other way round.  Leading axes
    broadcast as in NumPy.  Integers wrap around in their own dtype; k = 0 gives zeros.
    """

    name = "matmul"

    transpose_a: bool = False
    transpose_b: bool = False

    pattern = "contraction"

    def infer(self, a: TensorType, b: TensorType) -> Types:
        dtype = number_dtype(self.name, a, b)
        m, k = self._matrix(a, self.transpose_a)
        k_b, n = self._matrix(b, self.transpose_b)
        _check_inner(self, a, b, k, k_b)
        assert a.shape is not None and b.shape is not None, "infer sees known ranks"
        leads = (TensorType(dtype, a.shape[:-2]), TensorType(dtype, b.shape[:-2]))
        return (TensorType(dtype, (*(broadcast_shape(self.name, *leads) or ()), m, n)),)

    def infer_unranked(self, a: TensorType, b: TensorType) -> Types:
        return (TensorType(number_dtype(self.name, a, b), None),)

    def infer_inputs(self, inputs: Types, outputs: Types) -> Types:
        a, b = inputs
        (y,) = outputs
        if a.shape is None or b.shape is None or len(a.shape) < 2 or len(b.shape) < 2:
            return inputs
        m, k = self._matrix(a, self.transpose_a)
        k_b, n = self._matrix(b, self.transpose_b)
        k = meet_dims(self.name, k, k_b, f"inner dimensions differ: a is {a} and b is {b}")
        if y.shape is not None and len(y.shape) >= 2:
            what = f"y is {y}, a is {a} and b is {b}"
            m = meet_dims(self.name, m, y.shape[-2], what)
            n = meet_dims(self.name, n, y.shape[-1], what)
        return (_stored(a, m, k, self.transpose_a), _stored(b, k, n, self.transpose_b))

    def evaluate(self, a: Array, b: Array) -> tuple[Array, ...]:
        left = np.swapaxes(a, -1, -2) if self.transpose_a else a
        right = np.swapaxes(b, -1, -2) if self.transpose_b else b
        dtype = total_dtype(wide(a).dtype)
        with np.errstate(all="ignore"):
            return (narrow(np.matmul(left.astype(dtype), right.astype(dtype)), a.dtype),)

    def gradient(self, node: Node, dy: Value) -> tuple[Value | None, ...]:
        a, b = node.inputs
        if _is_dense_layer(self, a, b, dy):
            return self._gradient_of_layer(a, b, dy)
        ta, tb = self.transpose_a, self.transpose_b
        da = MatMul(tb, True)(b, dy) if ta else MatMul(False, not tb)(dy, b)
        db = MatMul(True, ta)(dy, a) if tb else MatMul(not ta, False)(a, dy)
        return (ops.sum_like(da, a), ops.sum_like(db, b))

    def _gradient_of_layer(self, a: Value, b: Value, dy: Value) -> tuple[Value | None, ...]:
        """Compute db as one product of all rows; the general rule sums one for each batch index."""
        rows, dys = _as_rows(a), _as_rows(dy)
        db = MatMul(True, False)(dys, rows) if self.transpose_b else MatMul(True, False)(rows, dys)
        return (MatMul(False, not self.transpose_b)(dy, b), db)

    def flops(self, a: TensorType, b: TensorType) -> int:
        return 2 * self.infer(a, b)[0].size * a.dims[-2 if self.transpose_a else -1]

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for ta in (False, True):
            for tb in (False, True):
                yield _sample(cls(ta, tb), (3, 2) if ta else (2, 3), (4, 3) if tb else (3, 4))
        yield _sample(cls(), (2, 3, 4), (4, 5))
        yield _sample(cls(True, True), (2, 1, 4, 3), (5, 2, 4))
        yield _sample(cls(), (2, 0), (0, 3))
        yield _sample(cls(), (0, 2), (2, 3))

    def _matrix(self, x: TensorType, transposed: bool) -> tuple[Dimension, Dimension]:
        """Rows and columns of the matrices in x, after the transposition that the flag says."""
        assert x.shape is not None, "infer sees known ranks"
        if len(x.shape) < 2:
            raise ShapeError(
                f"{self.name}: takes matrices, got {x} of rank {len(x.shape)}; "
                "einsum takes any rank, as in einsum('i,ij->j', x, w)"
            )
        first, last = x.shape[-2:]
        return (last, first) if transposed else (first, last)


def matmul(a: Value, b: Value, *, transpose_a: bool = False, transpose_b: bool = False) -> Value:
    """The product of matrices; a flag says that an operand is stored transposed."""
    return MatMul(transpose_a, transpose_b)(a, b)


def number_dtype(name: str, *types: TensorType) -> str:
    """The one dtype of the operands of a sum of products.

    Raises:
        ShapeError: they differ, or are bools.
    """
    dtype = same_dtype(name, *types)
    if dtype == "bool":
        listed = " and ".join(map(str, types))
        raise ShapeError(f"{name}: bool has no arithmetic, got {listed}; cast(x, 'i32') first")
    return dtype


def _check_inner(op: MatMul, a: TensorType, b: TensorType, k: Dimension, k_b: Dimension) -> None:
    if not (isinstance(k, int) and isinstance(k_b, int)) or k == k_b:
        return
    assert b.shape is not None, "infer sees known ranks"
    flags = "".join(f", {name}" for name in ("transpose_a", "transpose_b") if getattr(op, name))
    message = f"{op.name}: inner dimensions differ: a is {a} and b is {b}{flags}"
    message += f", so {k} meets {k_b}"
    if b.shape[-1 if not op.transpose_b else -2] == k:
        message += f"; try transpose_b={not op.transpose_b}"
    raise ShapeError(message)


def _stored(x: TensorType, rows: Dimension, columns: Dimension, transposed: bool) -> TensorType:
    assert x.shape is not None, "the caller has looked"
    matrix = (columns, rows) if transposed else (rows, columns)
    return TensorType(x.dtype, (*x.shape[:-2], *matrix))


def _is_dense_layer(op: MatMul, a: Value, b: Value, dy: Value) -> bool:
    """Whether b is one matrix for the whole batch, so that leading axes of a can become rows."""
    rows, matrix, dys = a.type.shape, b.type.shape, dy.type.shape
    if op.transpose_a or rows is None or matrix is None or dys is None:
        return False
    widths = (rows[-1], *matrix, dys[-1])  # dy may have a name for what is a number in b
    known = all(isinstance(d, int) and d > 0 for d in widths)
    return len(rows) > 2 and len(matrix) == 2 and known


def _as_rows(x: Value) -> Value:
    assert x.type.shape is not None, "the caller has looked"
    width = x.type.shape[-1]
    assert isinstance(width, int), "the caller has looked"
    return ops.Reshape((-1, width))(x)


def _sample(op: MatMul, a: tuple[int, ...], b: tuple[int, ...]) -> Sample:
    return Sample(op, (TensorType("f32", a), TensorType("f32", b)))
