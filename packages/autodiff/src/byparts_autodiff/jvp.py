"""Forward mode by two applications of reverse mode.

The vector-Jacobian product `u -> u J` is linear in u, so its own gradient with respect to u, seeded
with the tangents t, is `J t` (Townsend 2017, "A new trick for calculating Jacobian vector
products", https://j-towns.github.io/2017/06/12/A-new-trick.html).  No op needs a second rule for
it.

The u are zeros behind a `stop_gradient`, because a rule that omits inputs known to be zeros would
omit the tangents too.  The derivative of a linear map does not depend on the point where it is
taken, so u and the vector-Jacobian product have no readers in the end and the next `Graph.of` drops
them; at most their types remain, where a shape is not known yet.  A chain of n nodes becomes n
forward nodes and n tangent nodes.
"""

from __future__ import annotations

from collections.abc import Sequence

from byparts_autodiff.errors import GradientError
from byparts_autodiff.gradients import Values, as_values, gradients
from byparts_graph_ir import Value, compatible
from byparts_graph_ir.contract import checked
from byparts_opset import stop_gradient, zeros_like


@checked
def jvp(ys: Values, xs: Values, tangents: Values) -> tuple[Value, ...]:
    """The Jacobian of `ys` by `xs` times the vector `tangents`: one value for each y, of its type.

    Zeros for a y that depends on no x.  O(nodes that ys depend on).

    Raises:
        GradientError: as `gradients`; or not one tangent of its type for each x.
    """
    ys, xs = as_values("ys", ys), as_values("xs", xs)
    directions = as_values("tangents", tangents)
    if len(directions) != len(xs):
        raise GradientError(f"jvp: {len(directions)} tangents for {len(xs)} xs")
    for i, (x, t) in enumerate(zip(xs, directions, strict=True)):
        if not compatible(x.type, t.type):
            raise GradientError(f"jvp: tangents[{i}] is {t.type} and its x is {x.type}")
    heads = tuple(stop_gradient(zeros_like(y)) for y in ys)
    back = gradients(ys, xs, heads, unreachable="zeros")
    return gradients(back, heads, directions, unreachable="zeros")


@checked
def hessian_vector_product(y: Value, xs: Values, vectors: Sequence[Value]) -> tuple[Value, ...]:
    """The Hessian of `sum(y)` times a vector: one value for each x; no Hessian matrix is computed.

    It is the gradient of `sum(vector * gradient)` and costs about four times as much as y.
    """
    return gradients(gradients(y, xs), xs, vectors, unreachable="zeros")  # as of a linear y
