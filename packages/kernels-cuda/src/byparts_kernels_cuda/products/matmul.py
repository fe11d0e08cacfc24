"""Products of matrices as opset defines them: `MatMul` and `AddMatmul` as contractions.

The leading axes of each array are one axis here, so y is (batch, m, n).  Where b is one matrix and
a is stored as it is multiplied, all rows of a are rows of one product.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import prod
from typing import Union

from byparts_gpu_ir.launches import Launches
from byparts_graph_ir import Refused, TensorType
from byparts_kernels_cuda.builder import array
from byparts_kernels_cuda.products.after import After, addend, addends_of, followed
from byparts_kernels_cuda.products.contraction import (
    Contraction,
    Operand,
    decoded,
    has_kernels,
    lanes_of,
    multiply_add,
)
from byparts_kernels_cuda.products.narrow import MOST_NARROW, narrow
from byparts_kernels_cuda.products.sides import AnyTile
from byparts_kernels_cuda.products.tiled import tiled
from byparts_kernels_cuda.products.tiles import tile_of
from byparts_opset import AddMatmul, MatMul
from byparts_tensor_ir.expression import Expr, const

Product = Union[MatMul, AddMatmul]
Choice = tuple[AnyTile, int]  # and how many blocks share a sum


def matmul_launches(
    op: MatMul,
    types: Sequence[TensorType],
    choice: Choice | None = None,
    after: After | None = None,
) -> Launches:
    """Launches for (a, b, y).

    Args:
        op: the product.
        types: of a and b.
        choice: a tile other than the one that the extents ask for.
        after: what is done with each element, if anything; its arrays stand before y.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    c = contraction(op, *_taken(op, types))
    return _launches(c, op.infer(*types)[0], (), choice, after)


def add_matmul_launches(
    op: AddMatmul,
    types: Sequence[TensorType],
    choice: Choice | None = None,
    after: After | None = None,
) -> Launches:
    """Launches for (c, a, b, y); c may be y where it is as large.

    Args:
        op: the product.
        types: of c, a and b.
        choice: as of `matmul_launches`.
        after: likewise.

    Raises:
        Refused: a dtype that kernels do not have.
    """
    c, a, b = _taken(op, types)
    (y,) = op.infer(c, a, b)
    product = contraction(op, a, b)

    def finish(value: Expr, more: Expr) -> Expr:
        if op.scale == 1:
            return more + value
        return multiply_add(value, const(op.scale, product.dtype), more)

    product = replace(product, finish=finish, addends=(addend("C", c, y, product.y),))
    alone = after is None or not after.types  # another array may be the one that is added
    return _launches(product, y, ((0, 0),) if c == y and alone else (), choice, after)


def _taken(op: Product, types: Sequence[TensorType]) -> Sequence[TensorType]:
    if not has_kernels(types[0].dtype):
        raise Refused(
            f"{op.name} of ({', '.join(map(str, types))}): no kernels of {types[0].dtype}"
        )
    return types


def _launches(
    c: Contraction,
    y: TensorType,
    inplace: tuple[tuple[int, int], ...],
    choice: Choice | None,
    after: After | None,
) -> Launches:
    more = addends_of(after, y, c.y)
    parameters = (*c.reads, c.a.buffer, c.b.buffer, *[x.buffer for x in more], c.y)
    c = followed(c, after, more)
    if not c.batch * c.a.extent * c.b.extent:
        return Launches(parameters, (), (), inplace)
    if choice is None and min(c.a.extent, c.b.extent) <= MOST_NARROW:
        kernels, workspace = narrow(c)
    else:
        extents = (c.a.extent, c.b.extent, c.sums, c.batch)
        kernels, workspace = tiled(c, *(choice or tile_of(*extents, c.y.dtype)))
    return Launches(parameters, workspace, kernels, inplace)


def contraction(op: Product, a: TensorType, b: TensorType) -> Contraction:
    """The product as a contraction, of arrays whose leading axes are one."""
    m, k = a.dims[-2:][:: -1 if op.transpose_a else 1]
    n = b.dims[-2] if op.transpose_b else b.dims[-1]
    lead_a, lead_b = a.dims[:-2], b.dims[:-2]
    if prod(lead_b) == 1 and not op.transpose_a:
        m, lead_a = prod(lead_a) * m, (1,) * len(lead_a)
    lead = _broadcast(lead_a, lead_b)
    return Contraction(
        prod(lead),
        _operand("A", a.dtype, (prod(lead_a), m, k), op.transpose_a, _of_batch(lead_a, lead)),
        _operand("B", b.dtype, (prod(lead_b), n, k), not op.transpose_b, _of_batch(lead_b, lead)),
        k,
        array("Y", (prod(lead), m, n), a.dtype),
        lambda b, i, j: (b, i, j),
        lanes_of(a.dtype, n),
    )


def _operand(
    name: str,
    dtype: str,
    extents: tuple[int, int, int],
    turned: bool,
    batch: Callable[[Expr], Expr],
) -> Operand:
    """An operand of (batch, outer, summed) extents, stored (batch, summed, outer) where turned."""
    count, outer, sums = extents
    shape = (count, sums, outer) if turned else extents
    return Operand(
        array(name, shape, dtype),
        outer,
        lambda b, i, r: (batch(b), r, i) if turned else (batch(b), i, r),
        "outer" if turned else "sum",
        lanes_of(dtype, shape[-1]),
    )


def _broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    rank = max(len(a), len(b))
    wide = [(1,) * (rank - len(x)) + x for x in (a, b)]
    return tuple([y if x == 1 else x for x, y in zip(*wide, strict=True)])


def _of_batch(own: tuple[int, ...], lead: tuple[int, ...]) -> Callable[[Expr], Expr]:
    """Batch index of the product -> that of an operand with these leading axes."""

    def index(b: Expr) -> Expr:
        if prod(own) == prod(lead):
            return b
        at = const(0)
        axes = decoded(b, lead)[len(lead) - len(own) :]
        for i, extent in zip(axes, own, strict=True):
            at = at * extent + (const(0) if extent == 1 else i)
        return at

    return index
