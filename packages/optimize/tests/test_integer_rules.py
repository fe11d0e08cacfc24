"""Rules on integers that wrap: chains of two and three ops give the same bits, in every dtype."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import byparts_opset as ops
from byparts_graph_ir import Graph, Input, TensorType, Value
from byparts_opset.dtypes import numpy_dtype
from byparts_opset.evaluate import evaluate
from byparts_optimize import optimize

STEPS: dict[str, Callable[[Value, Value], Value]] = {
    "-x": lambda x, y: -x,
    "|x|": lambda x, y: abs(x),
    "x^2": lambda x, y: ops.square(x),
    "sign x": lambda x, y: ops.sign(x),
    "x + y": lambda x, y: x + y,
    "y - x": lambda x, y: y - x,
    "x * y": lambda x, y: x * y,
    "x + 1": lambda x, y: x + 1,
    "x * 3": lambda x, y: x * 3,
    "x * 2": lambda x, y: x * 2,
    "max(x, y)": ops.maximum,
    "min(x, 1)": lambda x, y: ops.minimum(x, 1),
    "x // 2": lambda x, y: x // 2,
    "x % 3": lambda x, y: x % 3,
    "x < y ? x : y": lambda x, y: ops.select(x < y, x, y),
}


@pytest.mark.parametrize("dtype", ["i8", "i16", "i32", "i64", "u8"])
def test_chains_of_integer_ops_keep_their_bits(dtype: str) -> None:
    """Zero, one, the ends of the dtype and what is next to them, against each other."""
    limits = np.iinfo(numpy_dtype(dtype))
    edges = sorted({0, 1, 2, 3, limits.min, limits.min + 1, limits.max - 1, limits.max})
    a, b = (m.reshape(-1).astype(numpy_dtype(dtype)) for m in np.meshgrid(edges, edges[::-1]))
    x, y = (Input(TensorType(dtype, a.shape), None, name) for name in "xy")
    chains = [names for n in (2, 3) for names in product(STEPS, repeat=n)]
    outputs = []
    for names in chains:
        value: Value = x
        for name in names:
            value = STEPS[name](value, y)
        outputs.append(value)
    graph = Graph.of([x, y], outputs)

    wants, gots = evaluate(graph, a, b), evaluate(optimize(graph), a, b)
    wrong = [
        c for c, want, got in zip(chains, wants, gots, strict=True) if not np.array_equal(want, got)
    ]

    assert not wrong
