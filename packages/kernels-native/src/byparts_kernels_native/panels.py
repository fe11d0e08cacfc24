"""A matrix that several products read is copied into panels once, and they read the copy.

    a1 @ w, a2 @ w, ...     p = pack_panels(w);  panel_matmul(a1, p), panel_matmul(a2, p), ...

An unrolled recurrence multiplies by one weight in each of its steps; with few rows, the copy that
each product would make for itself costs as much as half of its multiplications.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, Optional

import numpy as np

from byparts_graph_ir import (
    FLOATS,
    Graph,
    Kernel,
    Node,
    Op,
    Refused,
    Sample,
    ShapeError,
    TensorType,
    Types,
    Value,
    dimension,
    inherit,
)
from byparts_graph_ir.backend.kernel import Run
from byparts_kernels_native import code
from byparts_kernels_native.products import own_packing, own_product
from byparts_kernels_native.tilings import (
    Matrices,
    Tiling,
    are_matrices_of_floats,
    tiling_of,
    width_of,
)
from byparts_opset.add_matmul import AddMatmul
from byparts_opset.broadcast import meet_dims, meet_types
from byparts_opset.dtypes import Array, require
from byparts_opset.matmul import MatMul
from byparts_tensor_ir.target import target

_FEWEST = 3  # products that make a copy worth its memory
_MOST_ROWS = 512  # beyond, the copy of each product is a small part of its time


class PackPanels(Op):
    """y[p, r, l] = x[r, p * width + l], and 0 beyond the last column; x: [k, n].

    With `transpose`, x: [n, k], and its columns are the rows above.
    """

    width: int
    transpose: bool = False

    def infer(self, x: TensorType) -> Types:
        require(self.name, x, FLOATS)
        if x.rank != 2 or self.width < 1:
            raise ShapeError(f"{self.name}: x is {x}, width {self.width}; expected a matrix and 1")
        k, n = (x.shape or ())[:: -1 if self.transpose else 1]
        panels = dimension("(n+width-1)//width", {"n": n, "width": self.width})
        return (TensorType(x.dtype, (panels, k, self.width)),)

    def evaluate(self, x: Array) -> tuple[Array, ...]:
        x = x.T if self.transpose else x
        k, n = x.shape
        panels = -(-n // self.width)
        padded = np.zeros((k, panels * self.width), x.dtype)
        padded[:, :n] = x
        return (np.ascontiguousarray(padded.reshape(k, panels, self.width).swapaxes(0, 1)),)

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        for shape in ((3, 20), (1, 16), (4, 1)):
            yield Sample(cls(16), (TensorType("f32", shape),))
            yield Sample(cls(16, True), (TensorType("f32", shape),))


class PanelMatmul(Op):
    """y = a @ b, or c + scale * a @ b for inputs (c, a, p); p are the panels of b.

    a: [m, k], or [k, m] with `transpose_a`; p: [panels, k, width]; y: [m, columns].
    """

    columns: int
    transpose_a: bool = False
    scale: float = 1.0

    pattern = "contraction"

    def infer(self, *types: TensorType) -> Types:
        *c, a, p = types
        require(self.name, a, FLOATS)
        if a.rank != 2 or p.rank != 3 or a.dtype != p.dtype:
            raise ShapeError(f"{self.name}: expected a matrix and panels of one dtype: {a}, {p}")
        m, k = (a.shape or ())[:: -1 if self.transpose_a else 1]
        panels, depth, width = p.shape or ()
        meet_dims(self.name, k, depth, f"{a} and {p} have different depths")
        if (
            isinstance(panels, int)
            and isinstance(width, int)
            and panels != -(-self.columns // width)
        ):
            raise ShapeError(f"{self.name}: {self.columns} columns are not those of the panels {p}")
        y = TensorType(a.dtype, (m, self.columns))
        return (meet_types(self.name, c[0], y) if c else y,)

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        *c, a, p = arrays
        b = p.swapaxes(0, 1).reshape(p.shape[1], -1)[:, : self.columns]
        product = MatMul(self.transpose_a).evaluate(a, b)[0]
        return (c[0] + np.asarray(self.scale, a.dtype) * product if c else product,)

    def flops(self, *types: TensorType) -> int:
        return 2 * types[-2].size * self.columns

    @classmethod
    def samples(cls) -> Iterator[Sample]:
        a, p, c = (TensorType("f32", s) for s in ((5, 3), (2, 3, 16), (5, 20)))
        yield Sample(cls(20), (a, p))
        yield Sample(cls(20, False, -0.5), (c, a, p))
        yield Sample(cls(20, True), (TensorType("f32", (3, 5)), p))


OPS: dict[str, type[Op]] = {op.name: op for op in (PackPanels, PanelMatmul)}


# -- the pass -------------------------------------------------------------------------------------


def share_panels(graph: Graph) -> Graph:
    """The same program, in which matrices that several products read are copied into panels once.

    Needs static types; preserves values, effects and order.  O(nodes).
    """
    widths = _panel_widths(graph)
    new: dict[Value, Value] = {v: v for v in graph.inputs}
    panels: dict[tuple[Value, bool], Value] = {}
    for old in graph.nodes:
        inputs = tuple([new[v] for v in old.inputs])
        key = _panels_of(old)
        with inherit(old.where):
            if key is not None and key in widths:
                if key not in panels:
                    panels[key] = PackPanels(widths[key], key[1])(inputs[-1])
                op: Any = old.op
                columns, scale = old.outputs[0].type.dims[1], getattr(op, "scale", 1.0)
                product = PanelMatmul(columns, op.transpose_a, scale)(*inputs[:-1], panels[key])
                new[old.outputs[0]] = product
                continue
        node = old if inputs == old.inputs else Node(old.op, inputs, old.where)
        new.update(zip(old.outputs, node.outputs, strict=True))
    return Graph.of(graph.inputs, [new[v] for v in graph.outputs], order=new.values())


def _panel_widths(graph: Graph) -> dict[tuple[Value, bool], int]:
    """Matrices that several products read, and whether transposed -> columns of their panels."""
    readers: dict[tuple[Value, bool], list[Node]] = defaultdict(list)
    for node in graph.nodes:
        key = _panels_of(node)
        if key is not None:
            readers[key].append(node)
    widths = {}
    for key, nodes in readers.items():
        if len(nodes) < _FEWEST:
            continue
        p = max([_matrices(n.op, [v.type for v in n.inputs]) for n in nodes], key=lambda p: p.m)
        t = tiling_of(p, target().vector_bytes, True)
        if t.packed and not t.swapped:
            widths[key] = width_of(p, t, target().vector_bytes)
    return widths


def _panels_of(node: Node) -> Optional[tuple[Value, bool]]:
    """The b of a product of matrices of floats with few rows of a, and whether it is transposed."""
    op: Any = node.op
    if type(op) not in (MatMul, AddMatmul):
        return None
    *c, a, b = [v.type for v in node.inputs]
    (y,) = [v.type for v in node.outputs]
    if are_matrices_of_floats(a, b) and y.dims[0] <= _MOST_ROWS and all(t == y for t in c):
        return node.inputs[-1], bool(op.transpose_b)
    return None


def _matrices(op: Any, types: Sequence[TensorType]) -> Matrices:
    """The product that a `MatMul`, an `AddMatmul` or a `PanelMatmul` computes."""
    *c, a, b = types
    m, k = a.dims[:: -1 if op.transpose_a else 1]
    added = float(op.scale) if c else None
    n = op.columns if isinstance(op, PanelMatmul) else b.dims[-2 if op.transpose_b else -1]
    return Matrices(m, n, k, a.dtype, op.transpose_a, False, added)


# -- kernels --------------------------------------------------------------------------------------


def _tiling(p: Matrices, width: int) -> Tiling:
    """The best tiling that reads panels of this width.

    Raises:
        Refused: of no elements.
    """
    if not p.m * p.n * p.k:
        raise Refused(f"panels for {p}: not of no elements")
    return tiling_of(p, target().vector_bytes, True, width)


def multiply(op: PanelMatmul, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The kernel of a product that reads panels."""
    p, width, added = _matrices(op, types), types[-1].dims[2], len(types) == 3
    product = own_product(p, _tiling(p, width), True)

    def bind(inputs: Sequence[int], outputs: Sequence[int], workspace: Any, _: Any) -> Run:
        c, a, b = inputs if added else (0, *inputs)
        return code.call(product.name, [a, b, c, outputs[0], workspace or 0])

    inplace = ((0, 0),) if added else ()
    return Kernel(bind, product.workspace_bytes, 0, inplace, True, product.source)


def pack(op: PackPanels, types: Sequence[TensorType], constants: frozenset[int]) -> Kernel:
    """The kernel that copies a matrix into panels."""
    (x,) = types
    k, n = x.dims[:: -1 if op.transpose else 1]
    p = Matrices(1, n, k, x.dtype, False, op.transpose)
    return own_packing(p, _tiling(p, op.width)).kernel()
