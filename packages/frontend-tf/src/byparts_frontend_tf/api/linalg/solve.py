"""Inverses, solutions and factors of matrices: ops of byparts-linalg.

Complex matrices, which no graph has, are computed on the host by NumPy, and have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Optional

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.cond import cond
from byparts_frontend_tf.api.constant import eye
from byparts_frontend_tf.api.elementwise import COMPLEX, check_dtype, second
from byparts_frontend_tf.api.linalg.diag import matrix_diag_part
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import log
from byparts_frontend_tf.api.shape import shape as shape_of
from byparts_frontend_tf.api.transpose import matrix_transpose
from byparts_frontend_tf.graph.convert import TensorLike, convert_to_tensor
from byparts_frontend_tf.graph.kind import Kind
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.graph.scopes import name_scope
from byparts_frontend_tf.symbols import symbol
from byparts_graph_ir import Op, Value
from byparts_linalg.determinant import Det, SlogDet
from byparts_linalg.factor import Cholesky
from byparts_linalg.solve import Inv, Solve
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


def kind_of(type: str, op: Callable[..., Op], shape: Callable[..., Any], outputs: int = 1) -> Kind:
    """The kind of an op of matrices: the op in graphs, what it computes on the host.

    Args:
        type: TensorFlow's name.
        op: makes the op for the attributes of an operation.
        shape: the rule of shapes.
        outputs: how many, all of the dtype of the first input.
    """

    def meaning(*values: Value, **attributes: Any) -> Any:
        results = op(**attributes).outputs_of(*values)
        return results if outputs > 1 else results[0]

    def host(*arrays: Any, **attributes: Any) -> Any:
        made: Any = op(**attributes)
        results = made.compute(*arrays)
        return results if outputs > 1 else results[0]

    return Kind(type, meaning, host=host, shape=shape, dtype=alike(outputs))


def alike(outputs: int) -> Callable[..., Any]:
    """The rule of dtypes of outputs that are all of the dtype of the first input."""
    return lambda inputs, **_: [inputs[0].dtype.base_dtype] * outputs


def squares(inputs: Sequence[Tensor], **_: Any) -> Dims:
    """The shape of square matrices, by whichever of the two sizes is known."""
    dims = inputs[0].dims
    if dims is None:
        return None
    size = dims[-2] if dims[-1] is None else dims[-1]
    return (*dims[:-2], size, size)


INVERSE = kind_of("MatrixInverse", Inv, squares)


@symbol("matrix_inverse", "linalg.inv")
def matrix_inverse(input: TensorLike, adjoint: bool = False, name: Optional[str] = None) -> Tensor:
    """The inverses of matrices.

    Raises at run time:
        InvalidArgumentError: one has none.
    """
    x = matrices(input)
    return INVERSE(turned(x) if adjoint else x, name=name)


def _without_last(inputs: Sequence[Tensor], **_: Any) -> Dims:
    return None if inputs[0].dims is None else inputs[0].dims[:-2]


DETERMINANT = kind_of("MatrixDeterminant", Det, _without_last)
LOG_DETERMINANT = kind_of("LogMatrixDeterminant", SlogDet, _without_last, 2)


@symbol("matrix_determinant", "linalg.det")
def matrix_determinant(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The determinants of matrices."""
    return DETERMINANT(matrices(input), name=name)


@symbol("linalg.slogdet")
def slogdet(input: TensorLike, name: Optional[str] = None) -> tuple[Tensor, Tensor]:
    """The signs of determinants, and the logarithms of their sizes."""
    sign, log_of = LOG_DETERMINANT.outputs(matrices(input), name=name)
    return sign, log_of


def _solutions(inputs: Sequence[Tensor], **_: Any) -> Dims:
    a, b = inputs[0].dims, inputs[1].dims
    if a is not None and b is not None and None not in (a[-1], b[-2]) and a[-1] != b[-2]:
        raise ValueError(f"Dimensions must be equal, but are {a[-1]} and {b[-2]}")
    whole = squares(inputs)
    if whole is not None and b is not None:
        b = (*b[:-2], whole[-1] if b[-2] is None else b[-2], b[-1])
    return b


SOLVE = kind_of("MatrixSolve", Solve, _solutions)
TRIANGULAR_SOLVE = kind_of(
    "MatrixTriangularSolve", lambda lower: Solve("lower" if lower else "upper"), _solutions
)


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
    return SOLVE(turned(a) if adjoint else a, b, name=name)


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
    return TRIANGULAR_SOLVE(a, b, name=name, lower=lower)


CHOLESKY = kind_of("Cholesky", partial(Cholesky, True), squares)


@symbol("linalg.cholesky", "cholesky")
def cholesky(input: TensorLike, name: Optional[str] = None) -> Tensor:
    """The lower triangular L with L L^T = input, of which the lower triangle is read.

    Raises at run time:
        InvalidArgumentError: a matrix is not positive definite.
    """
    return CHOLESKY(matrices(input), name=name)


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
