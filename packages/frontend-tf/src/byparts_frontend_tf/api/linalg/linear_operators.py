"""`tf.linalg.LinearOperator*`: matrices whose structure makes products and solutions cheap."""

from __future__ import annotations

from typing import Any, Optional

from byparts_frontend_tf.api.constant import eye, ones_like
from byparts_frontend_tf.api.identity import no_op
from byparts_frontend_tf.api.linalg.diag import band_part, matrix_diag, matrix_diag_part
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.linalg.solve import (
    cholesky,
    cholesky_solve,
    matrix_determinant,
    matrix_solve,
    matrix_triangular_solve,
    slogdet,
)
from byparts_frontend_tf.api.math.reduce import reduce_prod, reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, log
from byparts_frontend_tf.api.shape import rank as rank_of, shape as shape_of
from byparts_frontend_tf.api.transpose import matrix_transpose
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Operation, Tensor
from byparts_frontend_tf.symbols import symbol
from byparts_tf_files.dtypes import DType, as_dtype, float32
from byparts_tf_files.shape import TensorShape


@symbol("linalg.LinearOperator")
class LinearOperator:
    """A matrix [..., m, n], or a batch of them.

    Attributes:
        dtype: of its elements.
        name: said when it was made.
        is_square, is_non_singular, is_self_adjoint, is_positive_definite: what was said of it.
    """

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: Optional[str] = None,
    ) -> None:
        self.dtype: DType = as_dtype(dtype)
        self.graph_parents = list(graph_parents or ())
        self.is_non_singular, self.is_self_adjoint = is_non_singular, is_self_adjoint
        self.is_positive_definite, self.is_square = is_positive_definite, is_square
        self.name = name or type(self).__name__

    # What a class says

    def _to_dense(self) -> Tensor:
        raise NotImplementedError(f"to_dense: {type(self).__name__}")

    def _product(self, x: Tensor, adjoint: bool) -> Tensor:
        return matmul(self._to_dense(), x, transpose_a=adjoint)

    def _solution(self, x: Tensor, adjoint: bool) -> Tensor:
        if self.is_positive_definite and self.is_self_adjoint:
            return cholesky_solve(cholesky(self._to_dense()), x)
        return matrix_solve(self._to_dense(), x, adjoint=adjoint)

    def _diagonal(self) -> Tensor:
        return matrix_diag_part(self._to_dense())

    def determinant(self, name: str = "det") -> Tensor:
        """The determinant."""
        return matrix_determinant(self._to_dense())

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithm of the size of the determinant."""
        return slogdet(self._to_dense())[1]

    # Shapes

    @property
    def shape(self) -> TensorShape:
        """Static shape of the operator."""
        return self._to_dense().shape

    @property
    def batch_shape(self) -> TensorShape:
        """The shape without the matrices."""
        made: TensorShape = self.shape[:-2]
        return made

    @property
    def tensor_rank(self) -> Optional[int]:
        """Number of axes of the operator; `None` where it is not known."""
        return self.shape.ndims

    @property
    def domain_dimension(self) -> Any:
        """Number of columns of the operator."""
        return self.shape[-1]

    @property
    def range_dimension(self) -> Any:
        """Number of rows of the operator."""
        return self.shape[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """Shape of the operator, as a tensor."""
        return shape_of(self._to_dense())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """Number of columns of the operator, as a tensor."""
        made: Tensor = self.shape_tensor()[-1]
        return made

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """Number of rows of the operator, as a tensor."""
        made: Tensor = self.shape_tensor()[-2]
        return made

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape without the matrices."""
        made: Tensor = self.shape_tensor()[:-2]
        return made

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """Number of axes of the operator, as a tensor."""
        return rank_of(self._to_dense())

    # Functions

    @property
    def H(self) -> LinearOperator:  # noqa: N802  # TensorFlow's name
        """The transposed matrix."""
        return self.adjoint()

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The transposed matrix."""
        return LinearOperatorFullMatrix(matrix_transpose(self._to_dense()))

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix."""
        return self._to_dense()

    def _as_tensor(self, dtype: Any = None, name: Optional[str] = None) -> Tensor:
        return self._to_dense()

    def matmul(
        self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul"
    ) -> Tensor:
        """The product with matrices [..., n, r]."""
        given = convert_to_tensor(x, self.dtype)
        return self._product(matrix_transpose(given) if adjoint_arg else given, adjoint)

    def __matmul__(self, x: Any) -> Tensor:
        return self.matmul(x)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with vectors [..., n]."""
        made: Tensor = self._product(convert_to_tensor(x, self.dtype)[..., None], adjoint)[..., 0]
        return made

    def solve(
        self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve"
    ) -> Tensor:
        """x where the product with it is rhs [..., n, r]."""
        given = convert_to_tensor(rhs, self.dtype)
        return self._solution(matrix_transpose(given) if adjoint_arg else given, adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """x where the product with it is rhs [..., n]."""
        made: Tensor = self._solution(convert_to_tensor(rhs, self.dtype)[..., None], adjoint)[
            ..., 0
        ]
        return made

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonal."""
        return self._diagonal()

    def trace(self, name: str = "trace") -> Tensor:
        """The sum of the diagonal."""
        return reduce_sum(self._diagonal(), -1)

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """The matrix and a tensor added."""
        made: Tensor = self._to_dense() + convert_to_tensor(x, self.dtype)
        return made

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """Accepted."""
        return no_op(name)

    assert_positive_definite = assert_self_adjoint = assert_non_singular


