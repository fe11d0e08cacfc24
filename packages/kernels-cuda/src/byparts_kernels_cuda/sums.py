"""Pass over graphs: an addend of a product of matrices is added where its sums are finished.

A bias, a sum of gradients, and the step of gradient descent (w - rate * a b) save a pass over
the product; the gradient of such a weight is never in memory.
"""

from __future__ import annotations

from functools import partial

from byparts_graph_ir import Node, Pass, TensorType
from byparts_kernels_cuda.epilogues import epilogues
from byparts_kernels_cuda.products.contraction import has_kernels
from byparts_opset.accumulate import accumulate
from byparts_tensor_ir.expression import FLOATS


def adds(c: TensorType, product: Node) -> bool:
    """Whether c is as large as the product, or a row of it, and the product is one of floats."""
    a, b = (v.type for v in product.inputs)
    (y,) = product.outputs
    if not all(t.static for t in (a, b, c)):
        return False  # products are compiled for one size
    floats = a.dtype == b.dtype == c.dtype and a.dtype in FLOATS and has_kernels(a.dtype)
    if not floats or b.rank != 2 or not a.size * b.size:
        return False
    if a.rank != 2 and getattr(product.op, "transpose_a", False):
        return False
    return c == y.type or (c.dims[-1:] == y.type.dims[-1:] and c.size == y.type.dims[-1])


PASSES = (
    Pass("accumulate", partial(accumulate, fits=adds), needs=("static",)),
    Pass("epilogues", epilogues, needs=("static",)),
)
