"""Orthogonal polynomials, by their recurrence in a loop up to the greatest degree asked for.

P(k+1) = (a x + b) P(k) - c P(k-1), where a, b and c are functions of k: Abramowitz and Stegun 1964,
chapter 22.  A degree below 0 gives 0.
"""

from __future__ import annotations

from typing import Any

import byparts_opset as ops
from byparts_frontend_torch.promotion import floating, promoted
from byparts_frontend_torch.rules import rules
from byparts_graph_ir import Value

# P(1) as (a, b) of a x + b; then a, b, c as functions of k.
_DOUBLED = (lambda k: 2.0, lambda k: 0.0, lambda k: 1.0)
_POLYNOMIALS: dict[str, Any] = {
    "chebyshev_polynomial_t": ((1, 0), *_DOUBLED),
    "chebyshev_polynomial_u": ((2, 0), *_DOUBLED),
    "chebyshev_polynomial_v": ((2, -1), *_DOUBLED),
    "chebyshev_polynomial_w": ((2, 1), *_DOUBLED),
    "hermite_polynomial_h": ((2, 0), lambda k: 2.0, lambda k: 0.0, lambda k: 2 * k),
    "hermite_polynomial_he": ((1, 0), lambda k: 1.0, lambda k: 0.0, lambda k: k),
    "laguerre_polynomial_l": (
        (-1, 1), lambda k: -1 / (k + 1), lambda k: (2 * k + 1) / (k + 1), lambda k: k / (k + 1)
    ),
    "legendre_polynomial_p": (
        (1, 0), lambda k: (2 * k + 1) / (k + 1), lambda k: 0.0, lambda k: k / (k + 1)
    ),
}  # fmt: skip


def _polynomial(parts: Any, shifted: bool) -> Any:
    first, a, b, c = parts

    def rule(x: Any, n: Any) -> Value:
        x, n = promoted(x, n)
        x, n = floating(x), ops.trunc(floating(n))
        x, n = ops.broadcast_like(x, x + n), ops.broadcast_like(n, x + n)
        x = 2 * x - 1 if shifted else x
        one = ops.ones_like(x)

        def body(k: Value, before: Value, now: Value, x: Value, n: Value, most: Value) -> Any:
            new = (a(k) * x + b(k)) * now - c(k) * before
            return (
                k + 1,
                ops.where(ops.less(k, n), now, before),
                ops.where(ops.less(k, n), new, now),
            )

        states = (ops.fill(1.0, x.type.dtype), one, first[0] * x + first[1])
        _, _, found = ops.while_loop(
            lambda k, before, now, x, n, most: ops.less(k, most), body, states, (x, n, ops.max(n))
        )
        return ops.where(ops.less(n, 1), ops.cast(ops.equal(n, 0), x.type.dtype), found)

    return rule


def _register() -> None:
    for name, parts in _POLYNOMIALS.items():
        for shifted in (False, True) if name.startswith("chebyshev") else (False,):
            full = f"aten.special_{'shifted_' * shifted}{name}"
            rules.on(f"{full}.default", f"{full}.n_scalar", f"{full}.x_scalar")(
                _polynomial(parts, shifted)
            )


_register()
