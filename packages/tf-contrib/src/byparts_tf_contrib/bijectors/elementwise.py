"""Bijectors of numbers, and linear ones of vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from byparts_frontend_tf.api.cast import cast
from byparts_frontend_tf.api.constant import zeros_like
from byparts_frontend_tf.api.gather import gather
from byparts_frontend_tf.api.identity import identity
from byparts_frontend_tf.api.linalg.diag import matrix_diag, matrix_diag_part
from byparts_frontend_tf.api.linalg.matmul import matmul
from byparts_frontend_tf.api.linalg.solve import matrix_triangular_solve
from byparts_frontend_tf.api.math.polyval import softplus_inverse
from byparts_frontend_tf.api.math.reduce import reduce_sum
from byparts_frontend_tf.api.math.unary import absolute, exp, log, log1p, sigmoid, softplus
from byparts_frontend_tf.api.unique import invert_permutation
from byparts_frontend_tf.graph.convert import convert_to_tensor
from byparts_tf_contrib.bijectors.bijector import Bijector, bijector_symbol


class _OfNumbers(Bijector):
    def __init__(self, validate_args: bool = False, name: str | None = None) -> None:
        super().__init__(forward_min_event_ndims=0, validate_args=validate_args, name=name)


@bijector_symbol("Identity")
class Identity(_OfNumbers):
    """x."""

    def _forward(self, x: Any) -> Any:
        return identity(x)

    def _inverse(self, y: Any) -> Any:
        return identity(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x)


@bijector_symbol("Exp")
class Exp(_OfNumbers):
    """e^x."""

    def _forward(self, x: Any) -> Any:
        return exp(x)

    def _inverse(self, y: Any) -> Any:
        return log(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return identity(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log(y)


@bijector_symbol("Sigmoid")
class Sigmoid(_OfNumbers):
    """1 / (1 + e^-x)."""

    def _forward(self, x: Any) -> Any:
        return sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        return log(y) - log1p(-y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x) - softplus(x)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return -log1p(-y) - log(y)


@bijector_symbol("Softplus")
class Softplus(_OfNumbers):
    """log(1 + e^x)."""

    def _forward(self, x: Any) -> Any:
        return softplus(x)

    def _inverse(self, y: Any) -> Any:
        return softplus_inverse(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return -softplus(-x)


@bijector_symbol("AffineScalar")
class AffineScalar(_OfNumbers):
    """scale x + shift."""

    def __init__(
        self,
        shift: Any = None,
        scale: Any = None,
        validate_args: bool = False,
        name: str = "affine_scalar",
    ) -> None:
        self.shift, self.scale = (
            None if v is None else convert_to_tensor(v) for v in (shift, scale)
        )
        super().__init__(validate_args, name)

    def _forward(self, x: Any) -> Any:
        y = x if self.scale is None else x * self.scale
        return y if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else x / self.scale

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros_like(x) if self.scale is None else 0.0 * x + log(absolute(self.scale))


@bijector_symbol("Affine")
class Affine(Bijector):
    """A matrix times x, and `shift` [n].  The matrix is the sum of what is given.

    Args:
        shift: [n].
        scale_identity_multiplier: a number times the identity.
        scale_diag: [n].
        scale_tril: of which the lower triangle is read.
        scale_perturb_factor: refused.
        scale_perturb_diag: refused.
        validate_args: accepted.
        name: its name scope.

    Raises:
        NotImplementedError: a perturbation is given.
    """

    def __init__(
        self,
        shift: Any = None,
        scale_identity_multiplier: Any = None,
        scale_diag: Any = None,
        scale_tril: Any = None,
        scale_perturb_factor: Any = None,
        scale_perturb_diag: Any = None,
        validate_args: bool = False,
        name: str = "affine",
    ) -> None:
        if scale_perturb_factor is not None or scale_perturb_diag is not None:
            raise NotImplementedError("Affine: perturbations are not here")
        self.shift = None if shift is None else convert_to_tensor(shift, name="shift")
        diagonal: Any = None if scale_diag is None else convert_to_tensor(scale_diag)
        if scale_identity_multiplier is not None:
            times = convert_to_tensor(scale_identity_multiplier)[..., None]
            diagonal = times if diagonal is None else diagonal + times
        self._triangle: Any = None if scale_tril is None else convert_to_tensor(scale_tril)
        if self._triangle is not None and diagonal is not None:
            extra = zeros_like(matrix_diag_part(self._triangle)) + diagonal
            self._triangle = self._triangle + matrix_diag(extra)
        self._diagonal = diagonal
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        y = x
        if self._triangle is not None:
            lower = convert_to_tensor(np.tril(np.ones(self._triangle.shape.as_list()[-2:])))
            y = matmul(self._triangle * cast(lower, y.dtype.base_dtype), y[..., None])[..., 0]
        elif self._diagonal is not None:
            y = y * self._diagonal
        return identity(y) if self.shift is None else y + self.shift

    def _inverse(self, y: Any) -> Any:
        x = identity(y) if self.shift is None else y - self.shift
        if self._triangle is not None:
            return matrix_triangular_solve(self._triangle, x[..., None])[..., 0]
        return x if self._diagonal is None else x / self._diagonal

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        none: Any = 0.0 * x
        if self._triangle is not None:
            return reduce_sum(none + log(absolute(matrix_diag_part(self._triangle))), -1)
        if self._diagonal is not None:
            none = none + log(absolute(self._diagonal))
        return reduce_sum(none, -1)


@bijector_symbol("Permute")
class Permute(Bijector):
    """The elements of vectors in another order: y[i] = x[permutation[i]]."""

    def __init__(
        self, permutation: Any, validate_args: bool = False, name: str | None = None
    ) -> None:
        self.permutation = convert_to_tensor(permutation)
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward(self, x: Any) -> Any:
        return gather(x, self.permutation, axis=-1)

    def _inverse(self, y: Any) -> Any:
        return gather(y, invert_permutation(self.permutation), axis=-1)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return reduce_sum(0.0 * x, -1)


@bijector_symbol("Inline")
class Inline(Bijector):
    """Functions that a program gives."""

    def __init__(
        self,
        forward_fn: Callable[..., Any] | None = None,
        inverse_fn: Callable[..., Any] | None = None,
        inverse_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_log_det_jacobian_fn: Callable[..., Any] | None = None,
        forward_event_shape_fn: Callable[..., Any] | None = None,
        forward_event_shape_tensor_fn: Callable[..., Any] | None = None,
        inverse_event_shape_fn: Callable[..., Any] | None = None,
        inverse_event_shape_tensor_fn: Callable[..., Any] | None = None,
        is_constant_jacobian: bool = False,
        validate_args: bool = False,
        forward_min_event_ndims: int | None = None,
        inverse_min_event_ndims: int | None = None,
        name: str = "inline",
    ) -> None:
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims,
            inverse_min_event_ndims=inverse_min_event_ndims,
            validate_args=validate_args,
            name=name,
        )
        for said, function in {
            "_forward": forward_fn,
            "_inverse": inverse_fn,
            "_inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "_forward_log_det_jacobian": forward_log_det_jacobian_fn,
        }.items():
            if function is not None:
                setattr(self, said, function)
