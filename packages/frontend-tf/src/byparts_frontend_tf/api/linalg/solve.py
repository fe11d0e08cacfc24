"""Inverses, solutions and factors of matrices.

LAPACK, through NumPy, computes them on the host: with them whatever their gradients need, so that
these are made of products in the graph (`own_gradient`), and can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.constant import eye
from byparts_frontend_tf.api.custom_gradient import with_gradient
from byparts_frontend_tf.api.elementwise import COMPLEX, check_dtype, second
from byparts_frontend_tf.api.linalg import small_matrices
from byparts_frontend_tf.api.linalg.diag import band_part, matrix_diag_part
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import log
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import matrix_transpose
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.shape import Dims, TensorShape, shown

_DTYPES = ("float64", "float32", *COMPLEX)
turned = matrix_transpose


def matrices(given: TensorLike, square: bool = True) -> Tensor:
    """Matrices [..., m, n].

    Raises:
        TypeError: they are no floats.
        ValueError: it has fewer axes, or the matrices are not square.
    """
    x = check_dtype(convert_to_tensor(given), _DTYPES, "input")
    if x.dims is not None:
        if len(x.dims) < 2:
            raise ValueError(f"Shape must be at least rank 2 but is rank {len(x.dims)}")
        if square and None not in x.dims[-2:] and x.dims[-2] != x.dims[-1]:
            raise ValueError(
                f"Dimensions must be equal, but are {x.dims[-2]} and {x.dims[-1]}: a square matrix "
                f"is wanted, and the shape is {shown(x.dims)}"
            )
    return x


def inverse_of(a: Any) -> Any:
    """The inverses of square matrices.

    Raises:
        ValueError: one has none.
    """
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        raise ValueError("Input is not invertible.") from None


def on_host(
    type: str,
    function: Callable[..., Any],
    shape: Callable[..., Any],
    outputs: int,
    inside: Optional[Callable[..., Any]] = None,
) -> Kind:
    """A kind of a function of arrays, all results of the dtype of the first input."""
    return Kind(
        type,
        host=function,
        inside=inside,
        shape=shape,
        dtype=lambda inputs, **_: [inputs[0].dtype.base_dtype] * outputs,
        gradient=False,
    )


def outer_inverse(inverse: Tensor, dy: Tensor) -> Tensor:
    """The gradient of A -> inverse(A)."""
    product: Tensor = -matmul(turned(inverse), matmul(dy, turned(inverse)))
    return product


INVERSE = on_host(
    "MatrixInverse", inverse_of, lambda x: squares(x), 1, inside=small_matrices.inverse
)


@symbol("matrix_inverse", "linalg.inv")
def matrix_inverse(input: TensorLike, adjoint: bool = False, name: Optional[str] = None) -> Tensor:
    """The inverses of matrices.

    Raises at run time:
        InvalidArgumentError: one has none.
    """
    x = matrices(input)
    x = turned(x) if adjoint else x
    made = INVERSE(x, name=name)
    return with_gradient([made], [x], lambda op, dy: [outer_inverse(op.outputs[0], dy)])[0]


def _without_last(inputs: Sequence[Tensor]) -> Dims:
    return None if inputs[0].dims is None else inputs[0].dims[:-2]


def _determinant(a: Any) -> tuple[Any, Any]:
    """The determinants, and inverses, which are nan where there is none."""
    try:
        return np.linalg.det(a), np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.linalg.det(a), np.full_like(a, np.nan)


DETERMINANT = on_host(
    "MatrixDeterminant",
    _determinant,
    lambda x: [_without_last(x), x[0].dims],
    2,
    inside=small_matrices.determinant,
)


def _of_determinant(op: Operation, dy: Tensor, d_inverse: Tensor) -> list[Tensor]:
    det, inverse = op.outputs
    own = (dy * det)[..., None, None] * turned(inverse)
    return [own + outer_inverse(inverse, d_inverse)]


@symbol("matrix_determinant", "linalg.det")
def matrix_determinant(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The determinants of matrices."""
    x = matrices(input)
    return with_gradient(DETERMINANT.outputs(x, name=name), [x], _of_determinant)[0]


