"""`tf.linalg.LinearOperator*` that are made of others: updated, side by side, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

from byparts_frontend_tf.api.concat import concat
from byparts_frontend_tf.api.linalg.linear_operators import LinearOperator
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.pad import pad
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_frontend_tf.graph.operation import Tensor
from byparts_frontend_tf.symbols import symbol


@symbol("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """A matrix and a product of thin ones: base + u diag(diag_update) v^T."""

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: Optional[bool] = None,
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        self.base_operator = base_operator
        self.u = convert_to_tensor(u, name="u")
        self.v = self.u if v is None else convert_to_tensor(v, name="v")
        self.diag_update = None if diag_update is None else convert_to_tensor(diag_update)
        flags = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(self.u.dtype.base_dtype, [self.u, self.v], *flags, name)

    def _to_dense(self) -> Tensor:
        scaled = self.u if self.diag_update is None else self.u * self.diag_update[..., None, :]
        return self.base_operator.add_to_tensor(matmul(scaled, self.v, adjoint_b=True))


class _OfOperators(LinearOperator):
    def __init__(
        self, operators: Sequence[LinearOperator], flags: tuple[Any, Any, Any, Any], name: str
    ) -> None:
        if not operators:
            raise ValueError(f"Expected a non-empty list of operators. Found: {operators}")
        self.operators = list(operators)
        super().__init__(self.operators[0].dtype, None, *flags, name)


@symbol("linalg.LinearOperatorComposition")
class LinearOperatorComposition(_OfOperators):
    """The product of matrices.

    Raises:
        ValueError: there is none.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = None,
        name: str = "LinearOperatorComposition",
    ) -> None:
        flags = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(operators, flags, name)

    def _to_dense(self) -> Tensor:
        made = self.operators[-1].to_dense()
        for operator in reversed(self.operators[:-1]):
            made = operator.matmul(made)
        return made


@symbol("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(_OfOperators):
    """Matrices of one batch shape on the diagonal, zeros elsewhere.

    Raises:
        ValueError: there is none.
    """

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: Optional[bool] = None,
        is_self_adjoint: Optional[bool] = None,
        is_positive_definite: Optional[bool] = None,
        is_square: Optional[bool] = True,
        name: str = "LinearOperatorBlockDiag",
    ) -> None:
        flags = is_non_singular, is_self_adjoint, is_positive_definite, is_square
        super().__init__(operators, flags, name)

    def _to_dense(self) -> Tensor:
        blocks = [operator.to_dense() for operator in self.operators]
        widths = [o.domain_dimension_tensor() for o in self.operators]
        rows = []
        for i, block in enumerate(blocks):
            around = [[0, 0]] * (len(block.dims or ()) - 1)
            before, after = sum(widths[:i]), sum(widths[i + 1 :])
            rows.append(pad(block, convert_to_tensor([*around, [before, after]])))
        return concat(rows, -2)
