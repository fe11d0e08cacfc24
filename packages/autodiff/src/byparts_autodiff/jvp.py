"""Forward mode, got from reverse mode: differentiate the pull-back by what it pulls back.

The pull-back `u -> u J` is linear in u, so its own gradient with respect to u, seeded with the
tangents t, is `J t` (Townsend 2017, "A new trick for calculating Jacobian vector products",
https://j-towns.github.io/2017/06/12/A-new-trick.html).  No op needs a second rule for it.

The u are nodes of zeros that do not look like zeros (`stop_gradient`): a rule that leaves out what
is zeros by construction would leave out the tangents.  A linear map does not look at the point
where it is differentiated, so they, and the pull-back computed from them, are needed by nobody and
fall away with the next `Graph.of`; at most their types remain, where a shape is not known yet.
What is left for a chain of n nodes is the n forward nodes and n tangents.
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
    """How each of `ys` changes when `xs` move along `tangents`: the Jacobian times a vector.

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
    return gradients(gradients(ys, xs, heads), heads, directions)


@checked
def hessian_vector_product(y: Value, xs: Values, vectors: Sequence[Value]) -> tuple[Value, ...]:
    """The Hessian of `sum(y)` times a vector, one part for each x; the matrix is never made.

    The gradient of `sum(vector * gradient)`, which costs about four times y itself.
    """
    return gradients(gradients(y, xs), xs, vectors)
