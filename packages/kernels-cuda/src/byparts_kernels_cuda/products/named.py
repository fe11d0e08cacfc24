"""Products of matrices of which the first has any number of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from byparts_gpu_ir.launches import LIKELY, Launches
from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.builder import array
from byparts_kernels_cuda.products.contraction import Contraction, Operand, has_kernels, lanes_of
from byparts_kernels_cuda.products.tiled import tiled
from byparts_kernels_cuda.products.tiles import tile_of
from byparts_op_loops.extents import extents, names_of, size_variable
from byparts_opset import MatMul
from byparts_tensor_ir.expression import HALVES, as_expr, const


def named_launches(op: MatMul, types: Sequence[TensorType]) -> Launches:
    """Launches for (a, b, y), of one tile for all sizes: that of a usual number of rows.

    Args:
        op: a product of rows, all of which one matrix multiplies.
        types: of a, whose leading axes have names, and of b, which has none.

    Raises:
        Refused: other products, and matrices of halves, whose tiles are those of a size.
    """
    a, b = types
    kind = a.dtype
    rows = a.shape is not None and not any(names_of(TensorType(kind, a.shape[-1:])))
    static = b.static and rows and b.rank == 2 and 0 not in b.dims
    if not static or op.transpose_a or kind in HALVES or not has_kernels(kind):
        raise Refused(f"{op.name} of ({a}, {b}) has code for one size alone")
    *lead, _ = extents(a)
    m = prod([as_expr(n) for n in lead], start=const(1))
    n = b.dims[-2] if op.transpose_b else b.dims[-1]
    turned = not op.transpose_b
    sums = b.dims[-1] if op.transpose_b else b.dims[-2]
    left = Operand(
        array("A", (m, sums), kind),
        LIKELY,
        lambda _, i, r: (i, r),
        "sum",
        lanes_of(kind, sums),
        sized=m,
    )
    right = Operand(
        array("B", b.dims, kind),
        n,
        lambda _, j, r: (r, j) if turned else (j, r),
        "outer" if turned else "sum",
        lanes_of(kind, b.dims[-1]),
    )
    y = array("Y", (m, n), kind)
    c = Contraction(1, left, right, sums, y, lambda _, i, j: (i, j), lanes_of(kind, n))
    tile, _ = tile_of(LIKELY, n, sums, 1, kind)
    kernels, workspace = tiled(c, tile)
    sizes = tuple([size_variable(name) for name in sorted(names_of(a))])
    kernels = tuple([replace(kernel, sizes=sizes) for kernel in kernels])
    return Launches((left.buffer, right.buffer, y), workspace, kernels)