def _log_determinant(a: Any) -> tuple[Any, Any, Any]:
    sign, log_of = np.linalg.slogdet(a)
    return sign, log_of, _determinant(a)[1]


LOG_DETERMINANT = on_host(
    "LogMatrixDeterminant",
    _log_determinant,
    lambda x: [_without_last(x), _without_last(x), x[0].dims],
    3,
    inside=small_matrices.log_determinant,
)


def _of_log_determinant(op: Operation, _: Tensor, dy: Tensor, d_inverse: Tensor) -> list[Tensor]:
    inverse = op.outputs[2]
    return [dy[..., None, None] * turned(inverse) + outer_inverse(inverse, d_inverse)]


@symbol("linalg.slogdet")
def slogdet(input: TensorLike, name: Optional[str] = None) -> tuple[Tensor, Tensor]:
    """The signs of determinants, and the logarithms of their sizes."""
    x = matrices(input)
    made = with_gradient(LOG_DETERMINANT.outputs(x, name=name), [x], _of_log_determinant)
    return made[0], made[1]


def _solutions(inputs: Sequence[Tensor], **_: Any) -> list[Dims]:
    a, b = inputs[0].dims, inputs[1].dims
    if a is not None and b is not None and None not in (a[-1], b[-2]) and a[-1] != b[-2]:
        raise ValueError(f"Dimensions must be equal, but are {a[-1]} and {b[-2]}")
    whole = squares(inputs)
    if whole is not None and b is not None:
        b = (*b[:-2], whole[-1] if b[-2] is None else b[-2], b[-1])
    return [b, whole]


def _solved(a: Any, b: Any) -> tuple[Any, Any]:
    inverse = inverse_of(a)
    return np.linalg.solve(a, b), inverse


SOLVE = on_host("MatrixSolve", _solved, _solutions, 2, inside=small_matrices.solution)


def _of_solution(op: Operation, dx: Tensor, d_inverse: Tensor) -> list[Tensor]:
    x, inverse = op.outputs
    db = matmul(turned(inverse), dx)
    return [outer_inverse(inverse, d_inverse) - matmul(db, turned(x)), db]


@symbol("matrix_solve", "linalg.solve")
def matrix_solve(
    matrix: TensorLike, rhs: TensorLike, adjoint: bool = False, name: Optional[str] = None
) -> Tensor:
    """x where matrix x = rhs.

    Raises at run time:
        InvalidArgumentError: the matrix has no inverse.
    """
    a = matrices(matrix)
    b = matrices(second(rhs, a.dtype.base_dtype, "MatrixSolve", "rhs"), square=False)
    a = turned(a) if adjoint else a
    return with_gradient(SOLVE.outputs(a, b, name=name), [a, b], _of_solution)[0]


def _solved_triangular(a: Any, b: Any, lower: bool) -> tuple[Any, Any]:
    part = np.tril(a) if lower else np.triu(a)
    inverse = (np.tril if lower else np.triu)(inverse_of(part))
    return np.linalg.solve(part, b), inverse


TRIANGULAR_SOLVE = on_host(
    "MatrixTriangularSolve",
    _solved_triangular,
    _solutions,
    2,
    inside=small_matrices.triangular_solution,
)


@symbol("matrix_triangular_solve", "linalg.triangular_solve")
def matrix_triangular_solve(
    matrix: TensorLike,
    rhs: TensorLike,
    lower: bool = True,
    adjoint: bool = False,
    name: Optional[str] = None,
) -> Tensor:
    """x where matrix x = rhs; of the matrix only the lower (upper) triangle is read."""
    a = matrices(matrix)
    b = matrices(second(rhs, a.dtype.base_dtype, "MatrixTriangularSolve", "rhs"), square=False)
    if adjoint:
        a, lower = turned(a), not lower

    def gradient(op: Operation, dx: Tensor, d_inverse: Tensor) -> list[Tensor]:
        da, db = _of_solution(op, dx, d_inverse)
        return [band_part(da, -1, 0) if lower else band_part(da, 0, -1), db]

    made = TRIANGULAR_SOLVE.outputs(a, b, name=name, lower=lower)
    return with_gradient(made, [a, b], gradient)[0]