class _OfMatrix(LinearOperator):
    def __init__(self, matrix: Any, flags: tuple[Any, Any, Any, Any], name: str) -> None:
        self._matrix = convert_to_tensor(matrix, name="matrix")
        super().__init__(self._matrix.dtype.base_dtype, [self._matrix], *flags, name)


@symbol("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(_OfMatrix):
    """Any matrix."""

    def __init__(
        self,
        matrix: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        flags = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(matrix, flags, name)

    def _to_dense(self) -> Tensor:
        return self._matrix


class _Triangular(LinearOperator):
    """An operator that is zero above or below its diagonal, so that this tells its determinant."""

    def determinant(self, name: str = "det") -> Tensor:
        """The product of the diagonal."""
        return reduce_prod(self._diagonal(), -1)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The sum of the logarithms of the diagonal."""
        return reduce_sum(log(absolute(self._diagonal())), -1)


@symbol("linalg.LinearOperatorLowerTriangular")
class LinearOperatorLowerTriangular(_OfMatrix, _Triangular):
    """A matrix of which the lower triangle is read."""

    def __init__(
        self,
        tril: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        flags = is_non_singular, is_self_adjoint, is_positive_definite, True
        super().__init__(tril, flags, name)

    def _to_dense(self) -> Tensor:
        return band_part(self._matrix, -1, 0)

    def _diagonal(self) -> Tensor:
        return matrix_diag_part(self._matrix)

    def _solution(self, x: Tensor, adjoint: bool) -> Tensor:
        return matrix_triangular_solve(self._matrix, x, lower=True, adjoint=adjoint)


@symbol("linalg.LinearOperatorDiag")
class LinearOperatorDiag(_Triangular):
    """A matrix that is zero beside its diagonal."""

    def __init__(
        self,
        diag: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        self.diag = convert_to_tensor(diag, name="diag")
        flags = is_non_singular, True, is_positive_definite, True
        super().__init__(self.diag.dtype.base_dtype, [self.diag], *flags, name)

    def _to_dense(self) -> Tensor:
        return matrix_diag(self.diag)

    def _diagonal(self) -> Tensor:
        return self.diag

    def _product(self, x: Tensor, adjoint: bool) -> Tensor:
        made: Tensor = self.diag[..., None] * x
        return made

    def _solution(self, x: Tensor, adjoint: bool) -> Tensor:
        made: Tensor = x / self.diag[..., None]
        return made


@symbol("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(LinearOperatorDiag):
    """The matrix that changes nothing."""

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: Optional[bool] = True,
        is_self_adjoint: Optional[bool] = True,
        is_positive_definite: Optional[bool] = True,
        is_square: Optional[bool] = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        matrix = eye(num_rows, batch_shape=batch_shape, dtype=dtype or float32)
        super().__init__(matrix_diag_part(matrix), True, True, True, True, name)


@symbol("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(LinearOperatorDiag):
    """A number times the matrix that changes nothing."""

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self.multiplier = convert_to_tensor(multiplier, name="multiplier")
        ones = ones_like(matrix_diag_part(eye(num_rows, dtype=self.multiplier.dtype)))
        flags = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(self.multiplier[..., None] * ones, *flags, name)
