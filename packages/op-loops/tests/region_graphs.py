"""Random graphs that are regions, for the tests of loops and of kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value

UNARY = (ops.exp, ops.tanh, ops.neg, ops.relu, ops.sigmoid, ops.square, ops.abs)
BINARY = (ops.add, ops.sub, ops.mul, ops.maximum, ops.less)
MOVES: dict[str, Callable[[Value], Value]] = {
    "transpose": lambda x: ops.transpose(x, (1, 0)),
    "reverse": lambda x: ops.reverse(x, (1,)),
    "first": lambda x: x[:, : x.type.dims[1] // 2],
    "last": lambda x: x[:, -(x.type.dims[1] // 2) :],
    "every second": lambda x: x[::2, 1::2],
    "pad": lambda x: ops.pad(x, ((0, 1), (2, 0)), 3),
    "put back": lambda x: ops.SliceGradient((None, 1), (None, None), (1, 2))(
        x, Input(TensorType("f32", (x.type.dims[0], 2 * x.type.dims[1] + 1)))
    ),
    "twice": lambda x: ops.concat([x, x], 1),
    "tile": lambda x: ops.tile(x, (2, 3)),
    "rows": lambda x: ops.mean(x, 1, keepdims=True),
    "columns": lambda x: ops.max(x, 0, keepdims=True),
}


@st.composite
def graphs_that_reduce(draw: st.DrawFn) -> Graph:
    """Elementwise ops, broadcasts and reductions over a matrix, its rows and its columns."""
    rows, columns = draw(st.sampled_from([(3, 5), (1, 17), (4, 1), (7, 33), (2, 64)]))
    shapes = [(rows, columns), (columns,), (rows, 1), ()]
    inputs = [Input(TensorType("f32", s), name=f"x{i}") for i, s in enumerate(shapes)]
    values: list[Value] = list(inputs)
    for _ in range(draw(st.integers(1, 9))):
        kind = draw(st.sampled_from(["unary", "binary", "reduce", "select"]))
        x = draw(st.sampled_from(values))
        if kind == "unary":
            values.append(draw(st.sampled_from(UNARY))(x))
        elif kind == "reduce" and x.type.rank == 2:
            axes = draw(st.sampled_from([(0,), (1,), (0, 1)]))
            reduce = draw(st.sampled_from([ops.sum, ops.max, ops.mean]))
            values.append(reduce(x, axes, keepdims=True))
        else:
            y = draw(st.sampled_from(values))
            made = draw(st.sampled_from(BINARY))(x, y)
            values.append(ops.select(made, x, y) if made.type.dtype == "bool" else made)
    made_values = values[len(inputs) :]
    count = draw(st.integers(1, min(3, len(made_values))))
    return Graph.of(inputs, made_values[-count:])


@st.composite
def graphs_that_move(draw: st.DrawFn) -> Graph:
    """Elementwise ops and movements of matrices, joined where their shapes agree."""
    rows, columns = draw(st.sampled_from([(3, 8), (4, 4), (2, 34), (6, 1)]))
    shapes = [(rows, columns), (rows, 2 * columns), (columns, rows), (columns,), (rows, columns)]
    inputs = [Input(TensorType("f32", s), name=f"x{i}") for i, s in enumerate(shapes)]
    values: list[Value] = list(inputs)
    for _ in range(draw(st.integers(1, 8))):
        x = draw(st.sampled_from([*values, *values[-2:]]))
        kind = draw(st.sampled_from(["unary", "binary", "concat", *MOVES]))
        if kind == "unary":
            values.append(draw(st.sampled_from(UNARY[:4]))(x))
        elif kind == "binary":
            same = [y for y in values if y.type == x.type]
            values.append(draw(st.sampled_from([ops.add, ops.mul]))(x, same[-1]))
        elif x.type.rank == 2 and kind == "concat":
            some = [y for y in values if y.type.rank == 2 and y.type.dims[0] == x.type.dims[0]]
            values.append(ops.concat([x, *some[-2:]], 1))
        elif x.type.rank == 2 and x.type.size < 500:
            y = MOVES[kind](x)
            values += [y] if y.type.size else []
    made = values[len(inputs) :]
    likes = {v for y in made if y.node for v in y.node.inputs if isinstance(v, Input)}
    unnamed = [v for v in likes if v not in inputs]
    return Graph.of([*inputs, *unnamed], made[-draw(st.integers(1, 3)) :])


def input_of(*dims: int) -> Input:
    """An input of f32."""
    return Input(TensorType("f32", dims))


def arrays_of(graph: Graph) -> list[Any]:
    """An array of f32, always the same, for each input."""
    random = np.random.default_rng(0)
    return [random.uniform(-1, 1, v.type.dims).astype(np.float32) for v in graph.inputs]