def _cholesky(a: Any) -> tuple[Any, Any]:
    try:
        factor = np.linalg.cholesky(np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2))
    except np.linalg.LinAlgError:
        raise ValueError(
            "Cholesky decomposition was not successful. The input might not be valid."
        ) from None
    return factor, np.tril(np.linalg.inv(factor))


def squares(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """The shape of square matrices, by whichever of the two sizes is known."""
    dims = inputs[0].dims
    if dims is None:
        return None
    size = dims[-2] if dims[-1] is None else dims[-1]
    return (*dims[:-2], size, size)


CHOLESKY = on_host(
    "Cholesky", _cholesky, lambda x: [squares(x), squares(x)], 2, inside=small_matrices.factor
)


def half_diagonal(x: Tensor) -> Tensor:
    """The lower triangles, with half the diagonal."""
    made: Tensor = band_part(x, -1, 0) - 0.5 * band_part(x, 0, 0)
    return made


def _of_cholesky(op: Operation, dy: Tensor, d_inverse: Tensor) -> list[Tensor]:
    factor, inverse = op.outputs
    dy = band_part(dy + outer_inverse(inverse, d_inverse), -1, 0)
    middle = half_diagonal(matmul(turned(factor), dy))
    da = matmul(turned(inverse), matmul(middle, inverse))
    return [0.5 * (da + turned(da))]


@symbol("linalg.cholesky", "cholesky")
def cholesky(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The lower triangular L with L L^T = input, of which the lower triangle is read.

    Raises at run time:
        InvalidArgumentError: a matrix is not positive definite.
    """
    x = matrices(input)
    return with_gradient(CHOLESKY.outputs(x, name=name), [x], _of_cholesky)[0]


@symbol("cholesky_solve", "linalg.cholesky_solve")
def cholesky_solve(chol: TensorLike, rhs: TensorLike, name: Optional[str] = None) -> Tensor:
    """x where chol chol^T x = rhs."""
    with name_scope(name, "cholesky_solve"):
        y = matrix_triangular_solve(chol, rhs)
        return matrix_triangular_solve(chol, y, adjoint=True)


@symbol("linalg.logdet")
def logdet(matrix: TensorLike, name: Optional[str] = None) -> Tensor:
    """The logarithms of the determinants of positive definite matrices."""
    with name_scope(name, "logdet"):
        made: Tensor = 2.0 * reduce_sum(log(matrix_diag_part(cholesky(matrix))), [-1])
        return made


@symbol("matrix_solve_ls", "linalg.lstsq")
def matrix_solve_ls(
    matrix: TensorLike,
    rhs: TensorLike,
    l2_regularizer: Any = 0.0,
    fast: bool = True,
    name: Optional[str] = None,
) -> Tensor:
    """The x with the least |matrix x - rhs|^2 + l2_regularizer |x|^2; the shortest of several."""
    with name_scope(name, "matrix_solve_ls"):
        a = matrices(matrix, square=False)
        b = second(rhs, a.dtype.base_dtype, "MatrixSolveLs", "rhs")
        rows, columns = (None, None) if a.dims is None else a.dims[-2:]
        if rows is not None and columns is not None:
            return _least_squares(a, b, l2_regularizer, rows >= columns)
        size = shape_of(a)
        made: Tensor = cond(
            size[-2] >= size[-1],
            lambda: _least_squares(a, b, l2_regularizer, True),
            lambda: _least_squares(a, b, l2_regularizer, False),
        )
        for t, end in ((a, (columns, None)), (b, (None, b.dims and b.dims[-1]))):
            made.set_shape(TensorShape(None if t.dims is None else (*t.dims[:-2], *end)))
        return made


def _least_squares(a: Tensor, b: Tensor, l2_regularizer: Any, tall: bool) -> Tensor:
    """Solve the normal equations; `tall`: there are at least as many rows as columns."""
    t = turned(a)
    square = matmul(t, a) if tall else matmul(a, t)
    added = cast(l2_regularizer, a.dtype.base_dtype)
    square += added * eye(shape_of(square)[-1], dtype=a.dtype.base_dtype)
    if tall:
        return cholesky_solve(cholesky(square), matmul(t, b))
    return matmul(t, cholesky_solve(cholesky(square), b))
